/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One --trigger: the parts common to all kinds.
 *
 * A kind is a table of functions, and a struct that begins with a struct trigger. It calls
 * trigger_fire() each time it happens. This module decides by limit= and after= whether and when to
 * request a snapshot. At most one request of a trigger waits: its snapshot also shows what happens
 * meanwhile. record/trigger/trigger_set.h has all triggers.
 *
 * The main thread's. Times are ns of CLOCK_MONOTONIC, unless a comment names another clock.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_TRIGGER_H
#define RINGTAIL_RECORD_TRIGGER_TRIGGER_H

#include <poll.h>

#include "record/trigger/rate.h"
#include "record/trigger/request.h"
#include "record/trigger/event_watch.h"
#include "record/plan/trigger_spec.h"

/* A time that never comes. */
#define TRIGGER_NEVER UINT64_MAX

struct trigger;

struct trigger_ops {
	/* Starts to watch. NULL: needs no start. */
	int (*start)(struct trigger *s, uint64_t now, struct error *err);
	/* As event_watch_revive(). NULL: the kind has no events. */
	int (*revive)(struct trigger *s, int cpu);
	/*
	 * As event_watch_descriptors() and event_watch_watch(). NULL: the kind has no descriptors.
	 */
	size_t (*descriptors)(const struct trigger *s);
	void (*watch)(const struct trigger *s, struct pollfd *ret);
	/*
	 * Checks the result of poll(2), and when due, what poll(2) does not report. @last: this is
	 * the last call.
	 */
	void (*ask)(struct trigger *s, struct pollfd *polled, uint64_t now, bool last);
	/* Returns how often it happened without trigger_fire() yet. NULL: never. */
	uint64_t (*unreported)(struct trigger *s);
	void (*free)(struct trigger *s);
};

struct trigger {
	const struct trigger_ops *ops;
	const struct trigger_spec *spec;
	const struct messages *messages; /* set when it is open */
	size_t open_descriptors;
	uint64_t due; /* time of the next call of ask(), whatever poll(2) reports */
	struct rate rate;
	uint64_t fired, asked; /* times; snapshots */
	uint64_t lost;	       /* events that found no room */
	uint64_t forgotten;    /* threads whose latency is no longer known */
	bool waits;	       /* a request is due at the time @at */
	bool ready;	       /* it is time: trigger_set_take() returns @request */
	uint64_t at;
	struct snapshot_request request;
};

/* Fills the parts that all kinds have. Returns 0 or -ENOMEM. */
int trigger_init(struct trigger *s, const struct trigger_ops *ops, const struct trigger_spec *spec);

/*
 * It happened @times. @cause may be NULL; @detail, which goes behind the reason, too. Names of
 * threads are filled in where they are to be known.
 */
void trigger_fire(struct trigger *s, uint64_t times, const struct pd_snapshot_cause *cause,
		  const char *detail, uint64_t now);

/* The kinds. Each opens what @spec says; returns 0 with *@ret to be freed by its ops, or a negative
 * errno with @err filled. */
int trigger_of_events(const struct trigger_spec *spec, const struct trigger_place *place,
		      struct trigger **ret, struct error *err);
int trigger_of_latency(const struct trigger_spec *spec, const struct trigger_place *place,
		       struct trigger **ret, struct error *err);
int trigger_of_pressure(const struct trigger_spec *spec, const struct trigger_place *place,
			struct trigger **ret, struct error *err);
int trigger_of_load(const struct trigger_spec *spec, const struct trigger_place *place,
		    struct trigger **ret, struct error *err);
int trigger_of_time(const struct trigger_spec *spec, const struct trigger_place *place,
		    struct trigger **ret, struct error *err);

#endif
