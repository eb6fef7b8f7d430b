/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in no known function, and callers at addresses where nothing is: what a report should be
 * read with caution for. One thread uses an object; unknown_merge() adds them up.
 */
#ifndef RINGTAIL_REPORT_TABLE_UNKNOWN_H
#define RINGTAIL_REPORT_TABLE_UNKNOWN_H

#include "report/trace/frame.h"

struct unknown {
	uint64_t samples;
	uint64_t unresolved; /* of @samples: no symbol */
	uint64_t *by_dso;    /* of @unresolved, by index of dso; the last: nothing mapped there */
	size_t nr_dsos;
	uint64_t chains; /* of @samples: with callers in user space that the kernel walked */
	uint64_t astray; /* of @chains: such a caller is where nothing was mapped */
};

/* Returns 0 or -ENOMEM. */
int unknown_init(struct unknown *u, const struct state *s);
void unknown_release(struct unknown *u); /* also of zeroes */

/* Counts @samples that are alike, at @own. */
void unknown_add(struct unknown *u, const struct frame *own, uint64_t samples);

/* Counts the chain of a sample, unless it is of a copy of the stack. Innermost first. */
void unknown_add_chain(struct unknown *u, const struct frame *chain, size_t nr);

void unknown_merge(struct unknown *u, const struct unknown *from);

/* The dso with the most unresolved samples, NULL: nothing was mapped; *@ret_samples: its own. */
const struct dso *unknown_most(const struct unknown *u, const struct state *s,
			       uint64_t *ret_samples);

#endif
