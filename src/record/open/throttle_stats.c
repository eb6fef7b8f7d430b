// SPDX-License-Identifier: Apache-2.0
#include "record/open/throttle_stats.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "perfdata/record.h"
#include "record/open/open.h"

/* A shorter pause is no warning: it does not show in a profile. */
#define WORTH_SAYING_NS 1000000

/* One descriptor's event. */
struct throttled {
	unsigned int event;
	int cpu;
	bool backward;	 /* its records come newest first */
	bool names_task; /* they have the ids of the task that ran */
	uint64_t times, nsec;
	uint64_t idle, idle_nsec; /* the part of these while no task ran */
	uint64_t first, stream;	  /* begin of a pair without end: time and stream of its first
				   * record; 0: none */
	bool first_idle;	  /* no task ran at that record */
};

struct throttle_stats {
	pthread_mutex_t lock; /* guards all but the ids */
	struct id_table ids;  /* to indices in: */
	size_t nr;
	struct throttled events[]; /* of each descriptor */
};

struct throttle_stats *throttle_stats_new(const struct plan *plan, const struct open_fd *fds,
					  size_t nr)
{
	struct throttle_stats *t = calloc(1, sizeof(*t) + nr * sizeof(*t->events));

	if (!t)
		return NULL;
	if (open_fds_by_id(fds, nr, &t->ids)) {
		free(t);
		return NULL;
	}
	pthread_mutex_init(&t->lock, NULL);
	t->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		const struct plan_event *event = &plan->events[fds[i].event];

		t->events[i] = (struct throttled){
			.event = fds[i].event,
			.cpu = fds[i].cpu,
			.backward = event->overwrite,
			.names_task = event->attr.flags & PD_ATTR_SAMPLE_ID_ALL &&
				      event->attr.sample_type & PERF_SAMPLE_TID,
		};
	}
	return t;
}

void throttle_stats_free(struct throttle_stats *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	id_table_release(&t->ids);
	free(t);
}

/* --- counting ------------------------------------------------------------------------------------
 */

/*
 * Whether the CPU was idle. The trailer behind the record's body begins with the ids of the task.
 */
static bool was_idle(const struct throttled *e, const struct perf_event_header *hdr)
{
	struct {
		uint32_t pid, tid;
	} task;
	const size_t at = sizeof(*hdr) + sizeof(struct pd_throttle);

	if (!e->names_task || hdr->size < at + sizeof(task))
		return false;
	memcpy(&task, (const uint8_t *)hdr + at, sizeof(task));
	return !task.pid && !task.tid;
}

/*
 * Counts a THROTTLE or UNTHROTTLE. The THROTTLE of a pair decides whether the CPU was idle: any
 * task may run at the tick that ends it.
 */
static void count(struct throttled *e, const struct pd_throttle *rec, bool begins, bool idle)
{
	uint64_t from = e->backward ? rec->time : e->first;
	uint64_t to = e->backward ? e->first : rec->time;

	e->times += begins;
	e->idle += begins && idle;
	if (begins != e->backward) {
		e->first = rec->time;
		e->stream = rec->stream_id;
		e->first_idle = idle;
		return;
	}
	if (e->first && e->stream == rec->stream_id && to > from) {
		e->nsec += to - from;
		if (begins ? idle : e->first_idle)
			e->idle_nsec += to - from;
	}
	e->first = 0;
}

bool throttle_stats_count(struct throttle_stats *t, const struct perf_event_header *hdr, int cpu)
{
	bool begins = hdr->type == PERF_RECORD_THROTTLE;
	struct throttled *event;
	struct pd_record rec;
	uint32_t at;

	if (!begins && hdr->type != PERF_RECORD_UNTHROTTLE)
		return false;
	if (!t || pd_record_decode(hdr, NULL, &rec))
		return true;
	at = id_table_find(&t->ids, rec.throttle.id);
	if (at == ID_TABLE_NONE)
		return true;
	event = &t->events[at];
	pthread_mutex_lock(&t->lock);
	if (event->cpu < 0)
		event->cpu = cpu;
	count(event, &rec.throttle, begins, was_idle(event, hdr));
	pthread_mutex_unlock(&t->lock);
	return true;
}

/* --- results -------------------------------------------------------------------------------------
 */

void throttle_stats_figures(struct throttle_stats *t, struct throttle_stats_figures *ret)
{
	*ret = (struct throttle_stats_figures){.cpu = -1};
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->nr; i++) {
		const struct throttled *e = &t->events[i];

		ret->times += e->times;
		ret->nsec += e->nsec;
		ret->idle += e->idle;
		ret->idle_nsec += e->idle_nsec;
		if (e->times - e->idle <= ret->most)
			continue;
		ret->event = e->event;
		ret->cpu = e->cpu;
		ret->most = e->times - e->idle;
	}
	pthread_mutex_unlock(&t->lock);
}

struct place {
	char text[24];
};

/* Formats " on CPU 3". */
static struct place on_cpu(int cpu)
{
	struct place p = {""};

	if (cpu >= 0)
		snprintf(p.text, sizeof(p.text), " on CPU %d", cpu);
	return p;
}

static void say_each(const struct throttle_stats *t, const struct plan *plan,
		     const struct messages *messages)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct throttled *e = &t->events[i];

		if (e->times)
			messages_say(messages, MESSAGE_DETAIL,
				     "%s%s was throttled %" PRIu64 " time%s, for %.3f s",
				     plan->events[e->event].name, on_cpu(e->cpu).text, e->times,
				     plural_s(e->times), (double)e->nsec / 1e9);
	}
}

/* Reports a detail, no warning: fewer samples would not help. */
static void say_idle(const struct throttle_stats_figures *f, const struct messages *messages)
{
	messages_say(messages, MESSAGE_DETAIL,
		     "the kernel throttled events %" PRIu64
		     " time%s, for %.3f s on all CPUs together, because the CPUs were idle and "
		     "their ticks stopped",
		     f->idle, plural_s(f->idle), (double)f->idle_nsec / 1e9);
}

void throttle_stats_say(struct throttle_stats *t, const struct plan *plan, uint64_t max_rate,
			const struct messages *messages)
{
	struct throttle_stats_figures f;
	uint64_t times, nsec;

	throttle_stats_figures(t, &f);
	if (!f.times)
		return;
	say_each(t, plan, messages);
	times = f.times - f.idle;
	nsec = f.nsec - f.idle_nsec;
	if (f.idle)
		say_idle(&f, messages);
	if (!times)
		return;
	messages_say(messages, nsec < WORTH_SAYING_NS ? MESSAGE_DETAIL : MESSAGE_WARNING,
		     "the kernel throttled events %" PRIu64
		     " time%s, for %.3f s on all CPUs together, %s%s the most (%" PRIu64
		     "): take fewer samples (-F, -c), or raise kernel.perf_event_max_sample_rate, "
		     "%" PRIu64 " now (the kernel lowers it to keep to "
		     "kernel.perf_cpu_time_max_percent)",
		     times, plural_s(times), (double)nsec / 1e9, plan->events[f.event].name,
		     on_cpu(f.cpu).text, f.most, max_rate);
}
