/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effects of commands (record/control/control.h) on a recording.
 *
 * The main thread's. An all-zero struct is empty.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_CONTROL_H
#define RINGTAIL_RECORD_SESSION_SESSION_CONTROL_H

#include "record/control/control.h"
#include "record/open/hotplug.h"
#include "record/session/rotation.h"
#include "record/session/session_budget.h"
#include "record/trigger/trigger_set.h"

/* The parts of a recording that commands are about; all outlive the struct session_control. */
struct session_parts {
	const struct plan *plan;
	const struct opened *opened;
	const struct output *output;
	const struct rotation *rotation;
	struct flight *flight; /* NULL without -M */
	const struct session_budget *budget;
	/* As of struct control_ops; with opts->output.rotation.enabled, and with flight. */
	int (*rotate)(void *arg, const struct snapshot_request *request, struct buf *text,
		      struct error *err);
	int (*snapshot)(void *arg, const struct snapshot_request *request, struct error *err);
	void *arg;
	const struct trigger_set *triggers; /* NULL: none */
	const struct hotplug *hotplug;
	size_t threads;
};

struct session_control {
	const struct record_opts *opts;
	const struct messages *messages;
	struct control *control; /* NULL: nobody commands */
	struct session_parts parts;
	bool *running;			  /* by event of the plan, as asked last */
	struct control_trigger *triggers; /* the figures printed last */
	uint64_t began;			  /* ns of CLOCK_MONOTONIC */
	bool stop;			  /* was asked for */
};

/*
 * Takes the descriptors of opts->control.spec; to be called before others are opened, that could be
 * taken for them. Returns 0 or a negative errno with @err filled; session_control_release() is due
 * in both cases.
 */
int session_control_init(struct session_control *sc, const struct record_opts *opts,
			 const struct messages *messages, struct error *err);

/*
 * The recording begins now. Makes the socket (that there can be none is a note). Returns 0 or
 * -ENOMEM with @err filled.
 */
int session_control_start(struct session_control *sc, const struct session_parts *parts,
			  struct error *err);

/* All events were enabled, other than by a command. */
void session_control_enabled(struct session_control *sc);

/* What there is, into an all-zero @ret; also where nobody commands. After session_control_start().
 */
void session_control_figures(struct session_control *sc, struct control_figures *ret);

/* Readable when session_control_dispatch() has something to do; -1: never. */
int session_control_fd(const struct session_control *sc);
void session_control_dispatch(struct session_control *sc);

/* As control_answer(). */
void session_control_answer(struct session_control *sc, uint64_t ticket, struct buf *text,
			    const struct error *err);

/*
 * Closes the control channels; commands that run get no answer. Says how many answers were not
 * read.
 */
void session_control_release(struct session_control *sc);

#endif
