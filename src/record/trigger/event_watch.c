// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/event_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "record/open/open.h"
#include "record/plan/probe_targets.h"
#include "record/open/revive.h"
#include "ring/ring.h"
#include "sys/kernel/perf_event.h"

struct trigger_ring {
	struct ring ring;
	const struct open_ring *open;
	size_t polled; /* open->fds[polled] is polled; all before it have hung up */
	bool seen, paused;
	bool others;	   /* the last records read were not all of process @left_out */
	uint64_t lost;	   /* by the LOST records read */
	uint64_t reported; /* reported so far, from records or counts; never decreases */
	uint64_t counted;
};

struct event_watch {
	struct plan *plan;
	struct opened *opened;
	struct trigger_ring *rings; /* only rings that exist */
	size_t nr;
	struct trigger_ring **by_open; /* by index of opened->rings; NULL: not in @rings */
	struct id_table ids;	       /* the kernel's present ids, to events */
	uint8_t *records;	       /* room for a whole ring */
	int64_t left_out;	       /* pid; -1: none */
	bool uncounted;		       /* a count could not be read */
};

/* The fields of the samples, in this order; see trigger_attr(). */
struct trigger_sample {
	struct perf_event_header hdr;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct trigger_lost {
	struct perf_event_header hdr;
	uint64_t id;
	uint64_t lost;
};

/* In the ring, with the trailer of sample_id_all: TID, TIME, CPU, IDENTIFIER. */
#define LOST_SIZE (sizeof(struct trigger_lost) + 32)

/* --- opening -------------------------------------------------------------------------------------
 */

static void trigger_attr(struct plan_event *event, const struct event_spec *spec,
			 const struct plan *recording)
{
	const struct plan_opts *opts = recording->opts;
	struct pd_attr *attr = &event->attr;

	*attr = spec->attr;
	if (!spec->explicit_period)
		attr->sample_period = 1;
	attr->sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->flags |= PD_ATTR_DISABLED | PD_ATTR_SAMPLE_ID_ALL;
	if (recording->target == TARGET_COMMAND)
		attr->flags |= PD_ATTR_ENABLE_ON_EXEC;
	if (recording->target != TARGET_CPUS && !opts->target.no_inherit)
		attr->flags |= PD_ATTR_INHERIT;
	if (opts->sample.use_clockid) {
		attr->flags |= PD_ATTR_USE_CLOCKID;
		attr->clockid = opts->sample.clockid;
	}
}

/* Each event triggers by itself, also those in groups. */
static int add_event(struct plan *plan, const struct event_spec *spec, const struct plan *recording,
		     struct error *err)
{
	struct plan_event *event = &plan->events[plan->nr];

	*event = (struct plan_event){
		.name = strdup(spec->name),
		.filter = spec->filter,
		.place = probe_targets_of(spec),
		.leader = (unsigned int)plan->nr,
		.members = 1,
		.modifier_given = spec->modifier_given,
	};
	plan->nr++;
	if (!event->name)
		return error_set(err, -ENOMEM, "out of memory");
	trigger_attr(event, spec, recording);
	if (!spec->cpus)
		return 0;
	if (plan->target != TARGET_CPUS && !spec->core)
		return error_set(err, -EINVAL, "event '%s' counts only whole CPUs: add -a or -C",
				 spec->name);
	return cpus_parse(spec->cpus, &event->only, err);
}

static int make_plan(const struct event_list *events, const struct trigger_place *place,
		     size_t ring_size, struct plan **ret, struct error *err)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	const struct plan *recording = place->recording;
	int rc = 0;

