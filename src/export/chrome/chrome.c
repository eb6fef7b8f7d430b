// SPDX-License-Identifier: Apache-2.0
#include "export/chrome/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/stream/functions.h"
#include "export/stream/threads.h"
#include "export/wire/json_out.h"

#define CHUNK_SAMPLES 256
#define CHUNK_BYTES   (16u << 10) /* of new nodes */
#define NODES_MAX     (1u << 19)  /* of all threads, in memory */

/* A node of a thread's call tree. Keys have no padding. */
struct chrome_node {
	uint32_t thread;
	uint32_t parent;   /* number of the caller's node; INTERN_NONE: this is the root */
	uint32_t function; /* INTERN_NONE: the root */
};

/* The chunk of a thread that is not written yet. */
struct chrome_chunk {
	struct buf nodes;		 /* JSON of the new ones */
	uint64_t samples[CHUNK_SAMPLES]; /* ids of nodes */
	uint32_t deltas[CHUNK_SAMPLES];
	size_t nr;
};

struct chrome_profile {
	struct chrome_chunk *chunk; /* NULL: the thread had no sample yet */
	uint64_t last;		    /* sample, microseconds */
	uint32_t id;		    /* 0: it begins with the next sample */
};

struct chrome {
	const struct export_job *job;
	struct export_functions functions;
	struct export_threads threads;
	struct intern nodes;
	struct chrome_profile *profiles; /* by thread */
	size_t nr_profiles, cap_profiles;
	uint32_t ids; /* of profiles, given */
	/* Nodes; ids of others are higher, because readers look up ids of all profiles of a thread.
	 */
	uint64_t forgotten;
	struct buf text;
	bool begun; /* some event is written */
};

/* --- parts of events -----------------------------------------------------------------------------
 */

/*
 * Begins an event at @time, in ns. The caller adds fields and calls end_event(); with @name NULL
 * it writes the name first.
 */
static void begin_event(struct chrome *w, const char *phase, const char *name, uint32_t pid,
			uint32_t tid, uint64_t time)
{
	out_printf(w->job->out,
		   "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ".%03u,\"name\":",
		   w->begun ? ",\n" : "", phase, (int)pid, (int)tid, time / 1000,
		   (unsigned int)(time % 1000));
	w->begun = true;
	if (name)
		json_out_string(w->job->out, name, strlen(name));
}

static void end_event(struct chrome *w)
{
	out_puts(w->job->out, "}");
}

/* Writes a string that a recording has. */
static int put_string(struct chrome *w, const char *s)
{
	if (export_name(s, &w->text))
		return -ENOMEM;
	json_out_string(w->job->out, (const char *)w->text.data, w->text.len);
	return 0;
}

static int put_comm(struct chrome *w, const struct timeline_task *task)
{
	if (export_comm(task->comm, task->tid, &w->text))
		return -ENOMEM;
	json_out_string(w->job->out, (const char *)w->text.data, w->text.len);
	return 0;
}

/* --- samples -------------------------------------------------------------------------------------
 */

static void write_chunk(struct chrome *w, uint32_t thread)
{
	const struct export_thread *key = export_thread_at(&w->threads, thread);
	struct chrome_profile *p = &w->profiles[thread];
	struct chrome_chunk *c = p->chunk;
	struct out *out = w->job->out;

	begin_event(w, "P", "ProfileChunk", key->pid, key->tid, p->last * 1000);
	out_printf(out,
		   ",\"id\":\"0x%" PRIx32 "\",\"cat\":\"disabled-by-default-v8.cpu_profiler\","
		   "\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[",
		   p->id);
	out_put(out, c->nodes.data, c->nodes.len);
	out_puts(out, "],\"samples\":[");
	for (size_t i = 0; i < c->nr; i++)
		out_printf(out, i ? ",%" PRIu64 : "%" PRIu64, c->samples[i]);
	out_puts(out, "]},\"timeDeltas\":[");
	for (size_t i = 0; i < c->nr; i++)
		out_printf(out, i ? ",%" PRIu32 : "%" PRIu32, c->deltas[i]);
	out_puts(out, "]}}");
	end_event(w);
	c->nodes.len = 0;
	c->nr = 0;
}

