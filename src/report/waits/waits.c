// SPDX-License-Identifier: Apache-2.0
#include "report/waits/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/waits/sched_event.h"
#include "report/waits/tid_numbers.h"

#define KEEP_BYTES 4096		/* a larger buffer of a thread is freed after use */
#define MAX_KEPT   (256u << 20) /* bytes of all buffers */

/* A copy of a sample. */
struct kept {
	struct perf_event_header *bytes;
	size_t cap;
	struct data_record rec;
	bool is_set;
};

/* What is kept of a thread off a CPU, by its number in the pairing. */
struct kept_thread {
	struct kept out, wakeup;
	struct moment woken; /* of its wakeup */
};

struct waits_walker {
	struct trace *trace;
	const struct waits_opts *opts;
	walk_fn fn;
	void *arg;
	struct sched_events events;
	struct tid_numbers numbers;
	struct pairing pairing;
	struct kept_thread *threads;
	size_t nr_threads, cap_threads;
	size_t kept_bytes; /* of the buffers of all threads */
	bool by_task;	   /* switches to threads come as records */
	struct waits_counts counts;
	uint64_t periods; /* of the samples that are scaled */
	uint64_t last_time;
	uint64_t snapshot; /* for snapshots_gap() */
	bool counting;	   /* the first of two walks: nothing is given */
};

/* --- copies --------------------------------------------------------------------------------------
 */

static size_t most_kept(const struct waits_walker *w)
{
	return w->trace->opts.max_memory / 8 ?: MAX_KEPT;
}

/* Buffers of threads that have ended must not fill what there is for those that wait. */
static void forget(struct waits_walker *w, struct kept *k)
{
	k->is_set = false;
	if (k->cap * sizeof(*k->bytes) <= KEEP_BYTES && w->kept_bytes <= most_kept(w) / 2)
		return;
	w->kept_bytes -= k->cap * sizeof(*k->bytes);
	free(k->bytes);
	*k = (struct kept){0};
}

/* A thousand threads that wait with dumps of their stacks must not take the memory of a machine. */
static bool has_room(const struct waits_walker *w, const struct kept *k, size_t size)
{
	size_t has = k->cap * sizeof(*k->bytes);

	return size <= has || w->kept_bytes - has + size <= most_kept(w);
}

/* Copies the sample; without room for it there is no copy, and that is counted. */
static int keep(struct waits_walker *w, struct kept *k, const struct data_record *rec)
{
	size_t before = k->cap;
	int rc;

	if (!has_room(w, k, rec->hdr->size)) {
		forget(w, k);
		w->counts.unkept++;
		return 0;
	}
	rc = array_grow(&k->bytes, &k->cap, rec->hdr->size / sizeof(*k->bytes) + 1,
			sizeof(*k->bytes));
	if (rc)
		return rc;
	w->kept_bytes += (k->cap - before) * sizeof(*k->bytes);
	memcpy(k->bytes, rec->hdr, rec->hdr->size);
	k->rec = *rec;
	k->rec.hdr = k->bytes;
	k->is_set = true;
	return 0;
}

/* Decodes the copy. Returns false if there is none. */
static bool recall(const struct kept *k, struct walk_sample *ret)
{
	*ret = (struct walk_sample){.rec = &k->rec, .evsel = k->rec.evsel};
	return k->is_set && !pd_sample_decode(k->rec.hdr, k->rec.evsel, &ret->s, NULL);
}

static struct kept_thread *kept_of(struct waits_walker *w, uint32_t number)
{
	if (array_grow(&w->threads, &w->cap_threads, (size_t)number + 1, sizeof(*w->threads)))
		return NULL;
	while (w->nr_threads <= number)
		w->threads[w->nr_threads++] = (struct kept_thread){0};
	return &w->threads[number];
}

/* --- waits ---------------------------------------------------------------------------------------
 */

/* Gives the part of a wait from @since to @until. */
static int give_part(const struct waits_walker *w, struct walk_sample *ws, struct wait_info *info,
		     uint64_t since, uint64_t until)
{
	if (until <= since || !w->fn)
		return 0;
	info->since = since;
	info->ns = until - since;
	ws->wait = info;
	ws->s.period = info->ns;
	ws->evsel = w->counts.event;
	return w->fn(ws, w->arg);
}

