// SPDX-License-Identifier: Apache-2.0
#include "export/html/html.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "export/html/code.h"
#include "export/html/page.h"
#include "export/html/part.h"
#include "export/html/sched.h"
#include "export/html/table.h"
#include "export/html/tree.h"
#include "export/stream/threads.h"
#include "export/wire/json_out.h"

#define ROWS_MAX   65536u /* of a part */
#define FEW	   1000000u
#define US	   1000u
#define TICKS_MAX  4294967295u
#define TICK_STEPS 10

/* Columns of samples, in their order. Numbers that may be missing are one more than their value. */
enum {
	SAMPLE_TIME,
	SAMPLE_STACK,
	SAMPLE_THREAD,
	SAMPLE_CPU,
	SAMPLE_EVENT,
	SAMPLE_WEIGHT,
	SAMPLE_PLACE,
	SAMPLE_COLUMNS
};
/* The same of marks. */
enum {
	MARK_KIND,
	MARK_TIME,
	MARK_SINCE,
	MARK_CPU,
	MARK_THREAD,
	MARK_NAME,
	MARK_TEXT,
	MARK_VALUE,
	MARK_COLUMNS
};

enum html_mark_kind { HTML_SWITCH, HTML_WAKEUP, HTML_MARK };

struct html {
	const struct export_job *job;
	struct html_tree tree;
	struct export_threads threads;
	struct intern_strings strings;			/* of marks */
	struct html_table samples, marks, instructions; /* a row of the last for each sample */
	struct html_code code;
	uint64_t first_time, tick;
	uint64_t sample_tick, mark_tick; /* of the newest one */
	struct buf text;
};

static struct out *out_of(const struct html *w)
{
	return w->job->out;
}

/* --- time ----------------------------------------------------------------------------------------
 */

/*
 * Returns the unit of times, ns: 32 bits hold the span of the recording. The browser keeps them in
 * 32 bits, and fewer digits compress better. Times of hardware trace may be beyond the span.
 */
static uint64_t choose_tick(const struct trace *t)
{
	const struct trace_counts *c = &t->counts;
	uint64_t span = c->last_time - c->first_time;
	uint64_t tick = c->samples < FEW && !t->itrace ? 1 : US;

	while (span / tick > TICKS_MAX / 2)
		tick *= TICK_STEPS;
	return tick;
}

/* Returns @time in ticks since the first sample, which a mark may precede. */
static int64_t ticks_of(const struct html *w, uint64_t time)
{
	return (int64_t)(time - w->first_time) / (int64_t)w->tick;
}

/*
 * Returns the difference to the newest time of a table, for a column. Each part begins with the
 * time itself, so that a browser can decode parts apart.
 */
static uint64_t time_delta(const struct html_table *t, uint64_t *newest, int64_t ticks)
{
	uint64_t delta = html_zigzag(t->nr_rows ? ticks - (int64_t)*newest : ticks);

	*newest = (uint64_t)ticks;
	return delta;
}

/* --- samples and marks ---------------------------------------------------------------------------
 */

/* Adds a row, and writes the rows when there are enough of them. */
static int add_row(struct html *w, struct html_table *t, const char *name, const uint64_t *row)
{
	int rc = html_table_add(t, row);

	if (!rc && t->nr_rows == ROWS_MAX)
		rc = html_table_write(t, out_of(w), name);
	return rc;
}

static bool has_time(const struct walk_sample *ws)
{
	return ws->made || ws->evsel->attr.sample_type & PERF_SAMPLE_TIME;
}

static int html_sample(void *writer, const struct export_sample *s)
{
	struct html *w = writer;
	const struct pd_sample *p = &s->ws->s;
	uint64_t row[SAMPLE_COLUMNS] = {[SAMPLE_WEIGHT] = p->period}, spot;
	uint32_t thread = export_thread_put(&w->threads, p->pid, p->tid, s->comm), stack, place;
	int rc = thread == INTERN_NONE ? -ENOMEM : html_tree_put(&w->tree, s, &stack, &place);

	if (rc)
		return rc;
	row[SAMPLE_TIME] =
		time_delta(&w->samples, &w->sample_tick,
			   has_time(s->ws) ? ticks_of(w, p->time) : (int64_t)w->sample_tick);
	row[SAMPLE_STACK] = stack;
	row[SAMPLE_THREAD] = thread;
	row[SAMPLE_CPU] = p->type & PERF_SAMPLE_CPU ? (uint64_t)p->cpu + 1 : 0;
	row[SAMPLE_EVENT] = s->ws->evsel->index;
	row[SAMPLE_PLACE] = (uint32_t)(place + 1);
	rc = html_code_spot(&w->code, &w->tree, s, &spot);
	/* Apart from the other columns, because a page reads it when code is shown. */
	if (!rc && intern_count(&w->code.spots))
		rc = add_row(w, &w->instructions, "instructions", &spot);
	return rc ?: add_row(w, &w->samples, "samples", row);
}

