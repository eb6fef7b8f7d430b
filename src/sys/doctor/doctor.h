/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine allows to record, why not more, and the commands that mend it.
 *
 * Reads files below a root directory, so that tests pass a recorded tree. A report owns no memory
 * besides itself. No state; any thread.
 */
#ifndef RINGTAIL_SYS_DOCTOR_DOCTOR_H
#define RINGTAIL_SYS_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_state {
	DOCTOR_FINE,
	DOCTOR_LIMITED,	   /* recording works, with a cost */
	DOCTOR_IMPOSSIBLE, /* nothing can be recorded */
};

struct doctor_line {
	const char *about; /* a word: "perf_event_paranoid" */
	enum doctor_state state;
	char found[160]; /* what was found */
	char cost[224];	 /* what it costs; may be empty */
	char mend[288];	 /* a command or setting that mends it; may be empty */
};

#define DOCTOR_LINES 32

struct doctor_report {
	struct doctor_line line[DOCTOR_LINES];
	size_t nr;
};

/* What the caller has tried or knows itself. */
struct doctor_facts {
	const char *root; /* "": the machine itself */
	int opened; /* of perf_event_open() for cpu-clock of the own user space: 0 or -errno */
	unsigned int cpus;
	const char *program;	     /* path of ringtail, for setcap */
	const char *debuginfod_urls; /* NULL: not set */
};

/* Examines the machine. */
void doctor_examine(const struct doctor_facts *facts, struct doctor_report *ret);

/* Returns whether a line of @r says that nothing can be recorded. */
bool doctor_impossible(const struct doctor_report *r);

/* Returns a word for @state, for other programs. */
const char *doctor_state_word(enum doctor_state state);

#endif
