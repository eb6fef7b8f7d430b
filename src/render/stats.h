/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of records and samples, in the words of perf report --stats. */
#ifndef RINGTAIL_RENDER_STATS_H
#define RINGTAIL_RENDER_STATS_H

#include <stdio.h>

#include "report/trace/trace.h"

/* Prints the number of records by type and of samples by event, as perf report --stats does. */
void stats_render(FILE *out, const struct trace *t);

#endif
