/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of events, one function for each source; for listing.c. As in listing.h. */
#ifndef RINGTAIL_EVENT_LISTING_KINDS_H
#define RINGTAIL_EVENT_LISTING_KINDS_H

#include "event/listing/listing.h"

/* Where events go: to @fn, if they are chosen. */
struct listing_run {
	const struct event_env *env;
	const struct listing_choice *choice;
	listing_fn fn;
	void *arg;
	int rc; /* of a callback that cannot return it; then no more events are wanted */
};

/* Gives @event to the caller if a word matches it. Returns l->rc, which it sets. */
int listing_give(struct listing_run *l, const struct listed_event *event);

/* Each returns 0 or a negative errno. */
int listing_generic(struct listing_run *l, enum listing_kind kind); /* hardware, software, cache */
int listing_pmus(struct listing_run *l);
int listing_raw(struct listing_run *l);
int listing_breakpoints(struct listing_run *l);
int listing_probes(struct listing_run *l);
/* These as listing_each() with @err. */
int listing_vendor(struct listing_run *l, struct error *err);
int listing_tracepoints(struct listing_run *l, struct error *err);

#endif
