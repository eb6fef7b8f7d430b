/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader gives up when it does not keep up with a ring, or the memory behind it is full, in
 * this order: the user stacks of samples, then samples; never anything else. All of it is counted
 * by event and CPU; samples that were dropped also by a LOST_SAMPLES record where they would have
 * stood.
 *
 * One thread, its reader's, uses a struct shed.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_SHED_H
#define RINGTAIL_RECORD_PIPELINE_SHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/loss/loss.h"
#include "record/open/open.h"
#include "record/open/renumber.h"

struct shed;

/*
 * @plan and @opened must outlive it, and @renumber, which has ids of events that were opened again;
 * NULL: none is. Returns NULL when out of memory.
 */
struct shed *shed_new(const struct plan *plan, const struct opened *opened,
		      struct renumber *renumber);
void shed_free(struct shed *s); /* accepts NULL */

/* Whether any sample has a user stack. */
bool shed_has_stacks(const struct shed *s);

/*
 * Copies @len bytes of whole records, without the user stacks of samples, which say then that
 * theirs has 0 bytes, and are counted as @cause. @to may be @from, or has room for @len bytes.
 * Returns how many bytes it came to.
 */
size_t shed_stacks(struct shed *s, uint8_t *to, const uint8_t *from, size_t len,
		   enum loss_cause cause, int cpu);

/* Bytes of the records that are not samples; *@ret_whole: of all whole ones. */
size_t shed_others(const uint8_t *records, size_t len, size_t *ret_whole);

/* Takes the samples out. Returns how many bytes are left, all records that are not samples. */
size_t shed_samples(struct shed *s, uint8_t *records, size_t len, int cpu);

/* A LOST_SAMPLES record with its trailer, at most. */
#define SHED_RECORD_MAX 64u

/*
 * Writes the next record about samples that were dropped and not told of to @out, of
 * SHED_RECORD_MAX bytes. Returns its size, and the CPU in *@ret_cpu; 0 when all is told.
 */
size_t shed_tell(struct shed *s, uint8_t *out, int *ret_cpu);

/*
 * Adds the samples without their stacks, by CPU of the ring: of the causes LOSS_STACK and
 * LOSS_STACK_RING. Not for the reader while it reads: it searches and allocates. Returns 0 or
 * -ENOMEM.
 */
int shed_cut(const struct shed *s, struct loss *ret);

#endif
