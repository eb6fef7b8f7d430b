// SPDX-License-Identifier: Apache-2.0
#include "export/firefox/firefox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/firefox/tables.h"
#include "export/stream/threads.h"
#include "export/wire/json_out.h"
#include "export/wire/spool.h"

#define NS_PER_MS     1000000
#define NO_THREAD     UINT32_MAX /* id of the thread that stands for the recording */
#define MARK_INSTANT  0
#define MARK_INTERVAL 1

struct firefox_sample {
	uint64_t time, weight;
	uint32_t stack; /* INTERN_NONE: without frames */
	uint32_t unused[3];
};

struct firefox_mark {
	uint64_t time, end;
	uint32_t name, detail; /* strings */
	uint32_t is_interval, unused;
};

/* What a thread has. */
struct firefox_thread {
	uint32_t samples, marks;
};

struct firefox {
	const struct export_job *job;
	struct firefox_tables tables;
	struct export_threads names;
	struct firefox_thread *threads; /* by number in @names */
	size_t nr_threads, cap_threads;
	struct spool samples, marks;  /* a lane for each thread */
	const struct pd_evsel *evsel; /* of the samples */
	uint64_t first_time;
	bool has_time, begun; /* @begun: the current array has an item */
	uint64_t last_time;   /* in the current array */
};

/* --- samples and marks ---------------------------------------------------------------------------
 */

static void see_time(struct firefox *w, uint64_t time)
{
	if (!w->has_time || time < w->first_time)
		w->first_time = time;
	w->has_time = true;
}

/* Returns the number of a thread, or INTERN_NONE. */
static uint32_t put_thread(struct firefox *w, uint32_t pid, uint32_t tid, const char *comm)
{
	uint32_t thread = export_thread_put(&w->names, pid, tid, comm);

	if (thread == INTERN_NONE ||
	    array_grow(&w->threads, &w->cap_threads, (size_t)thread + 1, sizeof(*w->threads)))
		return INTERN_NONE;
	if (thread == w->nr_threads)
		w->threads[w->nr_threads++] = (struct firefox_thread){0};
	return thread;
}

static int firefox_take_sample(void *writer, const struct export_sample *s)
{
	struct firefox *w = writer;
	const struct pd_sample *p = &s->ws->s;
	uint32_t thread = put_thread(w, p->pid, p->tid, s->comm);
	struct firefox_sample item = {.time = p->time, .weight = p->period};
	int rc = thread == INTERN_NONE ? -ENOMEM : firefox_stack(&w->tables, s, &item.stack);

	if (rc)
		return rc;
	w->evsel = s->ws->evsel;
	see_time(w, p->time);
	w->threads[thread].samples++;
	return spool_add(&w->samples, thread, &item, sizeof(item));
}

/* Adds a mark, whose detail is the text in the tables. */
static int put_mark(struct firefox *w, const struct timeline_task *task, struct firefox_mark *mark,
		    const char *name)
{
	bool global = task->tid == TIMELINE_NONE;
	uint32_t thread =
		put_thread(w, global ? NO_THREAD : task->pid, global ? NO_THREAD : task->tid,
			   global ? "[recording]" : task->comm);

	mark->detail = firefox_string(&w->tables);
	if (thread == INTERN_NONE || mark->detail == INTERN_NONE ||
	    export_name(name, &w->tables.text))
		return -ENOMEM;
	mark->name = firefox_string(&w->tables);
	if (mark->name == INTERN_NONE)
		return -ENOMEM;
	see_time(w, mark->time);
	w->threads[thread].marks++;
	return spool_add(&w->marks, thread, mark, sizeof(*mark));
}

static int put_switch(struct firefox *w, const struct timeline_event *e)
{
	struct firefox_mark mark = {.time = e->time, .end = e->time};
	struct buf *text = &w->tables.text;

	if (!e->task.tid) /* a CPU without work */
		return 0;
	if (e->since && e->since < e->time) {
		mark.time = e->since;
		mark.is_interval = true;
	}
	if (export_comm(e->other.comm, e->other.tid, text) ||
	    buf_printf(text, " follows; CPU %d, state %c", (int)e->cpu,
		       timeline_state_letter(e->state)))
		return -ENOMEM;
	return put_mark(w, &e->task, &mark, mark.is_interval ? "running" : "leaves CPU");
}

static int put_wakeup(struct firefox *w, const struct timeline_event *e)
{
	struct firefox_mark mark = {.time = e->time, .end = e->time};
	struct buf *text = &w->tables.text;

	if (export_comm(e->other.comm, e->other.tid, text) ||
	    buf_printf(text, " (%d)", (int)e->other.tid))
		return -ENOMEM;
	return put_mark(w, &e->task, &mark, e->name);
}