	*ret = plan;
	if (!plan)
		return error_set(err, -ENOMEM, "out of memory");
	plan->target = recording->target;
	plan->task_rings = recording->task_rings;
	plan->online = recording->online;
	plan->unbuffered = !ring_size;
	plan->raise_files = recording->raise_files;
	plan->descriptors_beside =
		plan_descriptors(recording) + recording->descriptors_beside + place->descriptors;
	plan->events = calloc(events->count, sizeof(*plan->events));
	if (!plan->events || cpus_copy(&recording->sampled, &plan->cpus) ||
	    cpus_copy(&recording->sampled, &plan->sampled) ||
	    tasks_copy(&recording->tasks, &plan->tasks) ||
	    tasks_copy(&recording->processes, &plan->processes))
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !rc && i < events->count; i++)
		rc = add_event(plan, &events->specs[i], recording, err);
	if (ring_size < place->limits->page_size)
		ring_size = place->limits->page_size;
	plan_set_ring_size(plan, ring_size, place->limits->page_size);
	return rc;
}

/* Adds the new ids of reopened events; the old ones stay in the table. */
static int list_ids(struct event_watch *t)
{
	const struct opened *o = t->opened;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->nr_fds; i++)
		rc = id_table_put(&t->ids, o->fds[i].live, o->fds[i].event);
	return rc;
}

static int find_rings(struct event_watch *t, size_t page_size)
{
	const struct opened *o = t->opened;
	int rc = 0;

	t->rings = calloc(o->nr_rings, sizeof(*t->rings));
	t->by_open = calloc(o->nr_rings, sizeof(*t->by_open));
	t->records = malloc(t->plan->ring_size);
	if (!t->rings || !t->by_open || !t->records || list_ids(t))
		return -ENOMEM;
	for (size_t i = 0; !rc && i < o->nr_rings; i++) {
		const struct open_ring *open = &o->rings[i];
		struct trigger_ring *r = &t->rings[t->nr];

		if (!open->memory)
			continue;
		r->open = open;
		r->others = true;
		t->by_open[i] = r;
		rc = ring_init(&r->ring, open->memory, (uint8_t *)open->memory + page_size,
			       open->data_size);
		t->nr++;
	}
	return rc;
}

int event_watch_new(const struct event_list *events, const struct trigger_place *place,
		    size_t ring_size, struct event_watch **ret, struct error *err)
{
	struct event_watch *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return error_set(err, -ENOMEM, "out of memory");
	t->left_out = -1;
	rc = make_plan(events, place, ring_size, &t->plan, err);
	if (!rc)
		rc = open_plan(t->plan, place->limits, place->messages, &t->opened, err);
	if (!rc) {
		rc = find_rings(t, place->limits->page_size);
		if (rc)
			error_sys(err, rc, "cannot read the rings of triggers");
	}
	if (rc)
		event_watch_free(t);
	else
		*ret = t;
	return rc;
}

void event_watch_free(struct event_watch *t)
{
	if (!t)
		return;
	opened_close(t->opened);
	plan_free(t->plan);
	free(t->rings);
	free(t->by_open);
	id_table_release(&t->ids);
	free(t->records);
	free(t);
}

void event_watch_leave_out(struct event_watch *t, uint32_t pid)
{
	t->left_out = pid;
}

/* --- running -------------------------------------------------------------------------------------
 */

int event_watch_enable(const struct event_watch *t, struct error *err)
{
	return t->plan->target == TARGET_COMMAND ? 0 : opened_enable(t->opened, t->plan, err);
}

int event_watch_revive(struct event_watch *t, int cpu)
{
	int rc = revive_cpu(t->opened, t->plan, cpu, NULL);

	if (rc)
		return rc == -ENOENT ? 0 : rc; /* no event is watched on that CPU */
	rc = list_ids(t);
	revive_enable(t->opened, t->plan, cpu, NULL);
	return rc;
}

size_t event_watch_descriptors(const struct event_watch *t)
{
	return t ? t->nr : 0;
}

static int polled_fd(const struct trigger_ring *r)
{
	return r->polled < r->open->nr_fds ? r->open->fds[r->polled] : -1;
}

