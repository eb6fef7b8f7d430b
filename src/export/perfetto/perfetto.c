// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/perfetto/fields.h"
#include "export/perfetto/interned.h"
#include "export/stream/threads.h"

/* Sequences of packets. */
enum { SEQUENCE_RECORDING = 1, SEQUENCE_EVENTS };
/* Ids of tracks: of the recording, and the first of counters and of threads. */
#define TRACK_RECORDING 1
#define TRACK_COUNTERS	(UINT64_C(1) << 32)
#define TRACK_THREADS	(UINT64_C(2) << 32)

/* Keys have no padding. */
struct perfetto_counter {
	uint32_t name; /* number in @names */
	uint32_t cpu;
};

struct perfetto_sum {
	uint32_t event, cpu;
};

/* What the trace says of a thread, by its number. */
struct perfetto_thread {
	uint32_t name; /* the last one written; INTERN_NONE: none */
	bool has_track;
};

struct perfetto {
	const struct export_job *job;
	struct perfetto_interned interned;
	struct export_threads threads;
	struct perfetto_thread *written; /* by thread */
	size_t nr_written, cap_written;
	struct intern_strings names; /* of counters */
	struct intern counters, sums, sequences;
	uint64_t *periods; /* by sum */
	size_t cap_periods;
	struct proto packet, fresh;
	struct buf text;
};

/* --- packets -------------------------------------------------------------------------------------
 */

static size_t begin_packet(struct perfetto *w, uint32_t sequence, uint64_t time, uint32_t flags)
{
	size_t begin = proto_begin(&w->packet, TRACE_PACKET);

	proto_set(&w->packet, PACKET_TIMESTAMP, time);
	proto_uint(&w->packet, PACKET_SEQUENCE, sequence);
	proto_uint(&w->packet, PACKET_SEQUENCE_FLAGS, flags);
	return begin;
}

static int end_packet(struct perfetto *w, size_t begin)
{
	proto_end(&w->packet, begin);
	return proto_write(&w->packet, w->job->out);
}

static void put_text(struct perfetto *w, unsigned int field, const char *s)
{
	proto_bytes(&w->packet, field, s, strlen(s));
}

/* Writes a name that a recording has. */
static int put_name(struct perfetto *w, unsigned int field, const char *s)
{
	int rc = export_name(s, &w->text);

	if (!rc)
		proto_bytes(&w->packet, field, w->text.data, w->text.len);
	return rc;
}

static int put_comm(struct perfetto *w, unsigned int field, const struct timeline_task *task)
{
	int rc = export_comm(task->comm, task->tid, &w->text);

	if (!rc)
		proto_bytes(&w->packet, field, w->text.data, w->text.len);
	return rc;
}

/* --- threads -------------------------------------------------------------------------------------
 */

/* Writes the name of a thread; that of a process is the name of its first thread. */
static int put_tree(struct perfetto *w, uint32_t thread, uint64_t time)
{
	const struct export_thread *key = export_thread_at(&w->threads, thread);
	size_t len, packet, tree, part;
	const char *name = export_thread_name(&w->threads, thread, &len);

	packet = begin_packet(w, SEQUENCE_RECORDING, time, 0);
	tree = proto_begin(&w->packet, PACKET_PROCESS_TREE);
	if (key->pid == key->tid) {
		part = proto_begin(&w->packet, TREE_PROCESSES);
		proto_uint(&w->packet, PROCESS_PID, key->pid);
		proto_bytes(&w->packet, PROCESS_CMDLINE, name, len);
		proto_end(&w->packet, part);
	}
	part = proto_begin(&w->packet, TREE_THREADS);
	proto_uint(&w->packet, THREAD_TID, key->tid);
	proto_bytes(&w->packet, THREAD_NAME, name, len);
	proto_uint(&w->packet, THREAD_TGID, key->pid);
	proto_end(&w->packet, part);
	proto_end(&w->packet, tree);
	return end_packet(w, packet);
}

/* Notes a thread, and writes its name if it is new. Sets *@ret to its number. */
static int put_thread(struct perfetto *w, const struct timeline_task *task, uint64_t time,
		      uint32_t *ret)
{
	uint32_t thread = export_thread_put(&w->threads, task->pid, task->tid, task->comm);
	struct perfetto_thread *written;

	if (thread == INTERN_NONE ||
	    array_grow(&w->written, &w->cap_written, (size_t)thread + 1, sizeof(*w->written)))
		return -ENOMEM;
	if (thread == w->nr_written)
		w->written[w->nr_written++] = (struct perfetto_thread){.name = INTERN_NONE};
	*ret = thread;
	written = &w->written[thread];
	/* Thread 0 is the idle one of each CPU. */
	if (!task->tid || task->tid == TIMELINE_NONE || written->name == w->threads.newest[thread])
		return 0;
	written->name = w->threads.newest[thread];
	return put_tree(w, thread, time);
}

