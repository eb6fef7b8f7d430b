/* SPDX-License-Identifier: Apache-2.0 */
/* The events that `ringtail stat` counts if the user names none: those of perf stat. */
#ifndef RINGTAIL_CLI_STAT_EVENTS_H
#define RINGTAIL_CLI_STAT_EVENTS_H

#include "cli/stat/stat-options.h"

/*
 * Appends the default events, without -e, and those of each -d; then limits all events to the
 * levels that were asked for. Returns 0, or a negative errno with @err filled.
 */
int stat_events_complete(struct stat_command *cmd, struct error *err);

#endif
