/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the sampling frequencies of events while they run.
 *
 * An event with a fixed period keeps it, because the user asked for each of its samples. (If
 * samples carry the period, the kernel makes every software event of a fixed period a sample
 * anyway: perf_swevent_event() in kernel/events/core.c of Linux 6.1.)
 *
 * Samples carry the number of events that they stand for (PERF_SAMPLE_PERIOD), so totals and shares
 * stay right. But samples of clocks (cpu-clock, task-clock) carry the period that the clock began
 * with (perf_swevent_hrtimer(), same file). frequency_fix_periods() writes the right period, chosen
 * by the sample's time.
 *
 * PERF_EVENT_IOC_PERIOD does not reach tasks that have inherited an event. Inherited clocks
 * therefore keep their frequency, because their samples' periods would be unknown. With other
 * inherited events, tasks that run already keep the old frequency.
 *
 * Frequencies are in Hz. Threads: see the sections.
 */
#ifndef RINGTAIL_RECORD_OPEN_FREQUENCY_H
#define RINGTAIL_RECORD_OPEN_FREQUENCY_H

#include "record/open/open.h"

struct frequency;

/* Returns NULL when out of memory. @plan and @opened must outlive it. */
struct frequency *frequency_new(const struct plan *plan, const struct opened *opened);
void frequency_free(struct frequency *f); /* accepts NULL */

/* --- the main thread --- */

/* Whether the frequency of event @index of the plan can be changed. */
bool frequency_can(const struct frequency *f, unsigned int index);

/* Returns the frequency of event @index now. */
uint64_t frequency_of(const struct frequency *f, unsigned int index);

/* Returns the highest requested frequency of the events that can be changed; 0: there are none. */
uint64_t frequency_most(const struct frequency *f);

/* Sets all to @share of the requested frequency, at least 1 Hz. frequency_changed() is due. */
void frequency_set(struct frequency *f, double share);

/* Samples of @time (ns, the events' clock) and later have the frequencies of frequency_set(). */
void frequency_changed(struct frequency *f, uint64_t time);

/* --- any thread --- */

/* Corrects the periods of clock samples among the @len bytes of whole records at @p, in place. */
void frequency_fix_periods(struct frequency *f, uint8_t *p, size_t len);

#endif
