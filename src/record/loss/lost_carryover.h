/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses that one output has counted, and LOST records tell of in the next.
 *
 * The kernel's counters (record/loss.h) are read at each cut and have what was lost up to then; the
 * LOST record that tells the same comes with the next record that finds room, behind the cut. Each
 * output is to say what was lost in its time, once. So what a LOST record tells is lowered by what
 * was counted before, where it is, before anything else looks at it; where nothing is left, it
 * becomes a LOST_SAMPLES record of none, which readers add up without a word.
 *
 * By CPU, as rings are: those of single tasks (-1) share a sum.
 */
#ifndef RINGTAIL_RECORD_LOSS_LOST_CARRYOVER_H
#define RINGTAIL_RECORD_LOSS_LOST_CARRYOVER_H

#include <stddef.h>
#include <stdint.h>

struct lost_carryover;

struct lost_carryover *lost_carryover_new(void);    /* NULL when out of memory */
void lost_carryover_free(struct lost_carryover *l); /* accepts NULL */

/*
 * At a cut, while no writer works: since the one before it @counted were counted in the rings of
 * @cpu, or @told were told by records that lost_carryover_apply() has been through. Returns 0 or
 * -ENOMEM.
 */
int lost_carryover_credit(struct lost_carryover *l, int cpu, uint64_t counted);
void lost_carryover_debit(struct lost_carryover *l, int cpu, uint64_t told);

/* Any writer: in the whole records at @p, of a ring of @cpu. */
void lost_carryover_apply(struct lost_carryover *l, int cpu, uint8_t *p, size_t len);

#endif
