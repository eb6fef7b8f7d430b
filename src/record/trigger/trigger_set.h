/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All --trigger of a recording: events, latencies, pressure, load and time.
 *
 * Each requests snapshots of memory (-M). The main thread polls them beside its other sources, and
 * takes their requests. After any of them has fired, all rest for TRIGGERS_REST_NS: an event that
 * happens 10,000 times a second then costs no more CPU time than one that happens 100 times.
 *
 * The main thread's. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_TRIGGER_SET_H
#define RINGTAIL_RECORD_TRIGGER_TRIGGER_SET_H

#include "record/trigger/request.h"
#include "record/trigger/event_watch.h"
#include "record/plan/trigger_spec.h"

#define TRIGGERS_REST_NS 10000000ull

struct trigger_set;

/*
 * Opens the triggers of @specs, without starting them. @specs and the contents of @place must
 * outlive it. Returns 0 with *@ret to be given to trigger_set_free(), NULL if @specs are none, or a
 * negative errno with @err filled.
 */
int trigger_set_new(const struct trigger_specs *specs, const struct trigger_place *place,
		    struct trigger_set **ret, struct error *err);

/* All functions accept NULL: there are none. */
void trigger_set_free(struct trigger_set *t);

/* Starts to watch. Returns 0 or a negative errno with @err filled. */
int trigger_set_start(struct trigger_set *t, uint64_t now, struct error *err);

/* Calls event_watch_revive() for all, also after a failure. Returns the first error, or 0. */
int trigger_set_revive(struct trigger_set *t, int cpu);

/* Returns the number of descriptors to poll at most; trigger_set_watch() fills as many entries. */
size_t trigger_set_descriptors(const struct trigger_set *t);
void trigger_set_watch(const struct trigger_set *t, struct pollfd *ret);

/* Returns how many of them to poll now: all, or none while they rest. */
size_t trigger_set_polled(const struct trigger_set *t, uint64_t now);

/*
 * Returns the latest time for the next trigger_set_look(); TRIGGER_NEVER: only when poll(2)
 * reports.
 */
uint64_t trigger_set_due(const struct trigger_set *t, uint64_t now);

/* Checks all triggers; trigger_set_take() then returns the requests that are due. */
void trigger_set_look(struct trigger_set *t, struct pollfd *polled, uint64_t now);

/* The same for the last time: requests that would be due later are due now. */
void trigger_set_finish(struct trigger_set *t, struct pollfd *polled, uint64_t now);

/*
 * Takes a request that is due. Returns NULL if there is none; else it is valid until the next look.
 * trigger_set_refused(): the request taken last does not count, because no snapshot will be made.
 */
const struct snapshot_request *trigger_set_take(struct trigger_set *t);
void trigger_set_refused(struct trigger_set *t);

struct trigger_set_figures {
	uint64_t fired;	  /* times that it has happened */
	uint64_t asked;	  /* snapshots */
	uint64_t limited; /* times that asked for none */
	uint64_t lost;
	uint64_t forgotten; /* starts of latencies */
};

/* Of all together. */
void trigger_set_figures(const struct trigger_set *t, struct trigger_set_figures *ret);

/* Of one of them; returns what it is, as it was given. */
size_t trigger_set_nr(const struct trigger_set *t);
const char *trigger_set_figures_of(const struct trigger_set *t, size_t index,
				   struct trigger_set_figures *ret);

/* A line for each. */
void trigger_set_say(const struct trigger_set *t, const struct messages *messages);

#endif