/* --- samples -------------------------------------------------------------------------------------
 */

/* Begins the sequence of an event. */
static int put_defaults(struct perfetto *w, const struct pd_evsel *event, uint64_t time)
{
	size_t packet = begin_packet(w, SEQUENCE_EVENTS + event->index, time, SEQUENCE_BEGINS);
	size_t defaults = proto_begin(&w->packet, PACKET_DEFAULTS);
	size_t sample = proto_begin(&w->packet, DEFAULTS_PERF_SAMPLE);
	size_t timebase = proto_begin(&w->packet, SAMPLE_DEFAULTS_TIMEBASE);
	bool by_frequency = event->attr.flags & PD_ATTR_FREQ;
	int rc;

	proto_uint(&w->packet, by_frequency ? TIMEBASE_FREQUENCY : TIMEBASE_PERIOD,
		   event->attr.sample_period);
	rc = put_name(w, TIMEBASE_NAME, event->name);
	proto_end(&w->packet, timebase);
	proto_end(&w->packet, sample);
	proto_end(&w->packet, defaults);
	return rc ?: end_packet(w, packet);
}

static int begin_sequence(struct perfetto *w, const struct pd_evsel *event, uint64_t time)
{
	const uint32_t key = event->index;
	uint32_t known = intern_count(&w->sequences), at = intern_put(&w->sequences, &key);

	if (at == INTERN_NONE)
		return -ENOMEM;
	return at == known ? put_defaults(w, event, time) : 0;
}

/* Adds a period to what its event has counted on its CPU. */
static int count_period(struct perfetto *w, const struct export_sample *s, uint64_t *ret)
{
	const struct perfetto_sum key = {s->ws->evsel->index, s->ws->s.cpu};
	uint32_t known = intern_count(&w->sums), at = intern_put(&w->sums, &key);

	if (at == INTERN_NONE ||
	    array_grow(&w->periods, &w->cap_periods, (size_t)at + 1, sizeof(*w->periods)))
		return -ENOMEM;
	if (at == known)
		w->periods[at] = 0;
	w->periods[at] += s->ws->s.period;
	*ret = w->periods[at];
	return 0;
}

static uint64_t mode_of(uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL: return MODE_KERNEL;
	case PERF_RECORD_MISC_USER: return MODE_USER;
	case PERF_RECORD_MISC_HYPERVISOR: return MODE_HYPERVISOR;
	case PERF_RECORD_MISC_GUEST_KERNEL: return MODE_GUEST_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER: return MODE_GUEST_USER;
	default: return MODE_UNKNOWN;
	}
}

static int perfetto_sample(void *writer, const struct export_sample *s)
{
	struct perfetto *w = writer;
	const struct pd_sample *p = &s->ws->s;
	const struct timeline_task task = {.pid = p->pid, .tid = p->tid, .comm = s->comm};
	uint32_t sequence = SEQUENCE_EVENTS + s->ws->evsel->index, thread;
	uint64_t stack, count;
	size_t packet, sample;
	int rc = put_thread(w, &task, p->time, &thread);

	rc = rc ?: begin_sequence(w, s->ws->evsel, p->time);
	rc = rc ?: perfetto_callstack(&w->interned, sequence, s, &w->fresh, &stack);
	rc = rc ?: count_period(w, s, &count);
	if (rc || w->fresh.rc)
		return rc ?: w->fresh.rc;
	packet = begin_packet(w, sequence, p->time, SEQUENCE_GOES_ON);
	if (w->fresh.b.len)
		proto_bytes(&w->packet, PACKET_INTERNED_DATA, w->fresh.b.data, w->fresh.b.len);
	w->fresh.b.len = 0;
	sample = proto_begin(&w->packet, PACKET_PERF_SAMPLE);
	if (p->cpu != TIMELINE_NONE)
		proto_set(&w->packet, SAMPLE_CPU, p->cpu);
	proto_set(&w->packet, SAMPLE_PID, p->pid);
	proto_set(&w->packet, SAMPLE_TID, p->tid);
	proto_uint(&w->packet, SAMPLE_CALLSTACK, stack);
	proto_uint(&w->packet, SAMPLE_MODE, mode_of(p->cpumode));
	proto_uint(&w->packet, SAMPLE_COUNT, count);
	proto_end(&w->packet, sample);
	return end_packet(w, packet);
}

