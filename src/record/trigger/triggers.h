/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that --trigger waits for: events, pressure, load and time, each of which asks for a snapshot
 * of what memory holds (-M).
 *
 * The main thread polls them beside whatever else it waits for. After anything was there they rest
 * for TRIGGERS_REST_NS: one that happens ten thousand times a second takes no more of the CPU than
 * one that happens a hundred times.
 *
 * Times are ns of CLOCK_MONOTONIC.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_TRIGGERS_H
#define RINGTAIL_RECORD_TRIGGER_TRIGGERS_H

#include "record/trigger/request.h"
#include "record/trigger/trigger.h"
#include "record/plan/trigger_spec.h"

#define TRIGGERS_REST_NS 10000000ull

struct triggers;

/* Takes a request. Returns 0, or a negative errno when it is refused. */
typedef int (*triggers_fn)(void *arg, const struct snapshot_request *request);

/*
 * Opens what @specs say; nothing is waited for yet. @specs and what is in @place must outlive it.
 * Returns 0 with *@ret to be given to triggers_free(), NULL if @specs are none, or a negative errno
 * with @err filled.
 */
int triggers_new(const struct trigger_specs *specs, const struct trigger_place *place,
		 triggers_fn ask, void *arg, struct triggers **ret, struct error *err);

/* All functions accept NULL: there are none. */
void triggers_free(struct triggers *t);

/* From now on. Returns 0 or a negative errno with @err filled. */
int triggers_start(struct triggers *t, uint64_t now, struct error *err);

/* As trigger_revive(), of all. */
int triggers_revive(struct triggers *t, int cpu);

/* How many descriptors are to be polled at most; triggers_watch() fills as many entries. */
size_t triggers_descriptors(const struct triggers *t);
void triggers_watch(const struct triggers *t, struct pollfd *ret);

/* How many of them now: all, or none while they rest. */
size_t triggers_polled(const struct triggers *t, uint64_t now);

/* When triggers_ask() is to be called at the latest; TRIGGER_NEVER: when poll(2) says so. */
uint64_t triggers_due(const struct triggers *t, uint64_t now);

/* Looks at what has happened, and asks for the snapshots that are due. */
void triggers_ask(struct triggers *t, struct pollfd *polled, uint64_t now);

/* The same for the last time: those that would be due later are asked for, too. */
void triggers_finish(struct triggers *t, struct pollfd *polled, uint64_t now);

struct triggers_figures {
	uint64_t fired;	  /* times that it has happened */
	uint64_t asked;	  /* snapshots */
	uint64_t limited; /* times that asked for none */
	uint64_t lost;
	uint64_t forgotten; /* starts of latencies */
};

/* Of all together. */
void triggers_figures(const struct triggers *t, struct triggers_figures *ret);

/* Of one of them; returns what it is, as it was given. */
size_t triggers_nr(const struct triggers *t);
const char *triggers_figures_of(const struct triggers *t, size_t index,
				struct triggers_figures *ret);

/* A line for each. */
void triggers_say(const struct triggers *t, const struct notes *notes);

#endif
