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
#ifndef RINGTAIL_RECORD_LOSS_LATE_LOSS_H
#define RINGTAIL_RECORD_LOSS_LATE_LOSS_H

#include <stddef.h>
#include <stdint.h>

struct late_loss;

struct late_loss *late_loss_new(void);	  /* NULL when out of memory */
void late_loss_free(struct late_loss *l); /* accepts NULL */

/*
 * At a cut, while no writer works: since the one before it @counted were counted in the rings of
 * @cpu, or @told were told by records that late_loss_mend() has been through. Returns 0 or -ENOMEM.
 */
int late_loss_counted(struct late_loss *l, int cpu, uint64_t counted);
void late_loss_told(struct late_loss *l, int cpu, uint64_t told);

/* Any writer: in the whole records at @p, of a ring of @cpu. */
void late_loss_mend(struct late_loss *l, int cpu, uint8_t *p, size_t len);

#endif
