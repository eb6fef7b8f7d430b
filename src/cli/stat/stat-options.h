/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of `ringtail stat`. The events, CPUs and tasks belong to the struct; strings are
 * borrowed from argv. One thread.
 */
#ifndef RINGTAIL_CLI_STAT_OPTIONS_H
#define RINGTAIL_CLI_STAT_OPTIONS_H

#include "count/rows.h"

/* Where a table goes and its form. */
struct stat_output {
	const char *path; /* NULL: standard error */
	bool append;
	int fd;		       /* --log-fd; -1: not given */
	const char *separator; /* -x; NULL: text */
	bool json;
	bool plain_numbers;
	bool quiet; /* no counts at all */
};

struct stat_command {
	struct event_list events;
	struct count_targets targets;
	const char *const *command; /* NULL-terminated; NULL: none */
	enum count_by by;
	const char *processes, *threads; /* -p, -t, as given; NULL: not given */
	bool all_cpus, cpus_given, all_user, all_kernel, no_events, one_group;
	unsigned int details; /* -d, so many */
	unsigned int repeat;  /* -r; 0: until interrupted */
	uint64_t interval_ms; /* 0: not given */
	uint64_t interval_count;
	bool interval_clear;
	uint64_t timeout_ms; /* 0: none */
	uint64_t delay_ms;
	struct stat_output output;
};

/* Where the events of stat are parsed. */
extern const struct event_env stat_events_here;

/* Whether the tasks that are counted are those of the command. */
bool stat_counts_command(const struct stat_command *cmd);

/* Parses the command line. If it is wrong, prints an error and exits with 2; see also --help. */
void stat_options_parse(int argc, char **argv, struct stat_command *ret);
void stat_options_release(struct stat_command *cmd);

#endif