/* Sets *@ret to the number of a task's thread plus one; to 0: it has none. */
static int put_task(struct html *w, const struct timeline_task *task, uint64_t *ret)
{
	uint32_t thread;

	*ret = 0;
	if (task->tid == TIMELINE_NONE || !task->tid)
		return 0;
	thread = export_thread_put(&w->threads, task->pid, task->tid, task->comm);
	*ret = (uint64_t)thread + 1;
	return thread == INTERN_NONE ? -ENOMEM : 0;
}

static int put_string(struct html *w, const char *s, uint64_t *ret)
{
	uint32_t number = INTERN_NONE;

	if (!export_name(s, &w->text))
		number = intern_string(&w->strings, (const char *)w->text.data, w->text.len);
	*ret = number;
	return number == INTERN_NONE ? -ENOMEM : 0;
}

static int html_event(void *writer, const struct timeline_event *e)
{
	struct html *w = writer;
	uint64_t row[MARK_COLUMNS] = {0};
	int rc = put_task(w, &e->task, &row[MARK_THREAD]);

	if (rc || e->kind == TIMELINE_COUNTER)
		return rc;
	row[MARK_TIME] = time_delta(&w->marks, &w->mark_tick, ticks_of(w, e->time));
	row[MARK_CPU] = e->cpu == TIMELINE_NONE ? 0 : (uint64_t)e->cpu + 1;
	switch (e->kind) {
	case TIMELINE_SWITCH:
		row[MARK_KIND] = HTML_SWITCH;
		if (e->since && e->since < e->time)
			row[MARK_SINCE] = (e->time - e->since) / w->tick + 1;
		row[MARK_VALUE] = (uint64_t)timeline_state_letter(e->state);
		rc = put_task(w, &e->other, &row[MARK_NAME]);
		break;
	case TIMELINE_WAKEUP:
		row[MARK_KIND] = HTML_WAKEUP;
		rc = put_task(w, &e->other, &row[MARK_NAME]);
		break;
	default:
		row[MARK_KIND] = HTML_MARK;
		row[MARK_VALUE] = e->value;
		rc = put_string(w, e->name, &row[MARK_NAME])
			     ?: put_string(w, e->text, &row[MARK_TEXT]);
	}
	return rc ?: add_row(w, &w->marks, "marks", row);
}

/* --- tables at the end ---------------------------------------------------------------------------
 */

static int put_threads(struct html *w, struct html_part *p, struct buf *json)
{
	int rc = buf_printf(json, "\"threads\":[");

	for (uint32_t i = 0; !rc && i < export_thread_count(&w->threads); i++) {
		const struct export_thread *key = export_thread_at(&w->threads, i);
		size_t len;
		const char *name = export_thread_name(&w->threads, i, &len);

		rc = buf_printf(json, "%s[%d,%d,", i ? ",\n" : "", (int)key->pid, (int)key->tid);
		rc = rc ?: json_append_string(json, name, len) ?: buf_append(json, "]", 1);
		html_part_put(p, json->data, json->len);
		json->len = 0;
	}
	return rc ?: buf_append(json, "],\n", 3);
}

static int put_strings(struct html *w, struct html_part *p, struct buf *json)
{
	int rc = buf_printf(json, "\"strings\":[");

	for (uint32_t i = 0; !rc && i < w->strings.table.nr; i++) {
		size_t len;
		const char *s = intern_string_at(&w->strings, i, &len);

		rc = i ? buf_append(json, ",\n", 2) : 0;
		rc = rc ?: json_append_string(json, s, len);
		html_part_put(p, json->data, json->len);
		json->len = 0;
	}
	return rc ?: buf_append(json, "],\n", 3);
}