/* --- what happened beside samples ----------------------------------------------------------------
 */

/* Begins an event of ftrace; @at receives where its parts begin. */
static void begin_ftrace(struct perfetto *w, const struct timeline_event *e, unsigned int kind,
			 size_t at[4])
{
	at[0] = begin_packet(w, SEQUENCE_RECORDING, e->time, 0);
	at[1] = proto_begin(&w->packet, PACKET_FTRACE_EVENTS);
	if (e->cpu != TIMELINE_NONE)
		proto_set(&w->packet, BUNDLE_CPU, e->cpu);
	at[2] = proto_begin(&w->packet, BUNDLE_EVENT);
	proto_set(&w->packet, FTRACE_TIMESTAMP, e->time);
	proto_set(&w->packet, FTRACE_PID, e->task.tid);
	at[3] = proto_begin(&w->packet, kind);
}

static int end_ftrace(struct perfetto *w, const size_t at[4])
{
	for (int i = 3; i; i--)
		proto_end(&w->packet, at[i]);
	return end_packet(w, at[0]);
}

static int put_switch(struct perfetto *w, const struct timeline_event *e)
{
	size_t at[4];
	int rc;

	begin_ftrace(w, e, FTRACE_SWITCH, at);
	rc = put_comm(w, SWITCH_PREV_COMM, &e->task);
	proto_set(&w->packet, SWITCH_PREV_PID, e->task.tid);
	proto_set(&w->packet, SWITCH_PREV_PRIO, (uint64_t)e->task.prio);
	proto_set(&w->packet, SWITCH_PREV_STATE, (uint64_t)e->state);
	rc = rc ?: put_comm(w, SWITCH_NEXT_COMM, &e->other);
	proto_set(&w->packet, SWITCH_NEXT_PID, e->other.tid);
	proto_set(&w->packet, SWITCH_NEXT_PRIO, (uint64_t)e->other.prio);
	return rc ?: end_ftrace(w, at);
}

static int put_wakeup(struct perfetto *w, const struct timeline_event *e)
{
	unsigned int kind = FTRACE_WAKING;
	size_t at[4];
	int rc;

	if (!strcmp(e->name, "sched_wakeup"))
		kind = FTRACE_WAKEUP;
	else if (!strcmp(e->name, "sched_wakeup_new"))
		kind = FTRACE_WAKEUP_NEW;
	begin_ftrace(w, e, kind, at);
	rc = put_comm(w, WAKEUP_COMM, &e->other);
	proto_set(&w->packet, WAKEUP_PID, e->other.tid);
	proto_set(&w->packet, WAKEUP_PRIO, (uint64_t)e->other.prio);
	proto_set(&w->packet, WAKEUP_SUCCESS, 1);
	if (e->target_cpu != TIMELINE_NONE)
		proto_set(&w->packet, WAKEUP_TARGET_CPU, e->target_cpu);
	return rc ?: end_ftrace(w, at);
}

/* Writes the track of a counter: events of a name on a CPU. */
static int put_counter_track(struct perfetto *w, const struct timeline_event *e, uint64_t uuid)
{
	size_t packet = begin_packet(w, SEQUENCE_RECORDING, e->time, SEQUENCE_GOES_ON);
	size_t track = proto_begin(&w->packet, PACKET_TRACK_DESCRIPTOR), counter;
	int rc = export_name(e->name, &w->text);

	if (!rc && e->cpu != TIMELINE_NONE)
		rc = buf_printf(&w->text, " of CPU %u", e->cpu);
	if (rc)
		return rc;
	proto_uint(&w->packet, TRACK_UUID, uuid);
	proto_bytes(&w->packet, TRACK_NAME, w->text.data, w->text.len);
	counter = proto_begin(&w->packet, TRACK_COUNTER);
	proto_uint(&w->packet, COUNTER_UNIT, UNIT_COUNT);
	proto_end(&w->packet, counter);
	proto_end(&w->packet, track);
	return end_packet(w, packet);
}

