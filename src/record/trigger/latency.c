// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "base/buf.h"

/* A thread between its start and its end. The table has the order of the starts. */
struct under_way {
	UT_hash_handle hh;
	uint32_t tid, cpu; /* CPU of the start */
	uint64_t since;
};

/* Possible losses of a CPU. */
struct losses {
	bool now, before; /* in this pass; in the previous one */
	/* Everything up to this time is forgotten, also samples that come later. */
	uint64_t until;
};

struct latency {
	uint64_t ns;
	struct under_way *threads; /* at most LATENCY_THREADS */
	uint64_t forgotten;
	struct latency_sample *kept;
	size_t nr, capacity;
	uint64_t newest;     /* newest time of all samples so far */
	uint64_t settled;    /* @newest at the previous pass: later samples are newer than this */
	struct losses *cpus; /* by number; CPUs from @nr_cpus on have no entry */
	size_t nr_cpus, cpus_capacity;
	struct losses all; /* losses that any CPU may have had */
	struct losses any; /* losses of at least one CPU */
};

struct latency *latency_new(uint64_t ns)
{
	struct latency *l = calloc(1, sizeof(*l));

	if (l)
		l->ns = ns;
	return l;
}

static void drop(struct latency *l, struct under_way *thread)
{
	HASH_DEL(l->threads, thread);
	free(thread);
}

void latency_free(struct latency *l)
{
	if (!l)
		return;
	while (l->threads)
		drop(l, l->threads);
	free(l->kept);
	free(l->cpus);
	free(l);
}

int latency_add(struct latency *l, const struct latency_sample *sample)
{
	if (array_grow(&l->kept, &l->capacity, l->nr + 1, sizeof(*l->kept)))
		return -ENOMEM;
	l->kept[l->nr++] = *sample;
	if (sample->time > l->newest)
		l->newest = sample->time;
	return 0;
}

/* --- losses --------------------------------------------------------------------------------------
 */

static struct losses *losses_of(struct latency *l, uint32_t cpu)
{
	if (cpu == LATENCY_ANY_CPU ||
	    array_grow(&l->cpus, &l->cpus_capacity, (size_t)cpu + 1, sizeof(*l->cpus)))
		return &l->all;
	while (l->nr_cpus <= cpu)
		l->cpus[l->nr_cpus++] = (struct losses){0};
	return &l->cpus[cpu];
}

void latency_lost(struct latency *l, uint32_t cpu)
{
	losses_of(l, cpu)->now = l->any.now = true;
}

static uint64_t forgotten_until(const struct latency *l, uint32_t cpu)
{
	uint64_t until = cpu < l->nr_cpus ? l->cpus[cpu].until : 0;

	return until > l->all.until ? until : l->all.until;
}

static void note_losses(struct losses *losses, uint64_t newest)
{
	if (losses->now || losses->before)
		losses->until = newest;
	losses->before = losses->now;
	losses->now = false;
}

/* Samples that wait for a pass are checked when their turn comes. */
static void forget(struct latency *l)
{
	for (size_t i = 0; i < l->nr_cpus; i++)
		note_losses(&l->cpus[i], l->newest);
	note_losses(&l->all, l->newest);
	note_losses(&l->any, l->newest);
	for (struct under_way *thread = l->threads, *next; thread; thread = next) {
		next = thread->hh.next;
		if (thread->since > forgotten_until(l, thread->cpu))
			continue;
		drop(l, thread);
		l->forgotten++;
	}
}

/* --- starts and ends -----------------------------------------------------------------------------
 */

static struct under_way *find(const struct latency *l, uint32_t tid)
{
	struct under_way *thread;

	HASH_FIND(hh, l->threads, &tid, sizeof(tid), thread);
	return thread;
}

/* A second start means that the end of the first was lost. */
static int start(struct latency *l, const struct latency_sample *sample)
{
	struct under_way *thread = find(l, sample->tid);

	if (thread)
		drop(l, thread);
	if (sample->time <= forgotten_until(l, sample->cpu)) {
		l->forgotten++;
		return 0;
	}
	if (HASH_COUNT(l->threads) == LATENCY_THREADS) {
		drop(l, l->threads);
		l->forgotten++;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	thread->tid = sample->tid;
	thread->cpu = sample->cpu;
	thread->since = sample->time;
	HASH_ADD(hh, l->threads, tid, sizeof(thread->tid), thread);
	if (!thread->hh.tbl) {
		free(thread);
		return -ENOMEM;
	}
	return 0;
}

static void end(struct latency *l, const struct latency_sample *sample, latency_fn slow, void *arg)
{
	struct under_way *thread = find(l, sample->tid);
	uint64_t since;

	if (!thread)
		return;
	since = thread->since;
	drop(l, thread);
	if (since <= forgotten_until(l, sample->cpu))
		l->forgotten++;
	else if (sample->time - since > l->ns)
		slow(sample, sample->time - since, since > l->any.until, arg);
}

/*
 * Ends sort before starts of the same time: one event may end what the last one started and start
 * anew.
 */
static int by_time(const void *a, const void *b)
{
	const struct latency_sample *x = a, *y = b;

	if (x->time != y->time)
		return (x->time > y->time) - (x->time < y->time);
	return y->ends - x->ends;
}

static int settle(struct latency *l, uint64_t until, latency_fn slow, void *arg)
{
	size_t at = 0;
	int rc = 0;

	if (l->nr)
		qsort(l->kept, l->nr, sizeof(*l->kept), by_time);
	while (!rc && at < l->nr && l->kept[at].time <= until) {
		const struct latency_sample *sample = &l->kept[at++];

		if (sample->ends)
			end(l, sample, slow, arg);
		else
			rc = start(l, sample);
	}
	if (at)
		memmove(l->kept, l->kept + at, (l->nr - at) * sizeof(*l->kept));
	l->nr -= at;
	return rc;
}

int latency_pass(struct latency *l, latency_fn slow, void *arg)
{
	int rc;

	if (l->any.now || l->any.before)
		forget(l);
	rc = settle(l, l->settled, slow, arg);
	l->settled = l->newest;
	return rc;
}

int latency_finish(struct latency *l, latency_fn slow, void *arg)
{
	int rc = latency_pass(l, slow, arg);

	l->any.before = false;
	return rc ? rc : settle(l, UINT64_MAX, slow, arg);
}

bool latency_waits(const struct latency *l)
{
	return l->nr || l->any.before;
}

uint64_t latency_forgotten(const struct latency *l)
{
	return l->forgotten;
}
