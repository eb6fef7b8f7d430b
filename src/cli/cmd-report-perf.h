/* SPDX-License-Identifier: Apache-2.0 */
/* Options of perf report that change nothing in ringtail's, or that it refuses. Main thread. */
#ifndef RINGTAIL_CLI_CMD_REPORT_PERF_H
#define RINGTAIL_CLI_CMD_REPORT_PERF_H

#include <argp.h>

extern const struct argp report_perf_argp; /* an argp child without input */

#endif
