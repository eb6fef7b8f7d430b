/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `ringtail record`. Main thread. */
#ifndef RINGTAIL_CLI_CMD_RECORD_OPTIONS_H
#define RINGTAIL_CLI_CMD_RECORD_OPTIONS_H

#include "record/plan/options.h"

struct record_command {
	struct record_opts opts;
	bool verbose, quiet;
	bool fail_on_loss;
	bool keep_status; /* do not exit with the command's status */
	bool dry_run, exit_with_parent;
	bool exclude_self;	      /* --exclude-perf */
	bool one_group;		      /* --group */
	bool by_user;		      /* -u */
	bool whole_by_default;	      /* no target and no command was given */
	bool off_cpu, off_cpu_wakers; /* --off-cpu, --off-cpu=wakers */
	const char *each_cgroup;      /* --for-each-cgroup; NULL: not given */
	struct enabled_span *spans;   /* of -D; owned */
	const char *ring_asked;	      /* argument of -m, if the rings get another size; else NULL */
	const char *area_asked;	      /* likewise of AUX areas, behind the comma */
};

/*
 * Parses the command line. Prints help and exits, or prints an error and exits with 2. @ret borrows
 * strings of @argv.
 */
void record_options_parse(int argc, char **argv, struct record_command *ret);
/* Frees the contents of @cmd. */
void record_options_release(struct record_command *cmd);

#endif
