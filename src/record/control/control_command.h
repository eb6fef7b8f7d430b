/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of --control and `ringtail ctl`: commands, the option's argument, answers.
 *
 * Pure. Source of perf's words: perf-record(1), --control, and tools/perf/util/evlist.c (6.1).
 */
#ifndef RINGTAIL_RECORD_CONTROL_CONTROL_COMMAND_H
#define RINGTAIL_RECORD_CONTROL_CONTROL_COMMAND_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "record/trigger/request.h"

enum control_verb {
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_ROTATE,
	CONTROL_STOP,
	CONTROL_PING,
	CONTROL_EVLIST,
	CONTROL_STATS,
	CONTROL_HELP,
};

enum control_list {
	CONTROL_LIST_NAMES,
	CONTROL_LIST_FIELDS, /* -v */
	CONTROL_LIST_GROUPS, /* -g */
	CONTROL_LIST_FREQ,   /* -F */
};

struct control_command {
	enum control_verb verb;
	uint64_t ticket;		  /* for control_answer(); control_next() sets it */
	const char *event;		  /* of enable and disable, in the line; NULL: all */
	enum control_list list;		  /* of evlist */
	bool json;			  /* of stats */
	struct snapshot_request snapshot; /* its reason and bounds */
};

/*
 * Reads one line; changes it, and it must outlive @ret. Returns 0; -ENOMSG without @err for a line
 * of white space, which is no command; or -EINVAL with @err saying what there is.
 */
int control_command_parse(char *line, struct control_command *ret, struct error *err);

/* A line for each command. Returns 0 or -ENOMEM. */
int control_command_help(struct buf *out);

/* The argument of --control: descriptors, or the paths of FIFOs. */
struct control_spec {
	bool fifo;
	int fd, ack_fd;				 /* ack_fd -1: none */
	char path[PATH_MAX], ack_path[PATH_MAX]; /* ack_path "": none */
};

/* "fd:CONTROL[,ACK]" or "fifo:CONTROL[,ACK]". Returns 0 or -EINVAL with @err filled. */
int control_spec_parse(const char *arg, struct control_spec *ret, struct error *err);

/* Figures of one trigger: times that it happened, snapshots it asked for, times it did not. */
struct control_trigger {
	const char *text;
	uint64_t times, snapshots, limited, forgotten;
};

/* The figures that `stats` prints. */
struct control_figures {
	uint64_t samples, lost;
	uint64_t bytes; /* of the output */
	double seconds; /* since the start */
	uint64_t rings, threads;
	uint64_t events, enabled; /* the dummy for sideband not among them */
	uint64_t missed_cpus;	  /* that were online without being recorded */
	uint64_t throttled;	  /* times that the kernel stopped an event for a moment */
	double throttled_seconds; /* of all these together */
	bool memory;		  /* -M, and the next four are printed */
	uint64_t held_bytes, held_samples;
	uint64_t held_memory; /* bytes that these take */
	double held_seconds;
	bool budget;		     /* --max-cpu, and the next two are printed */
	double cpu, share;	     /* part of one CPU; of the frequencies that were asked for */
	size_t nr_triggers;	     /* not 0: the next four are printed */
	uint64_t triggered, limited; /* times; those of them that asked for no snapshot */
	uint64_t forgotten;	     /* starts of latencies */
	const struct control_trigger *triggers; /* the caller's, until it is printed */
	uint64_t unread;			/* answers that nobody took; control fills it */
};

/*
 * A line of "name=value", and one for each trigger; or a JSON object. Returns 0 or -ENOMEM.
 */
int control_figures_print(const struct control_figures *f, bool json, struct buf *out);

/*
 * Appends how an answer ends: "ack\n" (@code 0) or "error: REASON\n", and a NUL as perf sends it.
 * Bytes of @reason that would steer a terminal become '?'. Returns 0 or -ENOMEM.
 */
int control_answer_end(int rc, const char *reason, struct buf *out);

#endif
