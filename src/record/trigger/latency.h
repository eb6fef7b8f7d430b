/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies: how long threads take from one event to another, by samples of both.
 *
 * The start of a thread that moves is in one ring and its end in another, and rings are read one
 * after the other. So samples are kept until the next pass over all rings, and then matched in time
 * order. Only samples that are not newer than the newest of the pass before are matched: no ring
 * can have older ones. So memory holds what one pass brings.
 *
 * After a ring lost samples, starts of its CPU may have ended unseen, and new ones may have begun.
 * So everything of that CPU up to the newest of the next pass is forgotten, because a part of that
 * pass is older than the reading of the ring. A thread that started and ended on other CPUs may
 * have been on that one meanwhile. Then the time is reported as an upper bound.
 *
 * Pure; one thread.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_LATENCY_H
#define RINGTAIL_RECORD_TRIGGER_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads that are under way at a time; with more, the ones that began first are forgotten. */
#define LATENCY_THREADS 65536

struct latency_sample {
	uint64_t time; /* ns */
	uint32_t cpu, pid, tid;
	bool ends; /* else it starts */
};

/* A thread took longer; @end is the sample of its end. Not @sure: @took is an upper bound. */
typedef void (*latency_fn)(const struct latency_sample *end, uint64_t took, bool sure, void *arg);

struct latency;

/* Reports threads that take longer than @ns. NULL when out of memory. */
struct latency *latency_new(uint64_t ns);
void latency_free(struct latency *l); /* accepts NULL */

/* What a pass over the rings brings, in any order of rings. Returns 0 or -ENOMEM. */
int latency_add(struct latency *l, const struct latency_sample *sample);

#define LATENCY_ANY_CPU UINT32_MAX /* the ring is of more than one CPU */

/* A ring of this pass, @cpu's, had no room for some time, in which it may have lost samples. */
void latency_lost(struct latency *l, uint32_t cpu);

/* The pass has visited all rings. Returns 0 or -ENOMEM. */
int latency_pass(struct latency *l, latency_fn slow, void *arg);

/* No sample follows: matches all that are kept. Returns 0 or -ENOMEM. */
int latency_finish(struct latency *l, latency_fn slow, void *arg);

/* Whether another pass is to be made even if no ring has anything. */
bool latency_waits(const struct latency *l);

/* Starts that were forgotten, because there was no room or samples may be lost. */
uint64_t latency_forgotten(const struct latency *l);

#endif