static int put_counter(struct perfetto *w, const struct timeline_event *e)
{
	struct perfetto_counter key = {.name = intern_string(&w->names, e->name, strlen(e->name)),
				       .cpu = e->cpu};
	uint32_t known = intern_count(&w->counters), number;
	size_t packet, event;
	int rc;

	number = key.name == INTERN_NONE ? INTERN_NONE : intern_put(&w->counters, &key);
	if (number == INTERN_NONE)
		return -ENOMEM;
	rc = number == known ? put_counter_track(w, e, TRACK_COUNTERS + number) : 0;
	if (rc)
		return rc;
	packet = begin_packet(w, SEQUENCE_RECORDING, e->time, SEQUENCE_GOES_ON);
	event = proto_begin(&w->packet, PACKET_TRACK_EVENT);
	proto_uint(&w->packet, EVENT_TYPE, TYPE_COUNTER);
	proto_uint(&w->packet, EVENT_TRACK, TRACK_COUNTERS + number);
	proto_set(&w->packet, EVENT_COUNTER_VALUE, e->value);
	proto_end(&w->packet, event);
	return end_packet(w, packet);
}

/* Writes the track of a thread; or, if @thread is INTERN_NONE, that of the recording. */
static int put_track(struct perfetto *w, uint32_t thread, uint64_t time)
{
	size_t packet = begin_packet(w, SEQUENCE_RECORDING, time, SEQUENCE_GOES_ON), part;
	size_t track = proto_begin(&w->packet, PACKET_TRACK_DESCRIPTOR);

	if (thread == INTERN_NONE) {
		proto_uint(&w->packet, TRACK_UUID, TRACK_RECORDING);
		put_text(w, TRACK_NAME, "recording");
	} else {
		const struct export_thread *key = export_thread_at(&w->threads, thread);
		size_t len;
		const char *name = export_thread_name(&w->threads, thread, &len);

		proto_uint(&w->packet, TRACK_UUID, TRACK_THREADS + thread);
		part = proto_begin(&w->packet, TRACK_THREAD);
		proto_set(&w->packet, TRACK_THREAD_PID, key->pid);
		proto_set(&w->packet, TRACK_THREAD_TID, key->tid);
		proto_bytes(&w->packet, TRACK_THREAD_NAME, name, len);
		proto_end(&w->packet, part);
	}
	proto_end(&w->packet, track);
	return end_packet(w, packet);
}

/* Writes a mark as an instant. @thread is INTERN_NONE if it belongs to no thread. */
static int put_mark(struct perfetto *w, const struct timeline_event *e, uint32_t thread)
{
	size_t packet, event, annotation;
	int rc = 0;

	if (thread != INTERN_NONE && !w->written[thread].has_track) {
		w->written[thread].has_track = true;
		rc = put_track(w, thread, e->time);
	}
	if (rc)
		return rc;
	packet = begin_packet(w, SEQUENCE_RECORDING, e->time, SEQUENCE_GOES_ON);
	event = proto_begin(&w->packet, PACKET_TRACK_EVENT);
	proto_uint(&w->packet, EVENT_TYPE, TYPE_INSTANT);
	proto_uint(&w->packet, EVENT_TRACK,
		   thread == INTERN_NONE ? TRACK_RECORDING : TRACK_THREADS + thread);
	put_text(w, EVENT_CATEGORIES, "ringtail");
	put_text(w, EVENT_NAME, e->name);
	if (*e->text) {
		annotation = proto_begin(&w->packet, EVENT_ANNOTATIONS);
		put_text(w, ANNOTATION_NAME, "detail");
		rc = put_name(w, ANNOTATION_STRING, e->text);
		proto_end(&w->packet, annotation);
	}
	proto_end(&w->packet, event);
	return rc ?: end_packet(w, packet);
}

static int perfetto_event(void *writer, const struct timeline_event *e)
{
	struct perfetto *w = writer;
	uint32_t thread = INTERN_NONE, other;
	int rc = 0;

	if (e->task.tid != TIMELINE_NONE)
		rc = put_thread(w, &e->task, e->time, &thread);
	if (!rc && e->other.tid != TIMELINE_NONE)
		rc = put_thread(w, &e->other, e->time, &other);
	if (rc)
		return rc;
	switch (e->kind) {
	case TIMELINE_SWITCH: return put_switch(w, e);
	case TIMELINE_WAKEUP: return put_wakeup(w, e);
	case TIMELINE_COUNTER: return put_counter(w, e);
	case TIMELINE_MARK: return put_mark(w, e, e->task.tid ? thread : INTERN_NONE);
	}
	return 0;
}

/* --- beginning and end ---------------------------------------------------------------------------
 */

static void put_clock(struct perfetto *w, uint32_t clock, uint64_t time)
{
	size_t begin = proto_begin(&w->packet, SNAPSHOT_CLOCKS);

	proto_uint(&w->packet, CLOCK_ID, clock);
	proto_set(&w->packet, CLOCK_TIMESTAMP, time);
	proto_end(&w->packet, begin);
}