static int firefox_take_event(void *writer, const struct timeline_event *e)
{
	struct firefox *w = writer;
	struct firefox_mark mark = {.time = e->time, .end = e->time};

	switch (e->kind) {
	case TIMELINE_SWITCH: return put_switch(w, e);
	case TIMELINE_WAKEUP: return put_wakeup(w, e);
	case TIMELINE_COUNTER: return 0;
	case TIMELINE_MARK: break;
	}
	return export_name(e->text, &w->tables.text) ? -ENOMEM
						     : put_mark(w, &e->task, &mark, e->name);
}

/* --- output --------------------------------------------------------------------------------------
 */

/* Writes nanoseconds as milliseconds. */
static void put_time(struct firefox *w, uint64_t ns)
{
	out_printf(w->job->out, "%s%" PRIu64 ".%06u", w->begun ? "," : "", ns / NS_PER_MS,
		   (unsigned int)(ns % NS_PER_MS));
	w->begun = true;
}

static void put_number(struct firefox *w, uint64_t n)
{
	out_printf(w->job->out, w->begun ? ",%" PRIu64 : "%" PRIu64, n);
	w->begun = true;
}

static int put_delta(const void *item, void *writer)
{
	const struct firefox_sample *s = item;
	struct firefox *w = writer;
	uint64_t time = s->time - w->first_time;

	put_time(w, time > w->last_time ? time - w->last_time : 0);
	w->last_time = time > w->last_time ? time : w->last_time;
	return w->job->out->rc;
}

static int put_stack(const void *item, void *writer)
{
	const struct firefox_sample *s = item;
	struct firefox *w = writer;

	if (s->stack != INTERN_NONE)
		put_number(w, s->stack);
	else
		out_puts(w->job->out, w->begun ? ",null" : "null");
	w->begun = true;
	return w->job->out->rc;
}

static int put_weight(const void *item, void *writer)
{
	const struct firefox_sample *s = item;
	struct firefox *w = writer;

	if (export_is_time(&w->evsel->attr))
		put_time(w, s->weight);
	else
		put_number(w, s->weight);
	return w->job->out->rc;
}

static int put_data(const void *item, void *writer)
{
	const struct firefox_mark *m = item;
	struct firefox *w = writer;

	out_printf(w->job->out, "%s{\"type\":\"ringtail\",\"detail\":%" PRIu32 "}",
		   w->begun ? ",\n" : "", firefox_first_string(&w->tables) + m->detail);
	w->begun = true;
	return w->job->out->rc;
}

static int put_mark_name(const void *item, void *writer)
{
	const struct firefox_mark *m = item;
	struct firefox *w = writer;

	put_number(w, firefox_first_string(&w->tables) + m->name);
	return w->job->out->rc;
}

static int put_mark_time(const void *item, void *writer)
{
	const struct firefox_mark *m = item;
	struct firefox *w = writer;

	put_time(w, m->time - w->first_time);
	return w->job->out->rc;
}

static int put_mark_end(const void *item, void *writer)
{
	const struct firefox_mark *m = item;
	struct firefox *w = writer;

	if (m->is_interval)
		put_time(w, m->end - w->first_time);
	else
		out_puts(w->job->out, w->begun ? ",null" : "null");
	w->begun = true;
	return w->job->out->rc;
}

static int put_phase(const void *item, void *writer)
{
	const struct firefox_mark *m = item;

	put_number(writer, m->is_interval ? MARK_INTERVAL : MARK_INSTANT);
	return 0;
}

static int put_mark_category(const void *item, void *writer)
{
	put_number(writer, FIREFOX_OTHER);
	return 0;
}

/* Writes an array, of which @fn writes an item for each of the lane. */
static int put_array(struct firefox *w, struct spool *spool, uint32_t lane, const char *name,
		     spool_fn fn)
{
	size_t size =
		spool == &w->samples ? sizeof(struct firefox_sample) : sizeof(struct firefox_mark);
	int rc;

	out_printf(w->job->out, "\"%s\":[", name);
	w->begun = false;
	w->last_time = 0;
	rc = spool_each(spool, lane, size, fn, w);
	out_puts(w->job->out, "],\n");
	return rc;
}

