/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it took threads from one event to another, out of samples of both as they come from
 * the rings of many CPUs.
 *
 * A thread that moves has its start in one ring and its end in another, and rings are read one
 * after the other. So samples are kept until a pass over all rings after the one that brought
 * them, and looked at in the order of time; only those that are not newer than the newest of the
 * pass before, since of these no ring has any more. What is kept is what one pass brings.
 *
 * Where a ring lost samples nobody knows which starts of its CPU have had their ends, nor since
 * when who ends there is under way. So of that CPU everything up to the newest of the next pass is
 * forgotten: what that pass brings is in part older than the reading of the ring. Who started and
 * ends on other CPUs may have been on that one between, and have ended and started again: then the
 * time is what it took at most, and this is told with it.
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

/* A thread that took longer; @end is the sample of its end. Not @sure: or that took less. */
typedef void (*latency_fn)(const struct latency_sample *end, uint64_t took, bool sure, void *arg);

struct latency;

/* Those that take longer than @ns are told. NULL when out of memory. */
struct latency *latency_new(uint64_t ns);
void latency_free(struct latency *l); /* accepts NULL */

/* What a pass over the rings brings, in any order of rings. Returns 0 or -ENOMEM. */
int latency_add(struct latency *l, const struct latency_sample *sample);

#define LATENCY_ANY_CPU UINT32_MAX /* the ring is of more than one CPU */

/* A ring of this pass, @cpu's, had no room for some time, in which it may have lost samples. */
void latency_lost(struct latency *l, uint32_t cpu);

/* The pass has visited all rings. Returns 0 or -ENOMEM. */
int latency_pass(struct latency *l, latency_fn slow, void *arg);

/* No sample follows: all that are kept are looked at. Returns 0 or -ENOMEM. */
int latency_finish(struct latency *l, latency_fn slow, void *arg);

/* Whether another pass is to be made even if no ring has anything. */
bool latency_waits(const struct latency *l);

/* Starts that were forgotten, for want of room or since samples may be lost. */
uint64_t latency_forgotten(const struct latency *l);

#endif
