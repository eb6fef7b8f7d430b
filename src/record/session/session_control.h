/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effects of commands (record/control/control.h) on a recording.
 *
 * The main thread's. An all-zero struct is empty.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_CONTROL_H
#define RINGTAIL_RECORD_SESSION_SESSION_CONTROL_H

#include "record/control/control.h"
#include "record/aux/area.h"
#include "record/open/hotplug.h"
#include "record/session/rotation.h"
#include "record/session/session_budget.h"
#include "record/trigger/trigger_set.h"

/* The parts of a recording that commands use; all outlive the struct session_control. */
struct session_parts {
	const struct plan *plan;
	const struct opened *opened;
	const struct output *output;
	const struct rotation *rotation;
	struct flight *flight; /* NULL without -M */
	const struct session_budget *budget;
	const struct trigger_set *triggers; /* NULL: none */
	const struct hotplug *hotplug;
	struct aux_areas *aux; /* follow each event that a command switches */
	struct clock *clock;   /* of the recording */
	size_t threads;
};

struct session_control {
	const struct record_opts *opts;
	const struct messages *messages;
	struct control *control; /* NULL: no control channel */
	struct session_parts parts;
	bool *running;			  /* by event of the plan: as the last command set it */
	struct control_trigger *triggers; /* the figures printed last */
	uint64_t began;			  /* ns of CLOCK_MONOTONIC */
	bool stop;			  /* a command to stop was received */
};

/*
 * Takes over the descriptors of opts->control.spec. Call it before other descriptors are opened,
 * which could have their numbers. Returns 0 or a negative errno with @err filled. Call
 * session_control_release() in both cases.
 */
int session_control_init(struct session_control *sc, const struct record_opts *opts,
			 const struct messages *messages, struct error *err);

/*
 * At the start of the recording: makes the socket. A missing socket is not fatal, only a message.
 * Returns 0 or -ENOMEM with @err filled.
 */
int session_control_start(struct session_control *sc, const struct session_parts *parts,
			  struct error *err);

/* Call it when all events were enabled without a command. */
void session_control_enabled(struct session_control *sc);

/* Enables or disables all events, as the commands do. Returns 0 or a negative errno. */
int session_control_switch(struct session_control *sc, bool on, struct error *err);

/* After session_control_start(): fills an all-zero @ret, also without a control channel. */
void session_control_figures(struct session_control *sc, struct control_figures *ret);

/* Readable when session_control_read() has something to do; -1: never. */
int session_control_fd(const struct session_control *sc);

/* As the functions of struct control; without a control channel there is no command. */
void session_control_read(struct session_control *sc);
bool session_control_next(struct session_control *sc, struct control_command *ret);
void session_control_answer(struct session_control *sc, uint64_t ticket, struct buf *text,
			    const struct error *err);

/*
 * Runs a command other than CONTROL_SNAPSHOT and CONTROL_ROTATE, and adds the text of its answer.
 * CONTROL_STOP only sets @stop. Returns 0 or a negative errno with @err filled.
 */
int session_control_run(struct session_control *sc, const struct control_command *command,
			struct buf *text, struct error *err);

/*
 * Closes the control channels; unfinished commands get no answer. A message counts the answers that
 * clients did not read.
 */
void session_control_release(struct session_control *sc);

#endif