static const char *comm_of(const struct waits_walker *w, struct pairing_waker waker,
			   struct moment at)
{
	return waker.tid == PAIRING_NONE ? NULL
					 : state_comm(w->trace->state, waker.pid, waker.tid, at);
}

/* Gives the parts of @wait as samples. */
static int give_wait(struct waits_walker *w, const struct wait *wait, const struct walk_sample *out,
		     struct kept_thread *kept)
{
	struct walk_sample ws = *out, wakeup;
	struct wait_info info = {
		.state = wait->state,
		.open = wait->open,
		.waker = wait->waker,
		.waker_comm = comm_of(w, wait->waker, kept->woken),
	};
	uint64_t woken = wait->can_run ? wait->since : wait->woken ?: wait->until;
	int rc;

	ws.s.time = wait->until;
	if (recall(&kept->wakeup, &wakeup))
		info.wakeup = &wakeup;
	woken = woken > wait->until ? wait->until : woken;
	rc = give_part(w, &ws, &info, wait->since, woken);
	info.on_queue = true;
	return rc ?: give_part(w, &ws, &info, woken, wait->until);
}

/* A wait of which no sample is known: of a new thread, or because it was lost. */
static void make_sample(const struct waits_walker *w, const struct wait *wait,
			struct data_record *rec, struct walk_sample *ret)
{
	uint32_t pid = wait->tid;

	*rec = (struct data_record){.evsel = w->counts.event, .at = {.time = wait->since}};
	state_pid(w->trace->state, wait->tid, rec->at, &pid);
	*ret = (struct walk_sample){
		.rec = rec,
		.evsel = w->counts.event,
		.s =
			{
				.type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				.cpumode = PERF_RECORD_MISC_KERNEL,
				.pid = pid,
				.tid = wait->tid,
				.cpu = wait->cpu,
			},
	};
}

static int take_wait(const struct wait *wait, void *arg)
{
	struct waits_walker *w = arg;
	struct kept_thread *kept = kept_of(w, wait->number);
	struct walk_sample out;
	struct data_record rec;
	int rc = 0;

	if (!kept)
		return -ENOMEM;
	if (w->counting)
		return 0;
	if (w->opts->wait)
		rc = w->opts->wait(wait, w->opts->arg);
	if (!recall(&kept->out, &out))
		make_sample(w, wait, &rec, &out);
	if (!rc)
		rc = give_wait(w, wait, &out, kept);
	forget(w, &kept->out);
	forget(w, &kept->wakeup);
	return rc;
}

static int take_run(const struct pairing_run *run, void *arg)
{
	struct waits_walker *w = arg;

	w->counts.ran_ns += run->until - run->since;
	return w->opts->run && !w->counting ? w->opts->run(run, w->opts->arg) : 0;
}

/* --- events --------------------------------------------------------------------------------------
 */

static int take_switch(struct waits_walker *w, const struct walk_sample *ws,
		       const struct sched_event *e)
{
	struct kept_thread *kept;
	uint32_t number;
	int rc = pairing_out(&w->pairing, e->tid, ws->s.cpu, ws->s.time, e->state, &number);

	if (!rc && number != PAIRING_NONE) {
		kept = kept_of(w, number);
		rc = kept ? keep(w, &kept->out, ws->rec) : -ENOMEM;
	}
	if (!rc && !w->by_task)
		rc = pairing_in(&w->pairing, e->next, ws->s.cpu, ws->s.time);
	return rc;
}

static int take_wakeup(struct waits_walker *w, const struct walk_sample *ws,
		       const struct sched_event *e)
{
	const struct pairing_waker waker = {ws->s.pid, ws->s.tid, e->interrupt};
	struct kept_thread *kept;
	uint32_t number;
	int rc = 0;

	if (e->kind == SCHED_EVENT_WAKEUP_NEW && !w->by_task)
		rc = pairing_born(&w->pairing, e->tid, ws->s.time);
	if (!rc)
		rc = pairing_wake(&w->pairing, e->tid, ws->s.time, waker, &number);
	if (rc || number == PAIRING_NONE)
		return rc;
	kept = kept_of(w, number);
	if (!kept)
		return -ENOMEM;
	kept->woken = ws->rec->at;
	return w->opts->waker_stacks && !w->counting ? keep(w, &kept->wakeup, ws->rec) : 0;
}

