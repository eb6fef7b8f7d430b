/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, from its options to the finished file.
 *
 *   NEW       -> PLANNED    [session_plan]    what is to be opened; the command is forked, and held
 *   PLANNED   -> OPENED     [session_open]    events, rings, output file; a dummy event runs
 *   OPENED    -> RUNNING    [session_start]   what was before is written, events are enabled
 *   RUNNING  <-> ROTATING   [cut_output]      the output goes on in the next (record/rotation.h)
 *   RUNNING    = RUNNING    [serve_requests]  with -M: what memory holds, to the output
 *   RUNNING   -> DRAINING   [session_loop]    until a signal, `stop`, or no task is left
 *   DRAINING  -> FINALIZED  [session_finish]  the rest of the rings, losses, features
 *   any       -> FAILED     [session_step]    the file stays as of its last flush
 *
 * session_record() makes all the steps. The caller's thread keeps signals, timers, the command
 * and those who command us (record/session_control.h); rings are read by workers (record/crew.h),
 * from OPENED -> RUNNING to DRAINING -> FINALIZED.
 *
 * The session changes nothing of its process: whoever hosts it does, as struct session_host says.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_H
#define RINGTAIL_RECORD_SESSION_SESSION_H

#include <signal.h>

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
	int stop;    /* readable: the recording is to end */
	int request; /* readable: a snapshot (with -M) or a rotation is asked for */

	const struct notify *notify;	  /* the service manager; NULL: none */
	const sigset_t *command_mask;	  /* signals that the command has blocked; NULL: ours */
	char *const *command_environment; /* NULL: ours */

	/* Called on the session's thread, with @arg; NULL: not called. */
	void (*starting)(void *arg);	/* the command is forked, and recording begins */
	void (*slow_output)(void *arg); /* from now on ^C may end the process before the output is
					   complete */
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
	bool at_least;				   /* it failed, and more may be readable */
	uint64_t bytes;				   /* of all outputs */
	size_t outputs;				   /* that are finished */
	size_t deleted;				   /* of these, since there were too many */
	size_t gone;				   /* others have deleted these before their end */
	const char *path;			   /* of the last one, complete or not */
	double seconds;				   /* from enabling to the stop */
	const struct loss *loss;		   /* complete when FINALIZED or FAILED */
	const struct loss *cut;			   /* user stacks of samples (LOSS_STACK) */
	size_t missed_cpus;			   /* that were online without being recorded */
	const struct overwrite_count *overwritten; /* no loss */
	size_t snapshots;			   /* with -M */
	size_t given_up;			   /* snapshots that found no room */
	bool last_given_up;			   /* the one at the end is among them */
	bool started;				   /* else nothing has changed */
	bool misused;	      /* it failed for an option that cannot be meant */
	int command_status;   /* as a shell has it; 0 without a command */
	int command_signal;   /* what ended it, or 0 */
	bool command_stopped; /* by SIGTERM, as recording had ended */
};
void session_result(struct session *s, struct session_result *ret);

/* With -M: what became of the samples that were taken. False without. */
bool session_memory(const struct session *s, struct history_figures *ret);

/* The name of event @index in messages about loss; "?" if there is none. */
const char *session_event_name(const struct session *s, unsigned int index);

/* Bytes of data in each ring. */
uint64_t session_ring_size(const struct session *s);

/* Bytes that each ring would have if the user might lock more memory; 0 when they have what was
 * wanted, or when what bounds them is no limit that can be raised. */
uint64_t session_ring_wanted(const struct session *s);

#endif
