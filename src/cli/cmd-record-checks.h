/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses options of `ringtail record` that exclude or need one another. */
#ifndef RINGTAIL_CLI_CMD_RECORD_CHECKS_H
#define RINGTAIL_CLI_CMD_RECORD_CHECKS_H

#include <argp.h>

#include "record/plan/options.h"

/* All options are there. Prints what is wrong and exits with 2. */
void record_options_check(struct argp_state *state, const struct record_opts *opts);

/* Where names in events come from: this machine and the symbols of its programs. */
extern const struct event_env record_events_here;

#endif
