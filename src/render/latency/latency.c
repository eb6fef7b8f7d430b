// SPDX-License-Identifier: Apache-2.0
#include "render/latency/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock_ns.h"
#include "base/human.h"
#include "base/plural.h"
#include "render/latency/durations.h"
#include "render/text.h"

struct latency_view {
	FILE *out;
	const struct call_latency *l;
	double percent;
	uint64_t all; /* ns of the call whose tree is written */
};

static void put_count(FILE *out, uint64_t n, const char *what)
{
	char number[HUMAN_COUNT_SIZE];

	if (n)
		fprintf(out, "    %s %s\n", human_count(n, number), what);
}

static void put_head(FILE *out, const struct latency_function *f)
{
	char number[HUMAN_COUNT_SIZE];

	text_put(out, f->name, 0);
	fputs(" (", out);
	text_put(out, f->dso ? f->dso->short_name : "[unknown]", 0);
	fprintf(out, "): %s call%s\n", human_count(f->ns.count, number), plural_s(f->ns.count));
	put_count(out, f->recursive, "of these within another, which called it");
	put_count(out, f->skipped, "of these ended by a return to a caller further out");
	put_count(out, f->begun_before, "more began before the trace");
	put_count(out, f->lost, "more where trace is missing before the end");
	put_count(out, f->unended, "more had not ended with the trace");
	put_count(out, f->untimed, "more without times");
}

/* --- slowest calls -------------------------------------------------------------------------------
 */

static void put_node(const struct latency_view *v, const struct call_node *n)
{
	char total[DURATION_SIZE], self[DURATION_SIZE], number[HUMAN_COUNT_SIZE];

	fprintf(v->out, "  %*s %*s %6.1f %10s  %*s", DURATION_COLS,
		duration_measured(v->l->step, n->total, total), DURATION_COLS,
		duration_measured(v->l->step, call_node_self(n), self),
		v->all ? 100.0 * (double)n->total / (double)v->all : 0,
		human_count(n->calls, number), (int)n->depth * 2, "");
	text_put(v->out, v->l->functions.list[n->function].name, 0);
	if (n->unsure)
		fprintf(v->out, " (%" PRIu64 " end%s not seen)", n->unsure, plural_s(n->unsure));
	fputc('\n', v->out);
}

static int put_tree(const struct latency_view *v, const struct call_tree *t, uint32_t node)
{
	uint64_t calls = 0, total = 0;
	size_t functions = 0;
	char text[DURATION_SIZE];
	uint32_t *children;
	int64_t nr = call_tree_children(t, node, &children);
	int rc = nr < 0 ? (int)nr : 0;

	put_node(v, &t->nodes[node]);
	for (int64_t i = 0; !rc && i < nr; i++) {
		const struct call_node *child = &t->nodes[children[i]];

		if ((double)child->total * 100 >= v->percent * (double)v->all && child->total) {
			rc = put_tree(v, t, children[i]);
			continue;
		}
		functions++;
		calls += child->calls;
		total += child->total;
	}
	if (!rc && functions)
		fprintf(v->out, "  %*s %*s %6s %10" PRIu64 "  %*s… %zu function%s\n", DURATION_COLS,
			duration_measured(v->l->step, total, text), DURATION_COLS, "", "", calls,
			(int)t->nodes[node].depth * 2 + 2, "", functions, plural_s(functions));
	free(children);
	return rc;
}

static int put_call(struct latency_view *v, const struct latency_call *c)
{
	char text[DURATION_SIZE], number[HUMAN_COUNT_SIZE];
	int rc;

	v->all = c->ns;
	fprintf(v->out, "\n%s at %" PRIu64 ".%09" PRIu64 ", ",
		duration_measured(v->l->step, c->ns, text), (uint64_t)(c->time / NS_PER_SEC),
		(uint64_t)(c->time % NS_PER_SEC));
	text_put(v->out, c->comm ? c->comm : "?", 0);
	fprintf(v->out, " %d/%d", (int)c->pid, (int)c->tid);
	if (c->cpu != UINT32_MAX)
		fprintf(v->out, ", CPU %u", c->cpu);
	if (c->end_cpu != c->cpu && c->end_cpu != UINT32_MAX)
		fprintf(v->out, " to %u", c->end_cpu);
	fprintf(v->out, ", %s branch%s\n", human_count(c->branches, number),
		plural_es(c->branches));
	fprintf(v->out, "  %*s %*s %6s %10s  %s\n", DURATION_COLS, "total", DURATION_COLS, "self",
		"%", "calls", "function");
	rc = put_tree(v, &c->tree, 0);
	if (c->tree.left_out)
		fprintf(v->out, "  %s deeper calls are left out\n",
			human_count(c->tree.left_out, number));
	return rc;
}

static int put_function(struct latency_view *v, struct latency_function *f)
{
	char number[HUMAN_COUNT_SIZE], text[DURATION_SIZE];
	int rc = 0;

	put_head(v->out, f);
	if (!f->ns.count)
		return 0;
	durations_percentiles(v->out, &f->ns, v->l->step);
	if (f->outer && f->outer >= v->l->step)
		fprintf(v->out, "  %.1f %% of the time in the function itself\n",
			100.0 * (double)f->outer_self / (double)f->outer);
	if (f->below)
		fprintf(v->out, "  Times in the trace are %s apart: %s call%s shorter.\n",
			duration_text(v->l->step, text), human_count(f->below, number),
			f->below == 1 ? " is" : "s are");
	durations_histogram(v->out, &f->ns, v->l->step, "calls");
	if (f->slowest.nr)
		fprintf(v->out, "\nSlowest calls\n");
	for (size_t i = 0; !rc && i < f->slowest.nr; i++)
		rc = put_call(v, &f->slowest.calls[i]);
	return rc;
}

int latency_render(FILE *out, struct call_latency *l, double percent)
{
	struct latency_view v = {.out = out, .l = l, .percent = percent};
	int rc = 0;

	for (size_t i = 0; !rc && i < l->nr_wanted; i++) {
		if (i)
			fputs("\n", out);
		rc = put_function(&v, &l->wanted[i]);
	}
	return rc;
}