void event_watch_watch(const struct event_watch *t, struct pollfd *ret)
{
	for (size_t i = 0; i < t->nr; i++)
		ret[i] = (struct pollfd){.fd = polled_fd(&t->rings[i]), .events = POLLIN};
}

size_t event_watch_open_descriptors(const struct event_watch *t)
{
	return t ? t->opened->nr_fds : 0;
}

const char *event_watch_event_name(const struct event_watch *t, size_t event)
{
	return event < t->plan->nr ? t->plan->events[event].name : NULL;
}

static size_t find_event(const struct event_watch *t, uint64_t id)
{
	uint32_t event;

	if (t->plan->nr == 1)
		return 0;
	event = id_table_find(&t->ids, id);
	return event == ID_TABLE_NONE ? TRIGGER_SOME_EVENT : event;
}

/* Returns whether it filled @ret for the caller. */
static bool read_sample(struct event_watch *t, struct trigger_ring *r, const uint8_t *p,
			size_t size, struct event_watch_hit *ret)
{
	struct trigger_sample sample;

	if (size < sizeof(sample))
		return false;
	memcpy(&sample, p, sizeof(sample));
	if (sample.pid == t->left_out)
		return false;
	*ret = (struct event_watch_hit){
		.what = TRIGGER_HAPPENED,
		.times = 1,
		.time = sample.time,
		.cpu = sample.cpu,
		.pid = sample.pid,
		.tid = sample.tid,
		.event = find_event(t, sample.id),
	};
	return true;
}

/* The kernel writes losses that the counts have to records, too. */
static bool read_lost(struct event_watch *t, struct trigger_ring *r, const uint8_t *p, size_t size,
		      struct event_watch_hit *ret)
{
	struct trigger_lost lost;

	if (size < sizeof(lost))
		return false;
	memcpy(&lost, p, sizeof(lost));
	r->lost += lost.lost;
	if (r->lost <= r->reported)
		return false;
	*ret = (struct event_watch_hit){.what = TRIGGER_LOST, .times = r->lost - r->reported};
	r->reported = r->lost;
	return r->others;
}

static const struct {
	uint32_t type;
	bool (*read)(struct event_watch *t, struct trigger_ring *r, const uint8_t *p, size_t size,
		     struct event_watch_hit *ret);
} readers[] = {
	{PERF_RECORD_SAMPLE, read_sample},
	{PERF_RECORD_LOST, read_lost},
};

/* Returns whether a hit was reported. */
static bool read_record(struct event_watch *t, struct trigger_ring *r, const uint8_t *p,
			const struct perf_event_header *hdr, event_watch_fn hit, void *arg)
{
	struct event_watch_hit what;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if (hdr->type != readers[i].type || !readers[i].read(t, r, p, hdr->size, &what))
			continue;
		hit(&what, arg);
		return what.what == TRIGGER_HAPPENED;
	}
	return false;
}

/*
 * Whether the ring was so full that records may be lost. The LOST record comes with the next record
 * of the ring, perhaps much later; this is known at once. The kernel loses a record only if there
 * is no room for it and for a LOST record before it.
 */
static bool is_full(const struct trigger_ring *r, size_t bytes)
{
	return r->open->data_size - bytes < sizeof(struct trigger_sample) + LOST_SIZE;
}

/*
 * Copies the ring's bytes and releases the ring at once, then reads them. Lost records are assumed
 * to be like those in the full ring: if all of these are of t->left_out, they are not reported
 * either, so that what the recorder does about a hit is not the next hit.
 */
