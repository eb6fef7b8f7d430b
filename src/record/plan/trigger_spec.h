/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --trigger says: what is waited for, and what is done when it comes.
 *
 *   KIND-AND-WHAT[,after=TIME][,limit=N/TIME][,reason=TEXT]
 *
 *   EVENT[,EVENT…][ FILTER]               one of these happens
 *   latency:EVENT[ FILTER]..EVENT[ FILTER]>TIME
 *                                         from the first to the second took a thread longer
 *   psi:cpu|memory|io:SOME_MS/WINDOW_MS   stalls of any task, as /proc/pressure has them
 *   load:N                                the load average of a minute has come to N
 *   every:TIME
 *
 * The three options come last, in any order; TEXT goes on to the next of them, commas and all. A
 * filter begins behind the first space that is not between slashes, in single quotes or in the name
 * of a file, and is the kernel's to judge. Two dots that are part of the name of a file or function
 * want it in quotes, unless a slash follows them.
 *
 * Nothing is opened here, but for what events' names need. One thread.
 */
#ifndef RINGTAIL_RECORD_PLAN_TRIGGER_SPEC_H
#define RINGTAIL_RECORD_PLAN_TRIGGER_SPEC_H

#include "event/parse/event.h"

enum trigger_kind {
	TRIGGER_EVENT,
	TRIGGER_LATENCY,
	TRIGGER_PSI,
	TRIGGER_LOAD,
	TRIGGER_EVERY,
	TRIGGER_KINDS,
};

struct trigger_spec {
	enum trigger_kind kind;
	char *text;		  /* as it was given, without the options */
	struct event_list events; /* of EVENT and LATENCY */
	size_t starts;		  /* of LATENCY: so many start, those behind them end */
	uint64_t ns;		  /* of LATENCY: longer than that; of EVERY: from one to the next */
	const char *resource;	  /* of PSI: "cpu", "memory" or "io" */
	unsigned int some_ms, window_ms;
	double load;

	uint64_t after_ns;  /* how long recording goes on before the snapshot is taken */
	unsigned int limit; /* so many snapshots, in any limit_ns; 0: each time */
	uint64_t limit_ns;
	char *reason; /* NULL: none was given */
};

/* All-zero is empty. */
struct trigger_specs {
	struct trigger_spec *specs;
	size_t nr, capacity;
};

/* Without limit= of its own a trigger has 1 in a second; but for EVERY, which says it itself. */
#define TRIGGER_LIMIT	  1
#define TRIGGER_LIMIT_NS  1000000000ull
#define TRIGGER_LIMIT_MAX 1000 /* so many times are remembered */

/*
 * Appends what @text says. Returns 0, or with @list unchanged and @err filled -EINVAL, -ENOMEM or
 * what event_parse() returns.
 */
int trigger_specs_add(struct trigger_specs *list, const char *text, const struct event_env *env,
		      struct error *err);
void trigger_specs_release(struct trigger_specs *list);

/*
 * Whether @event can trigger anything. Returns 0, or -EINVAL with @err filled for an event without
 * a count (cycles and clocks without a period) and for one that never happens (dummy).
 */
int trigger_spec_check_event(const struct event_spec *event, struct error *err);

#endif
