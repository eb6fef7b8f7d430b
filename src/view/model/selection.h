/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection: a stack of zooms into a thread, a shared object or a span of time. One thread uses it;
 * it owns the texts.
 */
#ifndef RINGTAIL_VIEW_MODEL_SELECTION_H
#define RINGTAIL_VIEW_MODEL_SELECTION_H

#include "view/model/rows.h"

#define SELECTION_MAX 32

enum selection_kind { SELECTION_NONE, SELECTION_KEY, SELECTION_TIME };

/* All zero: everything. */
struct selection {
	struct rows_zoom zooms[ROWS_ZOOMS_MAX];
	size_t nr_zooms;
	struct selection_span {
		uint64_t first, last; /* ns, inclusive */
	} spans[SELECTION_MAX];	      /* the last one counts */
	size_t nr_spans;
	enum selection_kind kinds[SELECTION_MAX]; /* in the order of zooming in */
	size_t nr;
};

void selection_release(struct selection *s); /* accepts zeroes */

/*
 * Zooms into a value of @key, whose @text it takes over; a zoom that is there is not added again.
 * Returns false if there are too many.
 */
bool selection_add_key(struct selection *s, const struct sort_key *key, char *text);
/* Zooms into a span. Returns likewise. */
bool selection_add_span(struct selection *s, uint64_t first, uint64_t last);
/* Takes back the newest zoom. Returns what it was. */
enum selection_kind selection_pop(struct selection *s);

/* Returns the span that counts; NULL: all. */
const struct selection_span *selection_span(const struct selection *s);

/* Appends the zooms as text, escaped; times count from @origin. Returns 0 or -ENOMEM. */
int selection_text(const struct selection *s, uint64_t origin, struct buf *out);

#endif
