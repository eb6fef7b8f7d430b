// SPDX-License-Identifier: Apache-2.0
#include "render/waits/spans.h"

#include <inttypes.h>

#include "base/clock_ns.h"
#include "base/human.h"
#include "base/plural.h"
#include "render/json.h"
#include "render/latency/durations.h"
#include "render/table.h"
#include "render/text.h"

#define STEP 1 /* ns; times are exact */

static void put_count(FILE *out, uint64_t n, const char *what)
{
	char number[HUMAN_COUNT_SIZE];

	if (n)
		fprintf(out, "    %s %s\n", human_count(n, number), what);
}

static void put_part(FILE *out, const struct span *s, const char *what, uint64_t ns)
{
	char text[DURATION_SIZE];

	if (ns)
		fprintf(out, "  %*s %6.1f %%  %s\n", DURATION_COLS, duration_text(ns, text),
			100.0 * (double)ns / (double)s->ns, what);
}

/* Draws the tree of what the thread did, in shares of the span, or of its periods. */
static int put_tree(FILE *out, const struct spans *all, const struct span *s, double percent)
{
	const struct table_opts opts = {.graph_percent = percent};
	struct graph_row row = {
		.g = &s->graph,
		.root = s->root,
		.weight = s->root == CALLGRAPH_NONE ? 0 : s->graph.node[s->root].total,
	};

	row.total = all->timed ? s->ns : row.weight;
	return s->root == CALLGRAPH_NONE ? 0 : graph_render(out, &row, false, &opts);
}

static int put_span(FILE *out, const struct spans *all, const struct span *s, double percent)
{
	char text[DURATION_SIZE], number[HUMAN_COUNT_SIZE];

	fprintf(out, "\n%s at %" PRIu64 ".%09" PRIu64 ", ", duration_text(s->ns, text),
		(uint64_t)(s->time / NS_PER_SEC), (uint64_t)(s->time % NS_PER_SEC));
	text_put(out, s->comm ?: "?", 0);
	fprintf(out, " %d/%d", (int)s->pid, (int)s->tid);
	if (s->cpu != UINT32_MAX)
		fprintf(out, ", CPU %u", s->cpu);
	if (s->end_cpu != s->cpu && s->end_cpu != UINT32_MAX)
		fprintf(out, " to %u", s->end_cpu);
	fprintf(out, ", %s sample%s%s\n", human_count(s->samples, number), plural_s(s->samples),
		s->unsure ? "; records were lost meanwhile" : "");
	if (all->waits)
		put_part(out, s, "on CPUs", span_ran(s));
	for (unsigned int i = 0; i < WAIT_KINDS; i++)
		put_part(out, s, wait_kind_name((enum wait_kind)i), s->waited[i]);
	return put_tree(out, all, s, percent);
}

int spans_render(FILE *out, struct spans *s, double percent)
{
	char number[HUMAN_COUNT_SIZE];
	int rc = 0;

	fprintf(out, "%s span%s\n", human_count(s->ns.count, number), plural_s(s->ns.count));
	put_count(out, s->begun_before, "more ends without a start");
	put_count(out, s->unended, "more had not ended with the recording");
	put_count(out, s->restarted, "more began again before their end");
	put_count(out, s->unsure,
		  "of these while records were lost: they may be longer than they were");
	if (!s->ns.count)
		return 0;
	durations_percentiles(out, &s->ns, STEP);
	durations_histogram(out, &s->ns, STEP, "spans");
	if (s->nr_slowest)
		fputs("\nSlowest spans\n", out);
	for (size_t i = 0; !rc && i < s->nr_slowest; i++)
		rc = put_span(out, s, &s->slowest[i], percent);
	return rc;
}

static json_t *waited_json(const struct span *s)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < WAIT_KINDS; i++)
		if (s->waited[i])
			json_put(&o, wait_kind_name((enum wait_kind)i), json_count(s->waited[i]));
	return o;
}

static json_t *span_json(const struct spans *all, const struct span *s)
{
	json_t *o = json_object();

	json_put(&o, "time_ns", json_count(s->time));
	json_put(&o, "duration_ns", json_count(s->ns));
	json_put(&o, "comm", s->comm ? json_name(s->comm) : json_null());
	json_put(&o, "pid", json_number_or_null(s->pid));
	json_put(&o, "tid", json_number_or_null(s->tid));
	json_put(&o, "cpu", json_number_or_null(s->cpu));
	json_put(&o, "end_cpu", json_number_or_null(s->end_cpu));
	json_put(&o, "over_losses", json_boolean(s->unsure));
	json_put(&o, "samples", json_count(s->samples));
	json_put(&o, "on_cpu_ns", all->waits ? json_count(span_ran(s)) : json_null());
	json_put(&o, "waited_ns", waited_json(s));
	json_put(&o, "callgraph", json_callgraph(&s->graph, s->root));
	return o;
}

json_t *spans_json(struct spans *s)
{
	json_t *o = json_object(), *slowest = json_array();

	json_put(&o, "spans", json_count(s->ns.count));
	json_put(&o, "began_before", json_count(s->begun_before));
	json_put(&o, "not_ended", json_count(s->unended));
	json_put(&o, "restarted", json_count(s->restarted));
	json_put(&o, "over_losses", json_count(s->unsure));
	json_put(&o, "ns", durations_json(&s->ns));
	json_put(&o, "histogram", durations_histogram_json(&s->ns, "spans"));
	for (size_t i = 0; slowest && i < s->nr_slowest; i++) {
		json_t *span = span_json(s, &s->slowest[i]);

		if (!span || json_array_append_new(slowest, span)) {
			json_decref(slowest);
			slowest = NULL;
		}
	}
	json_put(&o, "slowest", slowest);
	return o;
}
