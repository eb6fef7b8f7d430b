/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel offered and the output does not hold, by cause, event and CPU.
 *
 * The kernel tells of records that found no room in a ring in two ways, which count the same
 * records (kernel/events/ring_buffer.c, __perf_output_begin()): each failure adds one to the ring's
 * counter, that the next record to find room brings along as PERF_RECORD_LOST, with the id of that
 * later event; and it adds one to the counter of the event that it befell (of the one that was
 * opened, if inherited), which read(2) gives with PERF_FORMAT_LOST since 6.0. The second is exact
 * by event and has also what was lost after the last record, so it alone is used where it is there,
 * and the sum of LOST records where it is not. PERF_RECORD_LOST_SAMPLES of the kernel counts what a
 * PMU dropped before there was a record; neither of the others has it, so it is always added.
 *
 * One thread uses a struct loss; an all-zero struct is empty.
 */
#ifndef RINGTAIL_RECORD_LOSS_LOSS_H
#define RINGTAIL_RECORD_LOSS_LOSS_H

#include <stddef.h>
#include <stdint.h>

enum loss_cause {
	LOSS_RING,    /* no room in the kernel's ring */
	LOSS_PMU,     /* dropped by the PMU or its driver */
	LOSS_PAUSED,  /* meant for a ring that was paused, to be read */
	LOSS_POOL,    /* no room in our memory: the output was too slow */
	LOSS_OUTPUT,  /* taken, and not written for an error */
	LOSS_DELETED, /* written, to a file that others have deleted */
	/* A user stack, not a sample; counted apart from the others: */
	LOSS_STACK_RING, /* not copied, since the ring filled faster than it was emptied */
	LOSS_STACK,	 /* not kept in our memory */
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

/* Adds @count (0: nothing). Returns 0 or -ENOMEM (the total is still right then). */
int loss_add(struct loss *l, enum loss_cause cause, unsigned int event, int cpu, uint64_t count);

/* Adds all of @from. Returns 0 or -ENOMEM. */
int loss_merge(struct loss *to, const struct loss *from);

const char *loss_cause_text(enum loss_cause cause); /* "no room in the ring" */

/* Frees the counts; an empty struct remains. */
void loss_release(struct loss *l);

#endif
