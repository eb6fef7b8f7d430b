/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts samples without a symbol, and callers where nothing was mapped.
 *
 * One thread uses an object; unknown_merge() adds them up.
 */
#ifndef RINGTAIL_REPORT_TABLE_UNKNOWN_H
#define RINGTAIL_REPORT_TABLE_UNKNOWN_H

#include "report/trace/frame.h"

struct unknown {
	uint64_t samples;
	uint64_t unresolved; /* of @samples: no symbol */
	uint64_t *by_dso; /* owned; of @unresolved, by index of dso; the last: nothing was mapped */
	size_t nr_dsos;
	uint64_t chains; /* of @samples: the kernel walked callers in user space */
	uint64_t astray; /* of @chains: nothing was mapped at such a caller */
};

/* Sizes @u for the dsos of @s. Returns 0 or -ENOMEM. */
int unknown_init(struct unknown *u, const struct state *s);
/* Frees the table; accepts zeroes. */
void unknown_release(struct unknown *u);

/* Counts @samples equal samples at frame @own. */
void unknown_add(struct unknown *u, const struct frame *own, uint64_t samples);

/*
 * Counts the chain of one sample, innermost frame first. The kernel must have walked it: do not
 * call this for a chain from a copy of the stack.
 */
void unknown_add_chain(struct unknown *u, const struct frame *chain, size_t nr);

/* Adds the counts of @from, made for the same state. */
void unknown_merge(struct unknown *u, const struct unknown *from);

/*
 * Returns the dso with the most unresolved samples, and their number in *@ret_samples. NULL: most
 * of them are where nothing was mapped.
 */
const struct dso *unknown_most(const struct unknown *u, const struct state *s,
			       uint64_t *ret_samples);

#endif