/* Appends a new node to the chunk, as JSON. */
static int describe_node(struct chrome *w, struct chrome_chunk *c, uint32_t number,
			 const struct chrome_node *node)
{
	static const char root[] = "(root)";
	int rc = buf_printf(&c->nodes, "%s{\"id\":%" PRIu64, c->nodes.len ? "," : "",
			    w->forgotten + number + 1);

	w->text.len = 0;
	if (!rc && node->parent != INTERN_NONE)
		rc = buf_printf(&c->nodes, ",\"parent\":%" PRIu64, w->forgotten + node->parent + 1);
	if (!rc && node->function == INTERN_NONE)
		rc = buf_append(&w->text, root, sizeof(root) - 1);
	else if (!rc)
		rc = export_function_name(export_function_at(&w->functions, node->function),
					  &w->text);
	if (!rc)
		rc = buf_printf(&c->nodes, ",\"callFrame\":{\"functionName\":");
	if (!rc)
		rc = json_append_string(&c->nodes, (const char *)w->text.data, w->text.len);
	if (!rc)
		rc = buf_printf(&c->nodes, ",\"scriptId\":0,\"url\":\"\",\"lineNumber\":-1,"
					   "\"columnNumber\":-1}}");
	return rc;
}

static int put_node(struct chrome *w, struct chrome_node *node, uint32_t *ret)
{
	uint32_t known = intern_count(&w->nodes);

	*ret = intern_put(&w->nodes, node);
	if (*ret == INTERN_NONE)
		return -ENOMEM;
	return *ret == known ? describe_node(w, w->profiles[node->thread].chunk, *ret, node) : 0;
}

/* Sets *@ret to the node of the sample's innermost frame. */
static int node_of(struct chrome *w, const struct export_sample *s, uint32_t thread, uint32_t *ret)
{
	struct chrome_node node = {thread, INTERN_NONE, INTERN_NONE};
	int rc = put_node(w, &node, ret);

	for (size_t i = s->nr_frames; !rc && i--;) {
		node.parent = *ret;
		node.function = export_function_of(&w->functions, &s->frame[i]);
		rc = node.function == INTERN_NONE ? -ENOMEM : put_node(w, &node, ret);
	}
	return rc;
}

/*
 * A profile has its own tree, so trees grow by threads times stacks. When there are too many nodes,
 * all profiles end: the next sample of a thread begins another one, which readers append.
 */
static void limit_nodes(struct chrome *w)
{
	if (intern_count(&w->nodes) < NODES_MAX)
		return;
	for (uint32_t i = 0; i < w->nr_profiles; i++) {
		if (w->profiles[i].chunk && w->profiles[i].chunk->nr)
			write_chunk(w, i);
		w->profiles[i].id = 0;
	}
	w->forgotten += intern_count(&w->nodes);
	intern_release(&w->nodes);
}

/* Writes the event that announces the profile of a thread. */
static int begin_profile(struct chrome *w, uint32_t thread, uint64_t time)
{
	const struct export_thread *key = export_thread_at(&w->threads, thread);
	struct chrome_profile *p = &w->profiles[thread];

	if (!p->chunk)
		p->chunk = calloc(1, sizeof(*p->chunk));
	if (!p->chunk)
		return -ENOMEM;
	p->last = time / 1000;
	p->id = ++w->ids;
	begin_event(w, "P", "Profile", key->pid, key->tid, p->last * 1000);
	out_printf(w->job->out,
		   ",\"id\":\"0x%" PRIx32 "\",\"cat\":\"disabled-by-default-v8.cpu_profiler\","
		   "\"args\":{\"data\":{\"startTime\":%" PRIu64 "}}",
		   p->id, p->last);
	end_event(w);
	return 0;
}

