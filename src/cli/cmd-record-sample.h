/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the options of `ringtail record` for what a sample carries: call chains, branches,
 * registers, its clock, waits and hardware trace. A wrong value ends the process with a message.
 */
#ifndef RINGTAIL_CLI_CMD_RECORD_SAMPLE_H
#define RINGTAIL_CLI_CMD_RECORD_SAMPLE_H

#include <argp.h>

#include "cli/cmd-record-options.h"

/* Each takes the argument of its option; NULL: it has none. */
void record_set_call_graph(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_off_cpu(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_clock(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_snapshot(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_snapshot_scope(struct argp_state *state, struct record_command *cmd,
			       const char *arg);
void record_set_aux_sample(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_branches(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_user_regs(struct argp_state *state, struct record_command *cmd, const char *arg);
void record_set_intr_regs(struct argp_state *state, struct record_command *cmd, const char *arg);

#endif
