// SPDX-License-Identifier: Apache-2.0
#include "record/aux/area.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/record.h"
#include "sys/kernel/perf_event.h"

/* Of each area. A thread that is scheduled out each ms fills them in a second. */
#define STAYS 1024

/* Records that are looked at are shorter, also with each field of a trailer. */
#define RECORD_MAX 128

static pid_t task_of(const struct opened *o, unsigned int ring)
{
	pid_t task = -1;

	for (size_t i = 0; i < o->nr_fds; i++) {
		if (o->fds[i].ring != ring)
			continue;
		if (task >= 0 && task != o->fds[i].task)
			return -1;
		task = o->fds[i].task;
	}
	return task;
}

static unsigned int event_of(const struct opened *o, unsigned int ring)
{
	for (size_t i = 0; i < o->nr_fds; i++)
		if (o->fds[i].ring == ring)
			return o->fds[i].event;
	return 0;
}

static bool is_by_tsc(const struct plan_event *event)
{
	return event->pmu && (!strcmp(event->pmu, "intel_pt") || !strcmp(event->pmu, "intel_bts"));
}

static int init_area(struct aux_area *area, const struct plan *plan, const struct opened *o,
		     unsigned int index)
{
	const struct open_ring *ring = &o->rings[index];
	int rc;

	*area = (struct aux_area){
		.mode = plan->aux_mode,
		.index = index,
		.event = event_of(o, index),
		.cpu = ring->cpu,
		.task = task_of(o, index),
		.fds = ring->fds,
		.nr_fds = ring->nr_fds,
	};
	area->by_tsc = is_by_tsc(&plan->events[area->event]);
	area->layout.attr = plan->events[area->event].attr;
	pthread_mutex_init(&area->lock, NULL);
	rc = ring_init(&area->records, ring->memory,
		       (uint8_t *)ring->memory + sysconf(_SC_PAGESIZE), ring->data_size);
	if (!rc)
		rc = aux_stays_init(&area->stays, STAYS);
	return rc ? rc
		  : aux_ring_init(&area->ring, ring->memory, ring->aux, ring->aux_size,
				  plan->aux_mode != AUX_FULL);
}

int aux_areas_init(struct aux_areas *a, const struct plan *plan, const struct opened *o)
{
	int rc = 0;

	*a = (struct aux_areas){.of_ring = calloc(o->nr_rings + 1, sizeof(*a->of_ring))};
	if (!a->of_ring)
		return -ENOMEM;
	for (unsigned int i = 0; i < o->nr_rings; i++)
		a->of_ring[i] = o->rings[i].aux ? (int)a->nr++ : -1;
	a->areas = calloc(a->nr + 1, sizeof(*a->areas));
	if (!a->areas) {
		a->nr = 0;
		return -ENOMEM;
	}
	for (unsigned int i = 0; !rc && i < o->nr_rings; i++)
		if (a->of_ring[i] >= 0)
			rc = init_area(&a->areas[a->of_ring[i]], plan, o, i);
	return rc;
}

void aux_areas_release(struct aux_areas *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		pthread_mutex_destroy(&a->areas[i].lock);
		aux_stays_release(&a->areas[i].stays);
	}
	free(a->areas);
	free(a->of_ring);
	*a = (struct aux_areas){0};
}

struct aux_area *aux_areas_of(const struct aux_areas *a, size_t ring)
{
	return a->nr && a->of_ring[ring] >= 0 ? &a->areas[a->of_ring[ring]] : NULL;
}

uint64_t aux_area_reference(const struct aux_area *area, uint64_t time)
{
#if defined(__i386__) || defined(__x86_64__)
	if (area->by_tsc)
		return __builtin_ia32_rdtsc();
#endif
	return time;
}

static void for_each_event(const struct aux_area *area, int (*call)(int fd))
{
	for (size_t i = 0; i < area->nr_fds; i++)
		call(area->fds[i]);
}

void aux_area_stop(struct aux_area *area)
{
	pthread_mutex_lock(&area->lock);
	area->held = true;
	pthread_mutex_unlock(&area->lock);
	if (area->on)
		for_each_event(area, perf_event_disable);
}

void aux_area_go(struct aux_area *area)
{
	pthread_mutex_lock(&area->lock);
	area->held = area->copied = area->stopped = false;
	/* Where its task runs there is no record of the start. */
	area->runs = area->on;
	area->begun = 0;
	pthread_mutex_unlock(&area->lock);
	if (area->on)
		for_each_event(area, perf_event_enable);
}

/* A stay has ended, and left the head at @head. @whole: its record says so. */
static void add_stay(struct aux_area *area, uint64_t ended, uint64_t head, bool whole)
{
	whole &= !area->broken;
	aux_stays_add(&area->stays, area->broken ? 0 : area->begun, ended,
		      aux_ring_move(&area->ring, head), whole);
	area->begun = 0;
	area->broken = false;
}

static void look_at_aux(struct aux_area *area, const struct perf_event_header *h)
{
	uint64_t body[3]; /* offset, size, flags */

	if (h->size < sizeof(*h) + sizeof(body))
		return;
	memcpy(body, h + 1, sizeof(body));
	area->truncated += !!(body[2] & PERF_AUX_FLAG_TRUNCATED);
	area->partial += !!(body[2] & PERF_AUX_FLAG_PARTIAL);
	area->collisions += !!(body[2] & PERF_AUX_FLAG_COLLISION);
	area->stopped |= body[2] & PERF_AUX_FLAG_TRUNCATED;
	area->runs = area->left = false;
	if (!area->ring.overwrite)
		return;
	add_stay(area, pd_record_time(h, &area->layout), body[0], true);
}

