// SPDX-License-Identifier: Apache-2.0
#include "report/annotate/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/report.h"

/* --- the report that counts ----------------------------------------------------------------------
 */

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* a: the symbol; 0: none. b: what is added to addresses of a module or JIT in the machine. */
static int function_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct frame *f = src->frame;

	*ret = (struct hist_cell){.a = (uintptr_t)f->sym};
	if (f->dso && (f->dso->kind == DSO_MODULE || f->dso->kind == DSO_JIT))
		ret->b = f->ip - f->addr;
	return 0;
}

/* a: index of the dso + 1, b: the address in it. All samples without a symbol are equal. */
static int place_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct frame *f = src->frame;

	*ret = (struct hist_cell){0};
	if (f->sym && f->dso)
		*ret = (struct hist_cell){.a = (uint64_t)f->dso->index + 1, .b = f->addr};
	return 0;
}

/* The rows are read as cells, not as text. */
static int cell_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "0x%" PRIx64, cell.b);
}

/* annotate_sort() orders the functions; here any order will do. */
static int cell_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return compare_u64(a.a, b.a) ?: compare_u64(a.b, b.b);
}

static const struct sort_key function_key = {
	.name = "function",
	.header = "",
	.of_frame = true,
	.cell = function_cell,
	.text = cell_text,
	.compare = cell_compare,
};

static const struct sort_key place_key = {
	.name = "place",
	.header = "",
	.of_frame = true,
	.cell = place_cell,
	.text = cell_text,
	.compare = cell_compare,
};

static struct report_opts report_opts(const struct filter *f)
{
	return (struct report_opts){
		.keys = {&function_key, &place_key},
		.nr_keys = 2,
		.graph = REPORT_GRAPH_NONE,
		.filter = *f,
	};
}

enum digest_kind annotate_takes_digests(const struct trace *t, const struct filter *f)
{
	const struct report_opts opts = report_opts(f);

	return report_takes_digests(t, &opts);
}

/* --- from its rows to functions ------------------------------------------------------------------
 */

/* A row of the report. */
struct row {
	const struct symbol *sym;
	uint32_t dso;
	uint64_t base;
	struct annotate_place place;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_u64((uintptr_t)x->sym, (uintptr_t)y->sym)
		       ?: compare_u64(x->place.addr, y->place.addr)
		       ?: compare_u64(x->place.event, y->place.event)
		       ?: compare_u64(x->dso, y->dso);
}

static int compare_dsos(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return compare_u64(x->dso, y->dso);
}

static void add_weight(struct annotate_weight *to, const struct annotate_weight *from)
{
	to->samples += from->samples;
	to->period += from->period;
}

/* Fills @row with the rows that have a symbol, and counts the others. Returns their number. */
static size_t take_rows(struct annotate *a, const struct report *r, struct row *row)
{
	size_t nr = 0;

	for (size_t e = 0; e < a->nr_events; e++) {
		const struct hist *h = &r->tables.hists[e];

		a->whole[e] = (struct annotate_weight){h->samples, h->period};
		for (size_t i = 0; i < h->nr; i++) {
			const struct hist_cell *cell = hist_cells(h, &h->entry[i]);
			const struct annotate_weight weight = {h->entry[i].samples,
							       h->entry[i].self};

			if (!cell[0].a || !cell[1].a) {
				add_weight(&a->nowhere[e], &weight);
				continue;
			}
			row[nr++] = (struct row){
				.sym = (const struct symbol *)(uintptr_t)cell[0].a,
				.dso = (uint32_t)(cell[1].a - 1),
				.base = cell[0].b,
				.place = {.addr = cell[1].b, .event = e, .weight = weight},
			};
		}
	}
	return nr;
}

/* Finds the dso with most samples among @nr rows; of equal ones the first. @by is scratch. */
static uint32_t most_sampled(const struct row *row, size_t nr, const struct row **by)
{
	uint64_t most = 0, samples = 0;
	uint32_t best = row[0].dso;

	for (size_t i = 0; i < nr; i++)
		by[i] = &row[i];
	qsort(by, nr, sizeof(*by), compare_dsos);
	for (size_t i = 0; i < nr; i++) {
		if (i && by[i]->dso != by[i - 1]->dso)
			samples = 0;
		samples += by[i]->place.weight.samples;
		if (samples > most) {
			most = samples;
			best = by[i]->dso;
		}
	}
	return best;
}