static void take(struct event_watch *t, struct trigger_ring *r, event_watch_fn hit, void *arg)
{
	const struct event_watch_hit full = {
		.what = TRIGGER_FULL,
		.cpu = r->open->cpu < 0 ? UINT32_MAX : (uint32_t)r->open->cpu,
	};
	struct perf_event_header hdr;
	struct ring_spans spans;
	size_t n = ring_peek(&r->ring, &spans), at = 0;
	bool others = t->left_out < 0 && n;

	memcpy(t->records, spans.a, spans.a_len);
	memcpy(t->records + spans.a_len, spans.b, spans.b_len);
	ring_release(&r->ring, n);
	for (; pd_record_at(t->records + at, n - at, &hdr); at += hdr.size)
		if (read_record(t, r, t->records + at, &hdr, hit, arg))
			r->others = others = true;
	if (n)
		r->others = others;
	r->seen |= others;
	if (is_full(r, n))
		hit(&full, arg);
}

static void ask(struct event_watch *t, size_t ring, struct pollfd *polled, event_watch_fn hit,
		void *arg)
{
	struct trigger_ring *r = &t->rings[ring];

	take(t, r, hit, arg);
	/* The tasks of this event have ended; other events of the ring may have live ones. */
	if (polled->revents & (POLLHUP | POLLERR)) {
		r->polled++;
		polled->fd = polled_fd(r);
	}
}

void event_watch_ask(struct event_watch *t, struct pollfd *polled, event_watch_fn hit, void *arg)
{
	for (size_t i = 0; i < t->nr; i++)
		if (polled[i].revents)
			ask(t, i, &polled[i], hit, arg);
}

void event_watch_ask_all(struct event_watch *t, struct pollfd *polled, event_watch_fn hit,
			 void *arg)
{
	for (size_t i = 0; i < t->nr; i++)
		ask(t, i, &polled[i], hit, arg);
}

bool event_watch_pause(struct event_watch *t)
{
	bool any = false;

	for (size_t i = 0; i < t->nr; i++) {
		struct trigger_ring *r = &t->rings[i];

		if (r->seen && !r->paused)
			r->paused = !perf_event_pause_output(r->open->fds[0], true);
		r->seen = false;
		any |= r->paused;
	}
	return any;
}

/*
 * Reads the counts of the paused rings, or of all. If that fails, the next record reports the
 * losses.
 */
static void read_counts(struct event_watch *t, bool all)
{
	struct open_count count;

	for (size_t i = 0; i < t->nr; i++)
		t->rings[i].counted = 0;
	for (size_t i = 0; i < t->opened->nr_fds; i++) {
		const struct open_fd *f = &t->opened->fds[i];
		struct trigger_ring *r = t->by_open[f->ring];

		if (!r || !(all || r->paused))
			continue;
		if (!opened_count(f, t->plan, &count))
			r->counted += count.lost;
		else if (t->plan->events[f->event].attr.read_format & PERF_FORMAT_LOST)
			t->uncounted = true;
	}
}

static uint64_t unreported(struct trigger_ring *r, bool take)
{
	uint64_t n = r->counted > r->reported ? r->counted - r->reported : 0;

	if (take)
		r->reported += n;
	return r->others ? n : 0;
}

uint64_t event_watch_go_on(struct event_watch *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (t->rings[i].paused)
			perf_event_pause_output(t->rings[i].open->fds[0], false);
	read_counts(t, false);
	for (size_t i = 0; i < t->nr; i++) {
		if (t->rings[i].paused)
			sum += unreported(&t->rings[i], true);
		t->rings[i].paused = false;
	}
	return sum;
}

uint64_t event_watch_unreported(struct event_watch *t, bool take)
{
	uint64_t sum = 0;

	read_counts(t, true);
	for (size_t i = 0; i < t->nr; i++)
		sum += unreported(&t->rings[i], take);
	return sum;
}

bool event_watch_uncounted(const struct event_watch *t)
{
	return t->uncounted;
}

void event_watch_count(const struct event_watch_hit *hit, void *arg)
{
	struct event_watch_news *news = arg;

	news->fired += hit->times;
	if (hit->what != TRIGGER_HAPPENED || (news->known && hit->time < news->hit.time))
		return;
	news->hit = *hit;
	news->known = true;
}
