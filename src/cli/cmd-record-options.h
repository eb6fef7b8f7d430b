/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `ringtail record`. */
#ifndef RINGTAIL_CLI_CMD_RECORD_OPTIONS_H
#define RINGTAIL_CLI_CMD_RECORD_OPTIONS_H

#include "record/plan/options.h"

struct record_command {
	struct record_opts opts;
	bool verbose, quiet;
	bool fail_on_loss;
	bool propagate_status;	/* exit as the command did */
	bool whole_by_default;	/* neither a target nor a command was given */
	const char *ring_asked; /* of -m, if its size is not what is taken; else NULL */
};

/*
 * Parses the command line; prints help or what is wrong with it and exits, the latter with 2.
 * Strings of @ret are those of @argv.
 */
void record_options_parse(int argc, char **argv, struct record_command *ret);
void record_options_release(struct record_command *cmd);

#endif
