/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs what `ringtail stat` counts: the command, so many times, or a time of the system.
 *
 * Main thread only: it waits for signals, for timers and for the end of the command.
 */
#ifndef RINGTAIL_CLI_STAT_RUN_H
#define RINGTAIL_CLI_STAT_RUN_H

#include <signal.h>

#include "cli/stat/stat-options.h"
#include "count/table.h"

struct stat_run {
	struct stat_command *cmd;
	struct counters *counters;
	struct count_table table; /* of all runs; with -I of the interval */
	int stop;		  /* signalfd: SIGINT, SIGTERM, SIGHUP */
	sigset_t mask_before;
	bool stopped;	     /* by a signal or a limit: no further run */
	uint64_t deadline;   /* of all runs (--timeout), as now_ms(); 0: none */
	unsigned int runs;   /* completed */
	int status;	     /* of the command, as a shell has it */
	double user, system; /* s of CPU, of the last run */
	uint64_t intervals;
	/* Prints the table of an interval that ended @time seconds after the start. */
	void (*print_interval)(struct stat_run *run, double time);
	void *arg; /* the caller's */
};

/* Prepares the process: blocks the signals that end it. Returns 0 or a negative errno, @err filled.
 */
int stat_run_init(struct stat_run *run, struct stat_command *cmd, struct error *err);
void stat_run_release(struct stat_run *run);

/*
 * Counts once: until the command ends, or the tasks do, or a signal or a limit comes. Adds to the
 * table. Returns 0, or a negative errno with @err filled.
 */
int stat_run_once(struct stat_run *run, struct error *err);

#endif
