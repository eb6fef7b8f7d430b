/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Truncates user stacks to no bytes, then drops samples, when a reader does not keep up or its fifo
 * is full.
 *
 * It never drops other records. It counts truncated stacks and dropped samples by event and CPU.
 * For dropped samples it also makes LOST_SAMPLES records, which take the place of the samples.
 *
 * Threads: only the reader's uses a struct shed; any may call shed_truncated() when the reader has
 * ended.
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
 * Returns a struct shed for the events of @opened, or NULL when out of memory. @plan and @renumber
 * must outlive it. @renumber maps the ids of events that were opened again (NULL: none was).
 */
struct shed *shed_new(const struct plan *plan, const struct opened *opened,
		      struct renumber *renumber);
void shed_free(struct shed *s); /* accepts NULL */

/* Whether samples of any event have user stacks. */
bool shed_has_stacks(const struct shed *s);

/*
 * Copies @len bytes of whole records of @cpu from @from to @to, without the user stacks of samples:
 * their stack size becomes 0. Counts the truncated stacks as @cause. @to may be @from, or has room
 * for @len bytes. Returns the bytes written.
 */
size_t shed_stacks(struct shed *s, uint8_t *to, const uint8_t *from, size_t len,
		   enum loss_cause cause, int cpu);

/*
 * Returns how many bytes the records that are not samples have; *@ret_whole: the bytes of all whole
 * records.
 */
size_t shed_others(const uint8_t *records, size_t len, size_t *ret_whole);

/* Removes the samples, in place, and counts them as dropped on @cpu. Returns the bytes left. */
size_t shed_samples(struct shed *s, uint8_t *records, size_t len, int cpu);

/* The most bytes of a LOST_SAMPLES record with its trailer. */
#define SHED_RECORD_MAX 64u

/*
 * Writes to @out, which has SHED_RECORD_MAX bytes, the next LOST_SAMPLES record for dropped samples
 * that no record has reported. Returns its size, with the CPU in *@ret_cpu; 0: all are reported.
 */
size_t shed_report_next(struct shed *s, uint8_t *out, int *ret_cpu);

/*
 * Adds the truncated stacks to *@ret, by event and CPU of the ring, with the causes LOSS_STACK and
 * LOSS_STACK_RING. Call it when the reader has ended: it searches and allocates. Returns 0 or
 * -ENOMEM.
 */
int shed_truncated(const struct shed *s, struct loss *ret);

#endif
