/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of records and samples as text, in the words of perf report --stats. One thread. */
#ifndef RINGTAIL_RENDER_STATS_H
#define RINGTAIL_RENDER_STATS_H

#include <stdio.h>

#include "report/trace/trace.h"

/* Writes the counts of pass 1. */
void stats_render(FILE *out, const struct trace *t);

#endif
