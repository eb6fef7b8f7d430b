/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One --trigger: the parts that all kinds have in common.
 *
 * A kind is a table of functions, and a struct that begins with a struct trigger. It calls
 * trigger_fire() each time it happens. This module decides by limit= and after= whether and when
 * to ask for a snapshot. A trigger has one snapshot waiting at most: that one will also hold what
 * happens meanwhile. record/trigger/trigger_set.h has all triggers together.
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

/* What never comes. */
#define TRIGGER_NEVER UINT64_MAX

struct trigger;

struct trigger_ops {
	/* NULL: it begins by itself. */
	int (*start)(struct trigger *s, uint64_t now, struct error *err);
	/* As event_watch_revive(); NULL: it has no events. */
	int (*revive)(struct trigger *s, int cpu);
	/* As event_watch_descriptors() and event_watch_watch(); NULL: it has none. */
	size_t (*descriptors)(const struct trigger *s);
	void (*watch)(const struct trigger *s, struct pollfd *ret);
	/*
	 * Looks at what poll(2) says, and, when it is due, at what it says not. @last: nobody will
	 * ask again.
	 */
	void (*ask)(struct trigger *s, struct pollfd *polled, uint64_t now, bool last);
	/* Times that it has happened and that were not fired yet; NULL: none. */
	uint64_t (*unreported)(struct trigger *s);
	void (*free)(struct trigger *s);
};

struct trigger {
	const struct trigger_ops *ops;
	const struct trigger_spec *spec;
	const struct messages *messages; /* set when it is open */
	size_t open_descriptors;
	uint64_t due; /* when it is to be asked, whatever poll(2) says */
	struct rate rate;
	uint64_t fired, asked; /* times; snapshots */
	uint64_t lost;	       /* events that found no room */
	uint64_t forgotten; /* threads of which it is not known any more how long it takes them */
	bool waits;	    /* a snapshot is to be asked for, at @at */
	bool ready;	    /* it is time: trigger_set_take() returns @request */
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
