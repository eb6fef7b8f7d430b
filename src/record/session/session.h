/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, from its options to the finished file.
 *
 *   NEW       -> PLANNED    [session_plan]    lists the events; forks the command and holds it
 *   PLANNED   -> OPENED     [session_open]    opens events, rings, output; the dummy event runs
 *   OPENED    -> RUNNING    [session_start]   writes the initial state, enables the events
 *   RUNNING  <-> ROTATING   [rotate_output]   finishes the output, begins the next (rotation.h)
 *   RUNNING    = RUNNING    [serve_requests]  with -M: writes a snapshot to the output
 *   RUNNING   -> DRAINING   [session_loop]    ends at a signal, `stop`, or without tasks
 *   DRAINING  -> FINALIZED  [session_finish]  drains the rings, adds losses and features
 *   any       -> FAILED     [session_step]    the file stays as of its last flush
 *
 * session_record() makes all the steps. Its thread handles signals, timers, the command and control
 * commands (record/session/session_control.h). Workers (record/session/crew.h) read the rings, from
 * OPENED -> RUNNING to DRAINING -> FINALIZED.
 *
 * The session changes nothing in its process; struct session_host lists what the host must set up.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_H
#define RINGTAIL_RECORD_SESSION_SESSION_H

#include <signal.h>

#include "record/aux/sums.h"
#include "record/history/history.h"
#include "record/loss/loss.h"
#include "record/plan/messages.h"
#include "record/plan/options.h"
#include "record/open/overwrite_count.h"

struct notify;

enum session_state {
	SESSION_NEW,
	SESSION_PLANNED,
	SESSION_OPENED,
	SESSION_RUNNING,
	SESSION_ROTATING,
	SESSION_DRAINING,
	SESSION_FINALIZED,
	SESSION_FAILED,
};

struct session;

/*
 * What the process that hosts a session gives to it; all of it outlives the session.
 *
 * The thread of session_record() blocks SIGPIPE and SIGXFSZ, or the process ignores them, so that
 * writing fails with an error. With a command, the process does not ignore SIGCHLD.
 */
struct session_host {
	/* Descriptors that do not block, such as a signalfd or an eventfd; -1: none. */
	int stop;    /* readable, or at its end (the host is gone): the recording is to end */
	int request; /* readable: take a snapshot (with -M), or rotate; at its end: never again */

	const struct notify *notify;	  /* the service manager; NULL: none */
	const sigset_t *command_mask;	  /* signals that the command has blocked; NULL: none */
	char *const *command_environment; /* NULL: ours */

	/* Called on the session's thread, with @arg; NULL: not called. */
	void (*starting)(void *arg);	/* the command is forked, and recording begins */
	void (*slow_output)(void *arg); /* it was printed that the output is slow: from now on ^C
					   may end the process before the output is complete */
	void *arg;
};

#define SESSION_HOST_INIT                  \
	{                                  \
		.stop = -1, .request = -1, \
	}

/*
 * Takes the descriptors of opts->control, so that the caller opens its own after this call. @opts
 * and @messages must outlive the session. Returns 0, or a negative errno with @err filled.
 */
int session_new(const struct record_opts *opts, const struct messages *messages,
		struct session **ret, struct error *err);
void session_free(struct session *s); /* accepts NULL; ends a command that was never started */

/* Makes all steps. Returns 0, or a negative errno with @err filled; @err is never NULL. */
int session_record(struct session *s, const struct session_host *host, struct error *err);

/* The state that the session is in. For the thread that runs it. */
enum session_state session_state(const struct session *s);

/* The result; valid until session_free(). */
struct session_result {
	uint64_t samples;
	bool at_least;		      /* it failed, and the file may have more */
	uint64_t bytes;		      /* of all outputs */
	size_t outputs;		      /* finished ones */
	size_t deleted;		      /* of these, for --switch-max-files */
	size_t gone;		      /* deleted by other programs while being written */
	const char *path;	      /* of the last one, complete or not */
	double seconds;		      /* from enabling to the stop */
	const struct loss *loss;      /* complete when FINALIZED or FAILED */
	const struct loss *truncated; /* user stacks of samples (LOSS_STACK) */
	size_t missed_cpus;	      /* that were online for a time without being recorded */
	const struct overwrite_count *overwritten; /* no loss */
	struct aux_sums trace;
	uint64_t trace_written, trace_lost; /* bytes; lost: not written after an error */
	uint64_t lost_records; /* of @loss, of events with a trace: these have no samples */
	size_t snapshots;      /* with -M */
	size_t given_up;       /* snapshots that found no room */
	bool last_given_up;    /* the snapshot at the end is among them */
	bool started;	       /* false: it failed before, and nothing has changed */
	bool misused;	       /* it failed because of wrong options */
	int command_status;    /* as a shell has it; 0 without a command */
	int command_signal;    /* what ended it, or 0 */
	bool command_stopped;  /* by SIGTERM, as recording had ended */
};
void session_result(struct session *s, struct session_result *ret);

/* With -M: fills the figures of the samples taken, and returns true. Without: returns false. */
bool session_memory(const struct session *s, struct history_figures *ret);

/* The name of event @index in messages about loss; "?" if there is none. */
const char *session_event_name(const struct session *s, unsigned int index);

/* Whether event @index, which may be unknown, has samples: one that writes a trace has none. */
bool session_event_samples(const struct session *s, unsigned int index);

/* Bytes of data in each ring. */
uint64_t session_ring_size(const struct session *s);

/* Returns the size of the rings beside AUX areas in bytes, 0 before the plan. */
uint64_t session_beside_size(const struct session *s);

/*
 * Returns the bytes that each ring would have if the user could lock more memory. 0: rings have the
 * wanted size, or no limit that can be raised bounds them.
 */
uint64_t session_ring_wanted(const struct session *s);

#endif
