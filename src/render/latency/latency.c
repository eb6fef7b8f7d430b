// SPDX-License-Identifier: Apache-2.0
#include "render/latency/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock_ns.h"
#include "base/human.h"
#include "base/plural.h"
#include "render/text.h"

#define BAR	      40 /* columns */
#define DURATION_SIZE 32
#define DURATION_COLS 10

struct latency_view {
	FILE *out;
	const struct call_latency *l;
	double percent;
	uint64_t all; /* ns of the call whose tree is written */
};

/* Writes @ns with three digits, in the unit that suits. */
static const char *duration(uint64_t ns, char out[DURATION_SIZE - 2])
{
	static const char *const units[] = {"us", "ms", "s"};
	double v = (double)ns;
	size_t unit = 0;

	if (ns < 1000) {
		snprintf(out, DURATION_SIZE - 2, "%" PRIu64 " ns", ns);
		return out;
	}
	v /= 1000;
	while (v >= 999.5 && unit < 2) {
		v /= 1000;
		unit++;
	}
	snprintf(out, DURATION_SIZE - 2, "%.*f %s",
		 v < 9.995   ? 2
		 : v < 99.95 ? 1
			     : 0,
		 v, units[unit]);
	return out;
}

/* As duration(); what is less than a step of the times is only known to be so. */
static const char *measured(const struct call_latency *l, uint64_t ns, char out[DURATION_SIZE])
{
	char step[DURATION_SIZE - 2];

	if (ns >= l->step && ns)
		return duration(ns, out);
	if (!l->step)
		return "unknown";
	snprintf(out, DURATION_SIZE, "< %s", duration(l->step, step));
	return out;
}

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

static void put_percentiles(const struct call_latency *l, FILE *out, struct latency_function *f)
{
	static const struct {
		const char *name;
		double share;
	} columns[] = {{"min", 0},    {"median", 0.5},	{"p90", 0.9},
		       {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
	char text[DURATION_SIZE];

	fputc('\n', out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(out, "  %*s", DURATION_COLS, columns[i].name);
	fputc('\n', out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(out, "  %*s", DURATION_COLS,
			measured(l, distribution_at(&f->ns, columns[i].share), text));
	fputc('\n', out);
	if (f->outer && f->outer >= l->step)
		fprintf(out, "  %.1f %% of the time in the function itself\n",
			100.0 * (double)f->outer_self / (double)f->outer);
}

static void put_row(FILE *out, const char *label, uint64_t n, uint64_t most)
{
	char number[HUMAN_COUNT_SIZE];
	int bar = n ? (int)((double)n / (double)most * BAR + 0.5) : 0;

	fprintf(out, "  %s %12s%s", label, human_count(n, number), n ? "  " : "");
	for (int i = 0; i < (n && !bar ? 1 : bar); i++)
		fputc('*', out);
	fputc('\n', out);
}

/* The first power of two that is not less than a step: below, lengths are not known. */
static unsigned int first_power(const struct call_latency *l)
{
	unsigned int power = 0;

	while (power < 63 && 1ull << power < l->step)
		power++;
	return power;
}

static void put_histogram(const struct call_latency *l, FILE *out, const struct latency_function *f)
{
	unsigned int first = first_power(l), last = DISTRIBUTION_POWERS - 1;
	uint64_t below = 0, most = 0;
	char from[DURATION_SIZE], label[2 * DURATION_SIZE];

	for (unsigned int i = 0; i <= first; i++)
		below += f->ns.powers[i];
	for (unsigned int i = first + 1; i < DISTRIBUTION_POWERS; i++)
		most = f->ns.powers[i] > most ? f->ns.powers[i] : most;
	most = below > most ? below : most;
	while (last > first && !f->ns.powers[last])
		last--;
	while (!below && first + 1 < last && !f->ns.powers[first + 1])
		first++;
	fprintf(out, "\n  %*s %12s\n", DURATION_COLS + 6, "duration", "calls");
	if (below) {
		snprintf(label, sizeof(label), "%*s %*s", 5, "below", DURATION_COLS,
			 duration(1ull << first, from));
		put_row(out, label, below, most);
	}
	for (unsigned int i = first + 1; i <= last; i++) {
		snprintf(label, sizeof(label), "%*s %*s", 5, "from", DURATION_COLS,
			 duration(1ull << (i - 1), from));
		put_row(out, label, f->ns.powers[i], most);
	}
}

/* --- slowest calls -------------------------------------------------------------------------------
 */

static void put_node(const struct latency_view *v, const struct call_node *n)
{
	char total[DURATION_SIZE], self[DURATION_SIZE], number[HUMAN_COUNT_SIZE];

	fprintf(v->out, "  %*s %*s %6.1f %10s  %*s", DURATION_COLS, measured(v->l, n->total, total),
		DURATION_COLS, measured(v->l, call_node_self(n), self),
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
			measured(v->l, total, text), DURATION_COLS, "", "", calls,
			(int)t->nodes[node].depth * 2 + 2, "", functions, plural_s(functions));
	free(children);
	return rc;
}

static int put_call(struct latency_view *v, const struct latency_call *c)
{
	char text[DURATION_SIZE], number[HUMAN_COUNT_SIZE];
	int rc;

	v->all = c->ns;
	fprintf(v->out, "\n%s at %" PRIu64 ".%09" PRIu64 ", ", measured(v->l, c->ns, text),
		(uint64_t)(c->time / NS_PER_SEC), (uint64_t)(c->time % NS_PER_SEC));
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
	put_percentiles(v->l, v->out, f);
	if (f->below)
		fprintf(v->out, "  Times in the trace are %s apart: %s call%s shorter.\n",
			duration(v->l->step, text), human_count(f->below, number),
			f->below == 1 ? " is" : "s are");
	put_histogram(v->l, v->out, f);
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
