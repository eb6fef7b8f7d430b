/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of lost records, by cause, event and CPU.
 *
 * The kernel counts each record that finds no room in a ring twice (kernel/events/ring_buffer.c,
 * __perf_output_begin()):
 *  - for the ring: before the next record that finds room the kernel writes a PERF_RECORD_LOST with
 *    the count, and with the id of that later event;
 *  - for the event that lost it (if inherited, the opened one): read(2) returns the count with
 *    PERF_FORMAT_LOST, since Linux 6.0.
 * The second count is exact by event, and includes losses after the last record. So the recorder
 * uses it alone where it exists, and the sum of LOST records where it does not. The kernel's
 * PERF_RECORD_LOST_SAMPLES counts samples that a PMU dropped before the kernel made records of
 * them. Neither count includes these, so the recorder always adds them.
 *
 * Ownership: the caller owns a struct loss; all zero is empty; loss_release() frees what it holds.
 * Threads: one uses a struct loss.
 */
#ifndef RINGTAIL_RECORD_LOSS_LOSS_H
#define RINGTAIL_RECORD_LOSS_LOSS_H

#include <stddef.h>
#include <stdint.h>

enum loss_cause {
	LOSS_RING,    /* no room in the kernel's ring */
	LOSS_PMU,     /* dropped by the PMU or its driver */
	LOSS_PAUSED,  /* its overwrite ring was paused for a drain */
	LOSS_POOL,    /* no room in the fifo: the output was too slow */
	LOSS_OUTPUT,  /* drained, but not written because of an error */
	LOSS_DELETED, /* written to a file that another process has deleted */
	/* Truncated user stacks of samples that were kept; not added to lost samples: */
	LOSS_STACK_RING, /* the ring filled faster than it was drained */
	LOSS_STACK,	 /* the fifo was nearly full */
	LOSS_CAUSES,
};

#define LOSS_NO_EVENT (~0u) /* the event is not known */

struct loss_entry {
	enum loss_cause cause;
	unsigned int event; /* index in the recording's events, or LOSS_NO_EVENT */
	int cpu;	    /* -1: not known */
	uint64_t count;
};

struct loss {
	struct loss_entry *entries; /* one for each cause, event and CPU that lost anything */
	size_t nr, capacity;
	uint64_t total;
};

/* Adds @count (0: does nothing). Returns 0 or -ENOMEM; the total is right in both cases. */
int loss_add(struct loss *l, enum loss_cause cause, unsigned int event, int cpu, uint64_t count);

/* Adds all of @from. Returns 0 or -ENOMEM. */
int loss_merge(struct loss *to, const struct loss *from);

/* Returns the cause in words, such as "no room in the ring". */
const char *loss_cause_text(enum loss_cause cause);

/* Frees the entries and empties @l. */
void loss_release(struct loss *l);

#endif
