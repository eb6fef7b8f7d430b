/* SPDX-License-Identifier: Apache-2.0 */
/* `ringtail report sched` and `ringtail report latency`. */
#ifndef RINGTAIL_CLI_CMD_REPORT_VIEW_H
#define RINGTAIL_CLI_CMD_REPORT_VIEW_H

#include <stdbool.h>

/*
 * If the first argument names a view, runs it. Returns whether it did, with its exit status in
 * *@ret_status. A recording of such a name is ./sched.
 */
bool cmd_report_view(int argc, char **argv, int *ret_status);

/* Return the exit status. */
int cmd_report_sched(int argc, char **argv);
int cmd_report_latency(int argc, char **argv);

#endif