/* Adds the function of @nr rows. Equal addresses in several copies of a file become one place. */
static void add_function(struct annotate *a, const struct row *row, size_t nr,
			 const struct row **by)
{
	struct annotate_function *f = &a->function[a->nr];

	*f = (struct annotate_function){
		.sym = row->sym,
		.dso = state_dso_at(a->trace->state, most_sampled(row, nr, by)),
		.base = row->base,
		.first = a->nr_places,
		.total = &a->totals[a->nr * a->nr_events],
	};
	for (size_t i = 0; i < nr; i++) {
		struct annotate_place *last = &a->place[a->nr_places - 1];

		add_weight(&f->total[row[i].place.event], &row[i].place.weight);
		if (f->nr && last->addr == row[i].place.addr && last->event == row[i].place.event) {
			add_weight(&last->weight, &row[i].place.weight);
			continue;
		}
		a->place[a->nr_places++] = row[i].place;
		f->nr++;
	}
	a->nr++;
}

static int group_rows(struct annotate *a, struct row *row, size_t nr)
{
	const struct row **by = calloc(nr + 1, sizeof(*by));
	size_t functions = 0, end;

	if (nr)
		qsort(row, nr, sizeof(*row), compare_rows);
	for (size_t i = 0; i < nr; i++)
		functions += !i || row[i].sym != row[i - 1].sym;
	a->function = calloc(functions + 1, sizeof(*a->function));
	a->place = calloc(nr + 1, sizeof(*a->place));
	a->totals = calloc(functions * a->nr_events + 1, sizeof(*a->totals));
	if (!by || !a->function || !a->place || !a->totals) {
		free(by);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i = end) {
		for (end = i; end < nr && row[end].sym == row[i].sym; end++)
			;
		add_function(a, &row[i], end - i, by);
	}
	free(by);
	return 0;
}

static int build(struct annotate *a, const struct report *r)
{
	struct row *row;
	size_t nr = 0;
	int rc;

	a->nr_events = r->tables.nr;
	a->whole = calloc(a->nr_events + 1, sizeof(*a->whole));
	a->nowhere = calloc(a->nr_events + 1, sizeof(*a->nowhere));
	for (size_t e = 0; e < a->nr_events; e++)
		nr += r->tables.hists[e].nr;
	row = calloc(nr + 1, sizeof(*row));
	rc = a->whole && a->nowhere && row ? 0 : -ENOMEM;
	if (!rc) {
		nr = take_rows(a, r, row);
		rc = group_rows(a, row, nr);
	}
	free(row);
	return rc;
}

int annotate_run(struct trace *t, const struct filter *f, struct annotate **ret, struct error *err)
{
	const struct report_opts opts = report_opts(f);
	struct annotate *a = calloc(1, sizeof(*a));
	struct report *r = NULL;
	int rc;

	if (!a)
		return error_set(err, -ENOMEM, "out of memory");
	a->trace = t;
	rc = report_run(t, &opts, &r, err);
	if (!rc) {
		rc = build(a, r);
		if (rc)
			error_sys(err, rc, "%s", t->opts.path);
	}
	report_free(r);
	if (rc)
		annotate_free(a);
	else
		*ret = a;
	return rc;
}

void annotate_free(struct annotate *a)
{
	if (!a)
		return;
	free(a->whole);
	free(a->nowhere);
	free(a->function);
	free(a->place);
	free(a->totals);
	free(a);
}

/* --- order and sums ------------------------------------------------------------------------------
 */

struct annotate_order {
	size_t event, nr_events;
};

static int compare_functions(const void *a, const void *b, void *arg)
{
	const struct annotate_function *x = a, *y = b;
	const struct annotate_order *o = arg;

	for (size_t e = o->event; e < o->nr_events; e++) {
		int rc = compare_u64(y->total[e].period, x->total[e].period)
				 ?: compare_u64(y->total[e].samples, x->total[e].samples);

		if (rc)
			return rc;
	}
	return strcmp(x->sym->name, y->sym->name) ?: compare_u64(x->sym->start, y->sym->start)
		?: compare_u64(x->dso->index, y->dso->index);
}

void annotate_sort(struct annotate *a, size_t event)
{
	struct annotate_order o = {event, a->nr_events};

	if (a->nr)
		qsort_r(a->function, a->nr, sizeof(*a->function), compare_functions, &o);
}

void annotate_sum(const struct annotate *a, const struct annotate_function *f, uint64_t start,
		  uint64_t end, size_t *cursor, struct annotate_weight *ret)
{
	memset(ret, 0, a->nr_events * sizeof(*ret));
	for (; *cursor < f->nr; (*cursor)++) {
		const struct annotate_place *p = &a->place[f->first + *cursor];

		if (p->addr >= end)
			break;
		if (p->addr >= start)
			add_weight(&ret[p->event], &p->weight);
	}
}