/* Returns Perfetto's number of the clock that the recording was made with. */
static uint32_t clock_of(const struct pd_evlist *list)
{
	const struct pd_attr *attr = pd_evlist_count(list) ? &pd_evlist_at(list, 0)->attr : NULL;

	if (!attr || !(attr->flags & PD_ATTR_USE_CLOCKID))
		return OF_PERF;
	switch (attr->clockid) {
	case CLOCK_REALTIME: return OF_REALTIME;
	case CLOCK_MONOTONIC: return OF_MONOTONIC;
	case CLOCK_MONOTONIC_RAW: return OF_MONOTONIC_RAW;
	case CLOCK_BOOTTIME: return OF_BOOTTIME;
	default: return OF_PERF;
	}
}

/*
 * Times are those of the recording's clock. Events of ftrace can name no clock, and readers take
 * their times for BOOTTIME. So the snapshot says that this clock and the recording's are the same.
 */
static int put_snapshot(struct perfetto *w)
{
	const struct trace *t = w->job->trace;
	uint32_t clock = clock_of(t->evlist);
	uint64_t now = t->counts.first_time;
	struct pd_clock_data data;
	const uint8_t *p;
	size_t len, packet, snapshot;
	bool has_wall = clock != OF_REALTIME && !data_feature(t->df, HEADER_CLOCK_DATA, &p, &len) &&
			!pd_feature_clock_data_decode(p, len, data_swapped(t->df), &data);

	now = has_wall ? data.clockid_time_ns : now;
	packet = begin_packet(w, SEQUENCE_RECORDING, now, SEQUENCE_BEGINS);
	snapshot = proto_begin(&w->packet, PACKET_CLOCK_SNAPSHOT);
	put_clock(w, OF_BOOTTIME, now);
	if (clock != OF_BOOTTIME)
		put_clock(w, clock, now);
	if (has_wall)
		put_clock(w, OF_REALTIME, data.wall_clock_ns);
	proto_uint(&w->packet, SNAPSHOT_PRIMARY, OF_BOOTTIME);
	proto_end(&w->packet, snapshot);
	return end_packet(w, packet);
}

/* Readers know the letters of prev_state by the kernel's release. */
static int put_system(struct perfetto *w)
{
	const struct trace *t = w->job->trace;
	size_t packet = begin_packet(w, SEQUENCE_RECORDING, t->counts.first_time, 0);
	size_t system = proto_begin(&w->packet, PACKET_SYSTEM_INFO);
	size_t name = proto_begin(&w->packet, SYSTEM_UTSNAME);
	int rc = 0;

	put_text(w, UTSNAME_SYSNAME, "Linux");
	if (t->osrelease)
		rc = put_name(w, UTSNAME_RELEASE, t->osrelease);
	if (!rc && t->arch)
		rc = put_name(w, UTSNAME_MACHINE, t->arch);
	proto_end(&w->packet, name);
	proto_end(&w->packet, system);
	return rc ?: end_packet(w, packet);
}

static int perfetto_open(const struct export_job *job, void **ret)
{
	struct perfetto *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct perfetto){
		.job = job,
		.interned = PERFETTO_INTERNED_INIT,
		.threads = EXPORT_THREADS_INIT,
		.counters = {.size = sizeof(struct perfetto_counter)},
		.sums = {.size = sizeof(struct perfetto_sum)},
		.sequences = {.size = sizeof(uint32_t)},
	};
	*ret = w;
	return put_snapshot(w) ?: put_system(w) ?: put_track(w, INTERN_NONE, job->trace->counts.first_time);
}

static int perfetto_close(void *writer)
{
	const struct perfetto *w = writer;

	return w->job->out->rc;
}

static void perfetto_free(void *writer)
{
	struct perfetto *w = writer;

	if (!w)
		return;
	perfetto_interned_release(&w->interned);
	export_threads_release(&w->threads);
	intern_strings_release(&w->names);
	intern_release(&w->counters);
	intern_release(&w->sums);
	intern_release(&w->sequences);
	proto_release(&w->packet);
	proto_release(&w->fresh);
	buf_release(&w->text);
	free(w->written);
	free(w->periods);
	free(w);
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.about = "ui.perfetto.dev and trace_processor: the protobuf form",
	.binary = true,
	.open = perfetto_open,
	.sample = perfetto_sample,
	.event = perfetto_event,
	.close = perfetto_close,
	.free = perfetto_free,
};
