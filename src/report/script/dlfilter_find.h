/* SPDX-License-Identifier: Apache-2.0 */
/* Where filters of dlfilter.h are: perf's rules. Any thread may call. */
#ifndef RINGTAIL_REPORT_SCRIPT_DLFILTER_FIND_H
#define RINGTAIL_REPORT_SCRIPT_DLFILTER_FIND_H

#include <limits.h>

/* Returns what to load for @path: @buf, or @path itself if the loader shall search. */
const char *dlfilter_find(const char *path, char buf[PATH_MAX]);

/* As dlopen(). NULL without dlerror(): a static program loads nothing. */
void *dlfilter_open(const char *path);

#endif
