/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the frequencies of events while they run.
 *
 * Only of events that were asked for by frequency. One with a fixed period keeps it: each of its
 * samples was asked for, and of software events the kernel makes every one a sample anyway when
 * samples carry the period (perf_swevent_event() in kernel/events/core.c of Linux 6.1).
 *
 * Samples carry the number of events that each stands for (PERF_SAMPLE_PERIOD), so totals and
 * shares stay right. But for clocks (cpu-clock, task-clock) the kernel tells the period that they
 * began with, whatever it is now (perf_swevent_hrtimer(), there): frequency_mend() puts the right
 * one there, by the sample's time. This cannot be told for tasks that inherited the event, which
 * PERF_EVENT_IOC_PERIOD does not reach, so clocks that tasks inherit keep their frequency; of other
 * events that they inherit, the tasks that run already do.
 */
#ifndef RINGTAIL_RECORD_OPEN_FREQUENCY_H
#define RINGTAIL_RECORD_OPEN_FREQUENCY_H

#include "record/open/open.h"

struct frequency;

/* @plan and @opened must outlive it. NULL when out of memory. */
struct frequency *frequency_new(const struct plan *plan, const struct opened *opened);
void frequency_free(struct frequency *f); /* accepts NULL */

/* --- the main thread --- */

/* Whether that of event @index can be changed. */
bool frequency_can(const struct frequency *f, unsigned int index);

/* What it is now, Hz. */
uint64_t frequency_of(const struct frequency *f, unsigned int index);

/* The highest that was asked for, of events that can be changed, Hz; 0: there is none. */
uint64_t frequency_most(const struct frequency *f);

/* All become @share of what was asked for, and 1 Hz at least. frequency_changed() is due. */
void frequency_set(struct frequency *f, double share);

/* Samples of @time, ns, and later are of the new frequencies. */
void frequency_changed(struct frequency *f, uint64_t time);

/* --- any thread --- */

/* Corrects the periods of the samples among the whole records at @p. @frequency: a struct
 * frequency.
 */
void frequency_mend(void *frequency, uint8_t *p, size_t len);

#endif
