/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses options of `ringtail record` that exclude or need each other. */
#ifndef RINGTAIL_CLI_CMD_RECORD_CHECKS_H
#define RINGTAIL_CLI_CMD_RECORD_CHECKS_H

#include <argp.h>

#include "record/plan/options.h"

/* Checks the options after all of them were parsed. Prints an error and exits with 2. */
void record_options_check(struct argp_state *state, const struct record_opts *opts);

/* Sources of names in events: this machine and the symbols of its programs. */
extern const struct event_env record_events_here;

#endif