/* Returns the number of a thread, and makes room for its profile; or INTERN_NONE. */
static uint32_t put_thread(struct chrome *w, uint32_t pid, uint32_t tid, const char *comm)
{
	uint32_t thread = export_thread_put(&w->threads, pid, tid, comm);

	if (thread == INTERN_NONE ||
	    array_grow(&w->profiles, &w->cap_profiles, (size_t)thread + 1, sizeof(*w->profiles)))
		return INTERN_NONE;
	if (thread == w->nr_profiles)
		w->profiles[w->nr_profiles++] = (struct chrome_profile){0};
	return thread;
}

static int chrome_sample(void *writer, const struct export_sample *s)
{
	struct chrome *w = writer;
	const struct pd_sample *p = &s->ws->s;
	uint32_t thread = put_thread(w, p->pid, p->tid, s->comm), node;
	uint64_t delta;
	struct chrome_profile *profile;
	struct chrome_chunk *c;
	int rc;

	if (thread == INTERN_NONE)
		return -ENOMEM;
	limit_nodes(w);
	profile = &w->profiles[thread];
	rc = profile->id ? 0 : begin_profile(w, thread, p->time);
	rc = rc ?: node_of(w, s, thread, &node);
	if (rc)
		return rc;
	c = profile->chunk;
	delta = p->time / 1000 > profile->last ? p->time / 1000 - profile->last : 0;
	if (delta > UINT32_MAX) /* over an hour */
		delta = UINT32_MAX;
	c->samples[c->nr] = w->forgotten + node + 1;
	c->deltas[c->nr++] = (uint32_t)delta;
	profile->last += delta;
	if (c->nr == CHUNK_SAMPLES || c->nodes.len > CHUNK_BYTES)
		write_chunk(w, thread);
	return 0;
}

/* --- what happened beside samples ----------------------------------------------------------------
 */

static int put_task(struct chrome *w, const struct timeline_task *task)
{
	if (task->tid == TIMELINE_NONE)
		return 0;
	return put_thread(w, task->pid, task->tid, task->comm) == INTERN_NONE ? -ENOMEM : 0;
}

/* A slice of the thread that leaves; an instant if nobody knows when it arrived. */
static int put_switch(struct chrome *w, const struct timeline_event *e)
{
	struct out *out = w->job->out;
	uint64_t begin = e->since && e->since < e->time ? e->since : e->time;
	uint64_t length = e->time - begin;
	int rc;

	if (!e->task.tid) /* a CPU without work */
		return 0;
	begin_event(w, e->since ? "X" : "i", e->since ? "running" : "leaves CPU", e->task.pid,
		    e->task.tid, begin);
	if (e->since)
		out_printf(out, ",\"dur\":%" PRIu64 ".%03u", length / 1000,
			   (unsigned int)(length % 1000));
	else
		out_puts(out, ",\"s\":\"t\"");
	out_printf(out, ",\"cat\":\"sched\",\"args\":{\"data\":{\"cpu\":%d,\"end_state\":\"%c\",",
		   (int)e->cpu, timeline_state_letter(e->state));
	out_puts(out, "\"next\":");
	rc = put_comm(w, &e->other);
	out_printf(out, ",\"next_tid\":%d}}", (int)e->other.tid);
	end_event(w);
	return rc;
}

static int put_wakeup(struct chrome *w, const struct timeline_event *e)
{
	struct out *out = w->job->out;
	int rc;

	begin_event(w, "i", e->name, e->task.pid, e->task.tid, e->time);
	out_puts(out, ",\"s\":\"t\",\"cat\":\"sched\",\"args\":{\"data\":{\"woken\":");
	rc = put_comm(w, &e->other);
	out_printf(out, ",\"woken_tid\":%d,\"target_cpu\":%d}}", (int)e->other.tid,
		   (int)e->target_cpu);
	end_event(w);
	return rc;
}