static int put_samples(struct firefox *w, uint32_t thread)
{
	struct out *out = w->job->out;
	int rc;

	out_puts(out, ",\n\"samples\":{");
	rc = put_array(w, &w->samples, thread, "stack", put_stack);
	rc = rc ?: put_array(w, &w->samples, thread, "timeDeltas", put_delta);
	rc = rc ?: put_array(w, &w->samples, thread, "weight", put_weight);
	out_printf(out, "\"weightType\":\"%s\",\"length\":%" PRIu32 "}",
		   w->evsel && export_is_time(&w->evsel->attr) ? "tracing-ms" : "samples",
		   w->threads[thread].samples);
	return rc;
}

static int put_marks(struct firefox *w, uint32_t thread)
{
	static const struct {
		const char *name;
		spool_fn fn;
	} columns[] = {
		{"data", put_data},	   {"name", put_mark_name}, {"startTime", put_mark_time},
		{"endTime", put_mark_end}, {"phase", put_phase},    {"category", put_mark_category},
	};
	int rc = 0;

	out_puts(w->job->out, ",\n\"markers\":{");
	for (size_t i = 0; !rc && i < sizeof(columns) / sizeof(columns[0]); i++)
		rc = put_array(w, &w->marks, thread, columns[i].name, columns[i].fn);
	out_printf(w->job->out, "\"length\":%" PRIu32 "}", w->threads[thread].marks);
	return rc;
}

static int put_thread_json(struct firefox *w, uint32_t thread)
{
	const struct export_thread *key = export_thread_at(&w->names, thread);
	struct out *out = w->job->out;
	size_t len;
	const char *name = export_thread_name(&w->names, thread, &len);

	out_puts(out, "{\"processType\":\"default\",\"processStartupTime\":0,"
		      "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		      "\"pausedRanges\":[],\"name\":");
	json_out_string(out, name, len);
	out_printf(out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d",
		   key->pid == key->tid ? "true" : "false", (int)key->pid, (int)key->tid);
	if (key->pid == key->tid) {
		out_puts(out, ",\"processName\":");
		json_out_string(out, name, len);
	}
	return put_samples(w, thread) ?: put_marks(w, thread);
}

static void put_meta(struct firefox *w)
{
	struct out *out = w->job->out;
	const struct pd_attr *attr = w->evsel ? &w->evsel->attr : NULL;
	bool is_period = attr && export_is_time(attr) && !(attr->flags & PD_ATTR_FREQ);
	uint64_t interval = is_period && attr->sample_period ? attr->sample_period : NS_PER_MS;

	out_puts(out, "{\"meta\":{\"interval\":");
	w->begun = false;
	put_time(w, interval);
	out_puts(out, ",\"startTime\":0,\"processType\":0,\"product\":\"ringtail\",\"stackwalk\":1,"
		      "\"version\":36,\"preprocessedProfileVersion\":75,\"symbolicated\":true,"
		      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		      "\"oscpu\":\"\",\"platform\":\"Linux\",\"toolkit\":\"\",\"categories\":["
		      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
		      "\"markerSchema\":[{\"name\":\"ringtail\","
		      "\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.detail}\","
		      "\"chartLabel\":\"{marker.name}\","
		      "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		      "\"fields\":[{\"key\":\"detail\",\"label\":\"Detail\","
		      "\"format\":\"unique-string\"}]}]},\n");
}

static int firefox_close(void *writer)
{
	struct firefox *w = writer;
	struct out *out = w->job->out;
	int rc;

	put_meta(w);
	rc = firefox_write_tables(&w->tables, out);
	out_puts(out, ",\n\"threads\":[");
	for (uint32_t i = 0; !rc && i < w->nr_threads; i++) {
		out_puts(out, i ? ",\n" : "");
		rc = put_thread_json(w, i);
		out_puts(out, "}");
	}
	out_puts(out, "]}\n");
	return rc ?: out_end_gzip(out);
}

static int firefox_open(const struct export_job *job, void **ret)
{
	struct firefox *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct firefox){
		.job = job,
		.tables = firefox_tables_empty,
		.names = EXPORT_THREADS_INIT,
		.samples = {.err = job->err},
		.marks = {.err = job->err},
	};
	*ret = w;
	return out_begin_gzip(job->out);
}

static void firefox_free(void *writer)
{
	struct firefox *w = writer;

	if (!w)
		return;
	firefox_tables_release(&w->tables);
	export_threads_release(&w->names);
	spool_release(&w->samples);
	spool_release(&w->marks);
	free(w->threads);
	free(w);
}

const struct export_format export_firefox = {
	.name = "firefox",
	.about = "profiler.firefox.com",
	.binary = true,
	.one_event = true,
	.open = firefox_open,
	.sample = firefox_take_sample,
	.event = firefox_take_event,
	.close = firefox_close,
	.free = firefox_free,
};
