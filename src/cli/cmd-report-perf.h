/* SPDX-License-Identifier: Apache-2.0 */
/* Options of perf report that change nothing in ringtail's, or that it refuses. Main thread. */
#ifndef RINGTAIL_CLI_CMD_REPORT_PERF_H
#define RINGTAIL_CLI_CMD_REPORT_PERF_H

#include <argp.h>

#include <stdbool.h>

struct trace;

extern const struct argp report_perf_argp; /* an argp child; its input is a struct report_args */

/* Writes the counts of threads (-T), @raw: a line for each (--pretty raw); or that there are none.
 * Returns 0 or a negative errno. */
int report_threads(struct trace *t, bool raw);

#endif