/* The greatest period is that of a damaged sample. */
static uint64_t scale(uint64_t period, double by)
{
	double scaled = (double)period * by + 0.5;

	if (by == 1)
		return period;
	return scaled < (double)UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

/* A sample of what ran, in one view with waits. CPUs without work are no time of a thread. */
static int take_running(struct waits_walker *w, const struct walk_sample *ws)
{
	struct walk_sample scaled = *ws;

	if (!w->opts->wall || ws->evsel != w->counts.event || (ws->s.pid == 0 && ws->s.tid == 0))
		return 0;
	if (w->counting) {
		w->periods += ws->s.period;
		return 0;
	}
	scaled.s.period = scale(ws->s.period, w->counts.scale);
	return w->fn ? w->fn(&scaled, w->arg) : 0;
}

/* Between two snapshots threads did what nobody kept. */
static int note_gap(struct waits_walker *w, const struct data_record *rec)
{
	return snapshots_gap(&w->trace->snapshots, rec, &w->snapshot)
		       ? pairing_gap(&w->pairing, w->last_time)
		       : 0;
}

static int take_sample(const struct walk_sample *ws, void *arg)
{
	struct waits_walker *w = arg;
	struct sched_event e;
	int rc = 0;

	if (!ws->evsel)
		return 0;
	if (!ws->made)
		rc = note_gap(w, ws->rec);
	if (ws->s.time > w->last_time)
		w->last_time = ws->s.time;
	if (!rc && w->opts->sample && !w->counting)
		rc = w->opts->sample(ws, w->opts->arg);
	if (rc)
		return rc;
	sched_event_read(&w->events, ws, &e);
	rc = tid_numbers_translate(&w->numbers, ws->s.tid, &e);
	if (rc)
		return rc;
	switch (e.kind) {
	case SCHED_EVENT_SWITCH: return take_switch(w, ws, &e);
	case SCHED_EVENT_WAKEUP:
	case SCHED_EVENT_WAKEUP_NEW: return take_wakeup(w, ws, &e);
	default: return take_running(w, ws);
	}
}

static int take_switch_record(struct waits_walker *w, const struct data_record *rec,
			      const struct pd_record *r)
{
	struct kept_thread *kept;
	uint32_t number;
	int rc;

	if (!r->cswitch.out)
		return pairing_in(&w->pairing, r->id.tid, r->id.cpu, rec->time);
	rc = pairing_out_record(&w->pairing, r->id.tid, r->id.cpu, rec->time, r->cswitch.preempt,
				&number);
	if (rc || number == PAIRING_NONE)
		return rc;
	kept = kept_of(w, number);
	if (!kept)
		return -ENOMEM;
	forget(w, &kept->out);
	return 0;
}

static int take_record(const struct data_record *rec, const struct pd_record *r, void *arg)
{
	struct waits_walker *w = arg;
	int rc = w->opts->record && !w->counting ? w->opts->record(rec, r, w->opts->arg) : 0;

	/* What existed before the recording has no time. */
	if (rc || !rec->time)
		return rc;
	rc = note_gap(w, rec);
	if (rc)
		return rc;
	switch (rec->hdr->type) {
	case PERF_RECORD_SWITCH: return take_switch_record(w, rec, r);
	case PERF_RECORD_FORK: return pairing_born(&w->pairing, r->task.tid, rec->time);
	case PERF_RECORD_EXIT: return pairing_exit(&w->pairing, r->task.tid, rec->time);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: pairing_lost(&w->pairing); return 0;
	default: return 0;
	}
}

/* --- the whole -----------------------------------------------------------------------------------
 */

bool waits_clock(const struct pd_evsel *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE && (e->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
						      e->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

static uint64_t samples_of(const struct trace *t, size_t event)
{
	return event < t->counts.nr_events ? t->counts.by_event[event].samples : 0;
}

/* Returns the event that all samples are given as. NULL: there is none. */
static const struct pd_evsel *choose_event(const struct waits_walker *w)
{
	const struct pd_evlist *list = w->trace->evlist;
	const struct pd_evsel *other = NULL, *switches = NULL;

	for (size_t i = 0; i < pd_evlist_count(list); i++) {
		const struct pd_evsel *e = pd_evlist_at(list, i);

		if (w->events.kinds[i] == SCHED_EVENT_SWITCH)
			switches = e;
		if (!w->opts->wall || !samples_of(w->trace, i))
			continue;
		if (waits_clock(e))
			return e;
		if (!other && e->attr.type != PERF_TYPE_TRACEPOINT)
			other = e;
	}
	return other ?: switches;
}

static void reset(struct waits_walker *w)
{
	for (size_t i = 0; i < w->nr_threads; i++) {
		free(w->threads[i].out.bytes);
		free(w->threads[i].wakeup.bytes);
	}
	free(w->threads);
	w->threads = NULL;
	w->nr_threads = w->cap_threads = w->kept_bytes = 0;
	pairing_release(&w->pairing);
	tid_numbers_release(&w->numbers);
	w->pairing = (struct pairing){.takers = {take_wait, take_run, w}};
	w->counts.ran_ns = w->counts.unkept = 0;
	w->snapshot = w->last_time = 0;
}

static int walk_once(struct waits_walker *w, struct error *err)
{
	const struct walk_takers takers = {.sample = take_sample, .record = take_record, .arg = w};
	int rc;

	reset(w);
	rc = walk_ordered(w->trace, &takers, err);
	if (!rc) {
		rc = pairing_end(&w->pairing, w->last_time);
		if (rc)
			error_sys(err, rc, "%s", w->trace->opts.path);
	}
	w->counts.pairing = w->pairing.counts;
	return rc;
}

/* Finds what a period of an event that is no clock is worth. */
static int find_scale(struct waits_walker *w, struct error *err)
{
	int rc = 0;

	w->counts.scale = 1;
	if (!w->opts->wall || waits_clock(w->counts.event))
		return 0;
	w->counting = true;
	rc = walk_once(w, err);
	w->counting = false;
	if (w->periods)
		w->counts.scale = (double)w->counts.ran_ns / (double)w->periods;
	return rc;
}

int waits_walk(struct trace *t, const struct waits_opts *opts, walk_fn fn, void *arg,
	       struct waits_counts *ret, struct error *err)
{
	struct waits_walker w = {.trace = t, .opts = opts, .fn = fn, .arg = arg};
	int rc = sched_events_init(&w.events, t);

	w.by_task = t->counts.by_type[PERF_RECORD_SWITCH];
	if (rc)
		error_sys(err, rc, "%s", t->opts.path);
	else
		rc = waits_check(t, err);
	if (!rc) {
		w.counts.event = choose_event(&w);
		w.counts.wakeups = w.events.wakeups;
		rc = find_scale(&w, err);
	}
	if (!rc)
		rc = walk_once(&w, err);
	if (!rc)
		*ret = w.counts;
	reset(&w);
	sched_events_release(&w.events);
	return rc;
}

int waits_check(const struct trace *t, struct error *err)
{
	struct sched_events events;
	bool follows_tasks = false;
	int rc = sched_events_init(&events, t);

	if (rc)
		return error_sys(err, rc, "%s", t->opts.path);
	for (size_t i = 0; i < events.nr; i++)
		follows_tasks |= events.kinds[i] == SCHED_EVENT_SWITCH &&
				 pd_evlist_at(t->evlist, i)->attr.flags & PD_ATTR_ENABLE_ON_EXEC;
	if (!events.switches)
		rc = error_set(
			err, -ENOENT,
			"%s: the recording has no samples of sched:sched_switch: record with "
			"'ringtail record --off-cpu'",
			t->opts.path);
	else if (follows_tasks && !t->counts.by_type[PERF_RECORD_SWITCH])
		rc = error_set(err, -ENOENT,
			       "%s: the recording follows tasks and does not say when they ran "
			       "again: record with 'ringtail record --off-cpu', or whole CPUs (-a)",
			       t->opts.path);
	sched_events_release(&events);
	return rc;
}
