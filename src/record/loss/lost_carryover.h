/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrects LOST records that report losses already counted in an earlier output.
 *
 * At each rotation the recorder reads the kernel's counters (record/loss/loss.h), which include all
 * losses so far. The LOST record for the same losses precedes the next record that finds room: it
 * is in the next output. Each output must report its own losses, once. So this module lowers the
 * count in the LOST record, in place, before anything else reads it. A LOST record whose count
 * becomes 0 turns into a LOST_SAMPLES record of 0, because readers do not warn about that.
 *
 * It keeps a sum for each CPU's rings; the rings of single tasks (CPU -1) share one.
 *
 * Threads: see each function; writers share the sums without a lock.
 */
#ifndef RINGTAIL_RECORD_LOSS_LOST_CARRYOVER_H
#define RINGTAIL_RECORD_LOSS_LOST_CARRYOVER_H

#include <stddef.h>
#include <stdint.h>

struct lost_carryover;

struct lost_carryover *lost_carryover_new(void);    /* returns NULL when out of memory */
void lost_carryover_free(struct lost_carryover *l); /* accepts NULL */

/*
 * At a rotation, with the writers stopped: credits @counted losses in the rings of @cpu, read from
 * the kernel's counters since the last rotation. Returns 0 or -ENOMEM.
 */
int lost_carryover_credit(struct lost_carryover *l, int cpu, uint64_t counted);

/*
 * At a rotation, with the writers stopped: debits @reported losses of @cpu, which LOST records
 * behind lost_carryover_apply() have reported since the last rotation.
 */
void lost_carryover_debit(struct lost_carryover *l, int cpu, uint64_t reported);

/* Any writer thread: corrects the LOST records among the @len bytes of whole records at @p. */
void lost_carryover_apply(struct lost_carryover *l, int cpu, uint8_t *p, size_t len);

#endif
