/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of samples: copies that outlive the walk that gave them, for another thread.
 *
 * One thread at a time uses a batch. Its size is bounded, but for a single sample that is larger.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_BATCH_H
#define RINGTAIL_REPORT_SCRIPT_BATCH_H

#include "report/trace/walk.h"

#define BATCH_BYTES ((size_t)256 << 10)

#define BATCH_SAMPLES 1024u /* where spans are in it */
#define BATCH_HELD    ((size_t)64 << 10)

/* All zero: empty. */
struct batch {
	uint8_t *p;
	size_t len, cap;		/* bytes */
	size_t nr;			/* samples */
	size_t nr_held;			/* samples in lists that it holds */
	const struct itrace_held *held; /* by the newest span; NULL: there is none */
};

/* Copies @ws to the end. Returns 0, -ENOSPC if the batch is full, or -ENOMEM. */
int batch_add(struct batch *b, const struct walk_sample *ws);

/* Adds a span, whose samples it holds and does not copy. Returns as batch_add(). */
int batch_add_span(struct batch *b, const struct walk_span *span);

/* Calls @fn for each sample, in order. Returns 0 or the negative value of @fn, which ends it. */
int batch_each(const struct batch *b, walk_fn fn, void *arg);

void batch_clear(struct batch *b);   /* keeps the memory */
void batch_release(struct batch *b); /* accepts zeroes */

#endif
