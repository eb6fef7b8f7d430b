/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a machine, by kind, as record -e takes them.
 *
 * Reads sysfs, tracefs and libpfm4's tables; keeps no state. What a callback receives is valid
 * during the call. One thread.
 */
#ifndef RINGTAIL_EVENT_LISTING_LISTING_H
#define RINGTAIL_EVENT_LISTING_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/syntax/spec.h"

/* In the order in which they are listed. */
enum listing_kind {
	LISTING_HARDWARE,
	LISTING_SOFTWARE,
	LISTING_CACHE,
	LISTING_PMU,	/* named events of the PMUs in sysfs, and the terms of each PMU */
	LISTING_VENDOR, /* by the vendor's names */
	LISTING_RAW,
	LISTING_BREAKPOINT,
	LISTING_PROBE, /* uprobes and kprobes in tracefs */
	LISTING_TRACEPOINT,
	LISTING_KINDS,
};

struct listed_event {
	enum listing_kind kind;
	const char *name;	  /* as -e takes it */
	const char *alias;	  /* another name of it, or NULL */
	const char *what;	  /* a description, or NULL */
	const char *const *terms; /* "event: config:0-7"; unit masks; fields of a tracepoint */
	size_t nr_terms;
	bool pattern; /* @name shows a syntax; it is no event as it stands */
};

struct listing_choice {
	bool kinds[LISTING_KINDS]; /* none set: all */
	const char *const *words;  /* one of them must match; NULL: all events */
	size_t nr_words;
	bool fields; /* read the fields of tracepoints, too, which takes longer */
	/*
	 * Whether the machine counts a generic event; NULL: it counts all. Vendors' events are
	 * listed if it counts cycles.
	 */
	bool (*counts)(uint32_t type, uint64_t config);
};

/* Takes an event; a negative value ends the walk. */
typedef int (*listing_fn)(void *arg, const struct listed_event *event);

/*
 * Finds the kind that perf or ringtail calls @word ("hw", "cache", "pmu", …). Returns whether there
 * is one.
 */
bool listing_kind_find(const char *word, enum listing_kind *ret);
/* Returns the word for a kind, and in *@ret_title a heading ("Hardware events"). */
const char *listing_kind_word(enum listing_kind kind, const char **ret_title);

/* Whether @word, a pattern or a part of a name without case, matches @event's name or alias. */
bool listing_matches(const char *word, const struct listed_event *event);

/*
 * Calls @fn for each chosen event, by kind. Returns 0, the negative value of @fn, -ENOMEM, or
 * -ELIBACC with @err filled: the library that lists vendors' events is not installed. With
 * LISTING_TRACEPOINT among the kinds, @err may be filled although 0 is returned: with the reason
 * why no tracepoint can be listed, and advice.
 */
int listing_each(const struct event_env *env, const struct listing_choice *choice, listing_fn fn,
		 void *arg, struct error *err);

#endif
