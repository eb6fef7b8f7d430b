/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches for rotations by events (--switch-output-event) and for triggers (--trigger).
 *
 * It does not record the events that it watches.
 *
 * The main thread's. An all-zero struct watches nothing.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_TRIGGERS_H
#define RINGTAIL_RECORD_SESSION_SESSION_TRIGGERS_H

#include "record/trigger/trigger_set.h"

struct session_triggers {
	struct event_watch *rotations; /* NULL: no event rotates */
	struct trigger_set *asks;      /* NULL: nothing asks */
	struct pollfd *polled;	       /* of both; others come before them */
};

/*
 * Opens the events and triggers of @opts. Returns 0 or a negative errno with @err filled; call
 * session_triggers_release() in both cases.
 */
int session_triggers_open(struct session_triggers *st, const struct trigger_opts *opts,
			  const struct trigger_place *place, struct error *err);
void session_triggers_release(struct session_triggers *st);

/* Starts to watch. Returns 0 or a negative errno with @err filled. */
int session_triggers_start(struct session_triggers *st, struct error *err);

/*
 * Opens all events of @cpu again, which the kernel has removed. Returns as revive_cpu(); of several
 * errors the first.
 */
int session_triggers_revive(struct session_triggers *st, int cpu);

/* Return the number of descriptors, and fill their entries, which must stand behind all others. */
size_t session_triggers_descriptors(const struct session_triggers *st);
void session_triggers_watch(struct session_triggers *st, struct pollfd *polled);

/*
 * As poll(2), for the first @others entries and those behind them. Returns at once without @wait,
 * and when a trigger is due.
 */
int session_triggers_poll(const struct session_triggers *st, struct pollfd *all, size_t others,
			  bool wait);

/* Checks all: fills @news with the events that rotate, and @asks with requests. */
void session_triggers_take_rotations(struct session_triggers *st, struct event_watch_news *news);

/* For the last time: as trigger_set_finish(). */
void session_triggers_finish(struct session_triggers *st);

#endif
