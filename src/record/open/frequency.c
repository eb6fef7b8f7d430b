// SPDX-License-Identifier: Apache-2.0
#include "record/open/frequency.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock_ns.h"
#include "perfdata/record.h"
#include "sys/kernel/perf_event.h"

/* Changes that are kept. They are seconds apart, and no sample is older than that many. */
#define CHANGES 64u

struct event {
	bool can, clock;
	uint64_t asked, now;	/* Hz; asked: by the user */
	unsigned int period_at; /* in samples, bytes */
};

struct change {
	uint64_t time;
	double share;
};

struct frequency {
	const struct plan *plan;
	const struct opened *opened;
	struct event *events;	/* of the plan */
	struct id_table clocks; /* ids of the descriptors of clocks that can change, to events */
	unsigned int time_at;
	double share;
	atomic_bool changed;  /* at least once */
	pthread_mutex_t lock; /* guards changes */
	struct change changes[CHANGES];
	size_t nr;
};

/* --- events --------------------------------------------------------------------------------------
 */

static bool is_clock(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Order in a sample: header, IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD. */
static unsigned int period_at(uint64_t type)
{
	static const uint64_t before[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
					  PERF_SAMPLE_TIME,	  PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
					  PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU};
	unsigned int at = sizeof(struct perf_event_header);

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		at += type & before[i] ? 8 : 0;
	return at;
}

static struct event describe(const struct plan *plan, const struct plan_event *event)
{
	const struct pd_attr *attr = &event->attr;
	bool inherited = plan->target != TARGET_CPUS && attr->flags & PD_ATTR_INHERIT;
	struct event e = {
		.clock = is_clock(attr),
		.asked = attr->sample_period,
		.now = attr->sample_period,
		.period_at = period_at(attr->sample_type),
	};

	e.can = attr->flags & PD_ATTR_FREQ && attr->sample_type & PERF_SAMPLE_PERIOD &&
		!(e.clock && inherited);
	return e;
}

struct frequency *frequency_new(const struct plan *plan, const struct opened *opened)
{
	struct frequency *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->plan = plan;
	f->opened = opened;
	f->time_at = plan_sample_time_at(plan);
	f->share = 1;
	f->events = calloc(plan->nr + 1, sizeof(*f->events));
	if (!f->events) {
		frequency_free(f);
		return NULL;
	}
	for (size_t i = 0; i < plan->nr; i++)
		f->events[i] = describe(plan, &plan->events[i]);
	for (size_t i = 0; i < opened->nr_fds; i++) {
		const struct open_fd *fd = &opened->fds[i];

		if (f->events[fd->event].can && f->events[fd->event].clock &&
		    id_table_put(&f->clocks, fd->id, fd->event)) {
			frequency_free(f);
			return NULL;
		}
	}
	return f;
}

void frequency_free(struct frequency *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f->events);
	id_table_release(&f->clocks);
	free(f);
}

bool frequency_can(const struct frequency *f, unsigned int index)
{
	return f->events[index].can;
}

uint64_t frequency_of(const struct frequency *f, unsigned int index)
{
	return f->events[index].now;
}

uint64_t frequency_most(const struct frequency *f)
{
	uint64_t most = 0;

	for (size_t i = 0; i < f->plan->nr; i++)
		if (f->events[i].can && f->events[i].asked > most)
			most = f->events[i].asked;
	return most;
}

/* --- changing ------------------------------------------------------------------------------------
 */

static uint64_t share_of(const struct event *e, double share)
{
	uint64_t hz = (uint64_t)((double)e->asked * share + 0.5);

	return hz ? hz : 1;
}

/* When a clock is open, the kernel has turned its frequency into a period in ns. */
void frequency_set(struct frequency *f, double share)
{
	struct limits limits;

	limits_read(&limits);
	f->share = share;
	for (size_t i = 0; i < f->plan->nr; i++) {
		struct event *e = &f->events[i];

		if (!e->can)
			continue;
		e->now = share_of(e, share);
		/*
		 * The kernel lowers this limit when samples take too long, and refuses a higher
		 * frequency.
		 */
		if (!e->clock && e->now > limits.max_sample_rate)
			e->now = limits.max_sample_rate;
	}
	for (size_t i = 0; i < f->opened->nr_fds; i++) {
		const struct open_fd *fd = &f->opened->fds[i];
		const struct event *e = &f->events[fd->event];

		if (e->can)
			perf_event_set_period(fd->fd, e->clock ? NS_PER_SEC / e->now : e->now);
	}
}

void frequency_changed(struct frequency *f, uint64_t time)
{
	pthread_mutex_lock(&f->lock);
	if (f->nr == CHANGES)
		memmove(f->changes, f->changes + 1, --f->nr * sizeof(f->changes[0]));
	f->changes[f->nr++] = (struct change){time, f->share};
	pthread_mutex_unlock(&f->lock);
	atomic_store(&f->changed, true);
}

/* --- periods in samples --------------------------------------------------------------------------
 */

struct changes {
	struct change all[CHANGES];
	size_t nr;
};

static double share_at(const struct changes *c, uint64_t time)
{
	for (size_t i = c->nr; i-- > 0;)
		if (c->all[i].time <= time)
			return c->all[i].share;
	return 1;
}

static void fix_period(const struct frequency *f, const struct changes *c, uint8_t *sample,
		       size_t size)
{
	const struct event *e;
	uint64_t id, time, period;
	uint32_t event;

	if (size < f->time_at + sizeof(time))
		return;
	memcpy(&id, sample + sizeof(struct perf_event_header), sizeof(id));
	event = id_table_find(&f->clocks, id);
	if (event == ID_TABLE_NONE)
		return;
	e = &f->events[event];
	if (size < e->period_at + sizeof(period))
		return;
	memcpy(&time, sample + f->time_at, sizeof(time));
	period = NS_PER_SEC / share_of(e, share_at(c, time));
	memcpy(sample + e->period_at, &period, sizeof(period));
}

void frequency_fix_periods(struct frequency *f, uint8_t *p, size_t len)
{
	struct perf_event_header hdr;
	struct changes changes;
	size_t size;

	if (!id_table_count(&f->clocks) || !atomic_load(&f->changed))
		return;
	pthread_mutex_lock(&f->lock);
	memcpy(changes.all, f->changes, f->nr * sizeof(f->changes[0]));
	changes.nr = f->nr;
	pthread_mutex_unlock(&f->lock);
	for (; (size = pd_record_at(p, len, &hdr)); p += size, len -= size)
		if (hdr.type == PERF_RECORD_SAMPLE)
			fix_period(f, &changes, p, size);
}