static int put_counter(struct chrome *w, const struct timeline_event *e)
{
	struct out *out = w->job->out;
	int rc;

	begin_event(w, "C", NULL, e->task.pid, e->task.tid, e->time);
	rc = put_string(w, e->name);
	if (e->cpu != TIMELINE_NONE)
		out_printf(out, ",\"id\":\"cpu%" PRIu32 "\"", e->cpu);
	out_printf(out, ",\"args\":{\"value\":%" PRIu64 "}", e->value);
	end_event(w);
	return rc;
}

/* A mark of no thread belongs to the whole trace. */
static int put_mark(struct chrome *w, const struct timeline_event *e)
{
	bool global = e->task.tid == TIMELINE_NONE;
	int rc;

	begin_event(w, "i", e->name, global ? 0 : e->task.pid, global ? 0 : e->task.tid, e->time);
	out_printf(w->job->out,
		   ",\"s\":\"%c\",\"cat\":\"ringtail\",\"args\":{\"data\":{\"detail\":",
		   global ? 'g' : 't');
	rc = put_string(w, e->text);
	out_puts(w->job->out, "}}");
	end_event(w);
	return rc;
}

static int chrome_event(void *writer, const struct timeline_event *e)
{
	struct chrome *w = writer;
	int rc = put_task(w, &e->task) ?: put_task(w, &e->other);

	if (rc)
		return rc;
	switch (e->kind) {
	case TIMELINE_SWITCH: return put_switch(w, e);
	case TIMELINE_WAKEUP: return put_wakeup(w, e);
	case TIMELINE_COUNTER: return put_counter(w, e);
	case TIMELINE_MARK: return put_mark(w, e);
	}
	return 0;
}

/* --- beginning and end ---------------------------------------------------------------------------
 */

static int chrome_open(const struct export_job *job, void **ret)
{
	struct chrome *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct chrome){
		.job = job,
		.functions = EXPORT_FUNCTIONS_INIT,
		.threads = EXPORT_THREADS_INIT,
		.nodes = {.size = sizeof(struct chrome_node)},
	};
	*ret = w;
	out_puts(job->out,
		 "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"ringtail\"},\n"
		 "\"traceEvents\":[\n");
	return 0;
}

/* A process is called as its first thread. */
static void put_names(struct chrome *w, uint32_t thread)
{
	const struct export_thread *key = export_thread_at(&w->threads, thread);
	bool first = key->pid == key->tid;
	size_t len;
	const char *name = export_thread_name(&w->threads, thread, &len);

	for (int i = 0; i <= first; i++) {
		begin_event(w, "M", i ? "process_name" : "thread_name", key->pid, key->tid, 0);
		out_puts(w->job->out, ",\"args\":{\"name\":");
		json_out_string(w->job->out, name, len);
		out_puts(w->job->out, "}");
		end_event(w);
	}
}

static int chrome_close(void *writer)
{
	struct chrome *w = writer;

	for (uint32_t i = 0; i < w->nr_profiles; i++) {
		if (w->profiles[i].chunk && w->profiles[i].chunk->nr)
			write_chunk(w, i);
		put_names(w, i);
	}
	out_puts(w->job->out, "\n]}\n");
	return w->job->out->rc;
}

static void chrome_free(void *writer)
{
	struct chrome *w = writer;

	if (!w)
		return;
	for (size_t i = 0; i < w->nr_profiles; i++) {
		if (w->profiles[i].chunk)
			buf_release(&w->profiles[i].chunk->nodes);
		free(w->profiles[i].chunk);
	}
	export_functions_release(&w->functions);
	export_threads_release(&w->threads);
	intern_release(&w->nodes);
	buf_release(&w->text);
	free(w->profiles);
	free(w);
}

const struct export_format export_chrome = {
	.name = "chrome",
	.about = "ui.perfetto.dev, Chrome's DevTools, the Firefox Profiler",
	.one_event = true,
	.open = chrome_open,
	.sample = chrome_sample,
	.event = chrome_event,
	.close = chrome_close,
	.free = chrome_free,
};
