/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses --trigger: the condition to wait for, and the options of its snapshot.
 *
 *   KIND-AND-WHAT[,after=TIME][,limit=N/TIME][,reason=TEXT]
 *
 *   EVENT[,EVENT…][ FILTER]               one of the events happens
 *   latency:EVENT[ FILTER]..EVENT[ FILTER]>TIME
 *                                         a thread takes longer from the first to the second
 *   psi:cpu|memory|io:SOME_MS/WINDOW_MS   tasks stall that long in a window (/proc/pressure)
 *   load:N                                the load average of a minute reaches N
 *   every:TIME                            the time has passed
 *
 * The three options come last, in any order. TEXT ends at the next option; it may have commas. A
 * filter begins behind the first space that is not between slashes, in single quotes or in a file
 * name; the kernel checks it. A file or function name with two dots must be in quotes, unless a
 * slash follows them.
 *
 * Nothing is opened, except to resolve event names. Times are in ns.
 * Ownership: the caller's struct trigger_specs owns all texts and events. Threads: one.
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
	char *text;		  /* as the user gave it, without the options */
	struct event_list events; /* EVENT and LATENCY */
	size_t starts;		  /* LATENCY: the first @starts events start, the others end */
	uint64_t ns;		  /* LATENCY: the threshold; EVERY: the period */
	const char *resource;	  /* PSI: "cpu", "memory" or "io" */
	unsigned int some_ms, window_ms;
	double load;

	uint64_t after_ns;  /* delay from the trigger to the snapshot */
	unsigned int limit; /* most snapshots in any limit_ns; 0: no limit */
	uint64_t limit_ns;
	char *reason; /* NULL: not given */
};

/* All-zero is empty. */
struct trigger_specs {
	struct trigger_spec *specs;
	size_t nr, capacity;
};

/* The default limit: 1 a second. EVERY has none, because its period limits it. */
#define TRIGGER_LIMIT	  1
#define TRIGGER_LIMIT_NS  1000000000ull
#define TRIGGER_LIMIT_MAX 1000 /* the most times that are kept */

/*
 * Parses @text and appends it to @list. Returns 0, or, with @list unchanged and @err filled,
 * -EINVAL, -ENOMEM or what event_parse() returns.
 */
int trigger_specs_add(struct trigger_specs *list, const char *text, const struct event_env *env,
		      struct error *err);

/* Frees all specs and empties @list. */
void trigger_specs_release(struct trigger_specs *list);

/*
 * Checks that @event can be a trigger. Returns 0, or -EINVAL with @err filled for an event that
 * happens all the time (cycles and clocks without a period) or never (dummy).
 */
int trigger_spec_check_event(const struct event_spec *event, struct error *err);

#endif