static int put_events(struct html *w, struct buf *json)
{
	const struct pd_evlist *list = w->job->trace->evlist;
	int rc = buf_printf(json, "\"events\":[");

	for (size_t i = 0; !rc && i < pd_evlist_count(list); i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);
		uint64_t type = evsel->attr.sample_type;

		rc = export_name(evsel->name, &w->text) ?:
		     buf_printf(json, "%s{\"name\":", i ? ",\n" : "") ?:
		     json_append_string(json, (const char *)w->text.data, w->text.len) ?:
		     buf_printf(json, ",\"unit\":\"%s\",\"timed\":%s,\"chains\":%s}",
				export_is_time(&evsel->attr) ? "ns" : "",
				type & PERF_SAMPLE_TIME ? "true" : "false",
				type & PERF_SAMPLE_CALLCHAIN ? "true" : "false");
	}
	return rc ?: buf_append(json, "],\n", 3);
}

static const struct html_opts *opts_of(const struct html *w)
{
	return (const struct html_opts *)((const char *)w->job->opts -
					  offsetof(struct html_opts, export));
}

static int write_index(struct html *w)
{
	const struct html_opts *opts = opts_of(w);
	struct buf json = {0};
	struct html_part p;
	int rc;

	html_part_begin(&p, out_of(w), "index");
	/* As text: the number may be beyond what JavaScript holds exactly. */
	rc = buf_printf(&json, "{\"first_time\":\"%" PRIu64 "\",\"tick\":%" PRIu64 ",\n",
			w->first_time, w->tick);
	rc = rc ?: put_events(w, &json) ?: put_threads(w, &p, &json) ?: put_strings(w, &p, &json) ?:
	     buf_printf(&json, "\"inlined\":%s,\"facts\":%s}", opts->export.inlined ? "true" : "false",
			opts->facts);
	html_part_put(&p, json.data, json.len);
	buf_release(&json);
	return html_part_end(&p) ?: rc;
}

/* Writes what other walks find: over this recording, and over the one before. */
static int write_others(struct html *w)
{
	const struct html_before *before = opts_of(w)->before;
	const struct html_sched sched = {
		.trace = w->job->trace,
		.filter = &w->job->opts->filter,
		.threads = &w->threads,
		.out = out_of(w),
		.first_time = w->first_time,
		.tick = w->tick,
	};
	int rc = html_sched_write(&sched, w->job->err);

	if (!rc && before)
		rc = html_before_write(before, w->job->trace->evlist, &w->tree, out_of(w),
				       w->job->err);
	return rc;
}

static int html_close(void *writer)
{
	struct html *w = writer;
	int rc = 0;

	if (w->samples.nr_rows)
		rc = html_table_write(&w->samples, out_of(w), "samples");
	if (!rc && w->instructions.nr_rows)
		rc = html_table_write(&w->instructions, out_of(w), "instructions");
	if (!rc && w->marks.nr_rows)
		rc = html_table_write(&w->marks, out_of(w), "marks");
	rc = rc ?: write_others(w) ?: html_code_end(&w->code, &w->tree, out_of(w));
	rc = rc ?: html_tree_write(&w->tree, out_of(w)) ?: write_index(w);
	out_puts(out_of(w), html_page_tail);
	return rc;
}

static int html_open(const struct export_job *job, void **ret)
{
	struct html *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct html){
		.job = job,
		.tree = html_tree_empty,
		.threads = EXPORT_THREADS_INIT,
		.samples = {.nr_columns = SAMPLE_COLUMNS},
		.marks = {.nr_columns = MARK_COLUMNS},
		.instructions = {.nr_columns = 1},
		.code = html_code_empty,
		.first_time = job->trace->counts.first_time,
		.tick = choose_tick(job->trace),
	};
	*ret = w;
	out_puts(job->out, html_page_head);
	if (job->out->rc)
		return job->out->rc;
	/* Waits are in the scheduler's code, whatever waited. */
	if (job->opts->waits && !job->opts->waits->wall)
		return 0;
	return html_code_write(&w->code, job->trace, &job->opts->filter, job->out, job->err);
}

static void html_free(void *writer)
{
	struct html *w = writer;

	if (!w)
		return;
	html_tree_release(&w->tree);
	export_threads_release(&w->threads);
	intern_strings_release(&w->strings);
	html_table_release(&w->samples);
	html_table_release(&w->marks);
	html_table_release(&w->instructions);
	html_code_release(&w->code);
	buf_release(&w->text);
	free(w);
}

const struct export_format export_html = {
	.name = "html",
	.about = "browsers",
	.waits = true,
	.open = html_open,
	.sample = html_sample,
	.event = html_event,
	.close = html_close,
	.free = html_free,
};