/* The event of @area has started: its task was scheduled in, or the kernel says so. */
static void look_at_start(struct aux_area *area, const struct perf_event_header *h)
{
	if (!area->begun || area->left)
		area->begun = pd_record_time(h, &area->layout);
	area->left = false;
	area->runs = true;
}

/* The events run again after aux_area_restart(), whatever was lost. */
static void stopped_unreported(struct aux_area *area)
{
	area->unreported += area->on && !area->stopped;
	area->stopped = true;
}

/* A lost record may have been that of a stop. */
static void look_at_lost(struct aux_area *area, const struct perf_event_header *h)
{
	uint64_t body[2]; /* id, count */

	if (h->size < sizeof(*h) + sizeof(body))
		return;
	memcpy(body, h + 1, sizeof(body));
	area->lost_records += body[1];
	area->broken = area->runs = true;
	if (!area->ring.overwrite)
		stopped_unreported(area);
}

static void look_at(struct aux_area *area, const struct perf_event_header *h)
{
	switch (h->type) {
	case PERF_RECORD_AUX: look_at_aux(area, h); break;
	case PERF_RECORD_ITRACE_START: look_at_start(area, h); break;
	/* Not SWITCH_CPU_WIDE: an event of a CPU runs on while tasks change. */
	case PERF_RECORD_SWITCH:
		if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
			area->left = true;
		else
			look_at_start(area, h);
		break;
	case PERF_RECORD_LOST: look_at_lost(area, h); break;
	}
}

/* The caller holds the lock. Returns whether there was a record. */
static bool look_at_all(struct aux_area *area)
{
	uint64_t record[RECORD_MAX / sizeof(uint64_t)];
	struct perf_event_header *h = (void *)record;
	struct ring_spans spans;
	size_t len = ring_peek(&area->records, &spans), at = 0;

	while (at + sizeof(*h) <= len) {
		ring_spans_copy(&spans, at, h, sizeof(*h));
		if (h->size < sizeof(*h) || h->size > len - at)
			break;
		if (h->size <= sizeof(record)) {
			ring_spans_copy(&spans, at, record, h->size);
			look_at(area, h);
		}
		at += h->size;
	}
	area->records.tail += len;
	return len;
}

/* A stop without trace had no record, so the next stay would seem to have begun before it. */
static void forget_begin(struct aux_area *area)
{
	look_at_all(area);
	area->begun = 0;
}

void aux_areas_switch(struct aux_areas *a, int event, bool on)
{
	for (size_t i = 0; i < a->nr; i++) {
		struct aux_area *area = &a->areas[i];

		if (event >= 0 && (unsigned int)event != area->event)
			continue;
		pthread_mutex_lock(&area->lock);
		if (on && !area->on)
			forget_begin(area);
		area->on = on;
		/* Where a task runs, or the PMU reports no start, no record follows. */
		area->runs |= on;
		pthread_mutex_unlock(&area->lock);
	}
}

/* The stays belong to the main thread: a task that is born meanwhile may still run an event. */
static void skip_all(struct aux_area *area)
{
	struct ring_spans spans;
	size_t len = ring_peek(&area->records, &spans);

	area->broken |= len > 0;
	area->records.tail += len;
}

/* Whether the area is as its records say, and was while its content was read. */
static bool is_idle(void *arg)
{
	const struct aux_area *area = arg;
	struct ring_spans spans;

	return !area->runs && !ring_peek(&area->records, &spans) &&
	       aux_ring_head(&area->ring) == area->ring.head;
}

void aux_area_look(struct aux_area *area)
{
	uint64_t more;

	pthread_mutex_lock(&area->lock);
	if (area->copied)
		skip_all(area);
	else if (look_at_all(area) && area->ring.overwrite && is_idle(area) &&
		 aux_ring_settle(&area->ring, is_idle, area, &more))
		aux_stays_settle(&area->stays, more);
	pthread_mutex_unlock(&area->lock);
}

void aux_area_look_stopped(struct aux_area *area, uint64_t now)
{
	uint64_t head, more;

	pthread_mutex_lock(&area->lock);
	look_at_all(area);
	head = aux_ring_head(&area->ring);
	if (head != area->ring.head)
		add_stay(area, now, head, false);
	aux_ring_settle(&area->ring, NULL, NULL, &more);
	aux_stays_settle(&area->stays, more);
	area->copied = true;
	pthread_mutex_unlock(&area->lock);
}

void aux_area_full(struct aux_area *area)
{
	pthread_mutex_lock(&area->lock);
	/* The kernel writes the record of a stop before it publishes the head. */
	look_at_all(area);
	stopped_unreported(area);
	pthread_mutex_unlock(&area->lock);
}

void aux_area_restart(struct aux_area *area)
{
	pthread_mutex_lock(&area->lock);
	if (area->stopped && area->on && !area->held) {
		for_each_event(area, perf_event_disable);
		for_each_event(area, perf_event_enable);
		area->restarts++;
	}
	if (!area->held)
		area->stopped = false;
	pthread_mutex_unlock(&area->lock);
}
