// SPDX-License-Identifier: Apache-2.0
#include "render/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "render/text.h"

#define NUMBER_WIDTH  8 /* of the columns of percentages */
#define SAMPLES_WIDTH 12
#define PERIOD_WIDTH  12

struct table {
	FILE *out;
	struct report *r;
	const struct hist *h;
	const struct table_opts *opts;
	size_t width[SORT_KEYS_MAX];
	struct buf line, cell;
};

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static bool is_shown(const struct table *t, const struct hist_entry *e)
{
	uint64_t weight = t->r->opts->children ? e->children : e->self;

	return percent(weight, t->h->period) >= t->opts->percent_limit;
}

/* Puts the escaped text of a cell into t->cell. */
static int cell_text(struct table *t, const struct hist_entry *e, size_t key)
{
	struct buf raw = {0};
	int rc = t->h->keys[key]->text(t->r->trace, hist_cells(t->h, e)[key], &raw);

	t->cell.len = 0;
	if (!rc)
		rc = text_escape_len(&t->cell, (const char *)raw.data, raw.len);
	buf_release(&raw);
	return rc;
}

static int measure(struct table *t)
{
	for (size_t k = 0; k < t->h->nr_keys; k++)
		t->width[k] = strlen(t->h->keys[k]->header);
	for (size_t i = 0; i < t->h->nr; i++) {
		if (!is_shown(t, &t->h->entry[i]))
			continue;
		for (size_t k = 0; k < t->h->nr_keys; k++) {
			size_t n;

			if (cell_text(t, &t->h->entry[i], k) < 0)
				return -ENOMEM;
			n = text_columns((const char *)t->cell.data, t->cell.len);
			if (n > t->width[k])
				t->width[k] = n;
		}
	}
	return 0;
}

/* Appends a column; as in perf, a separator within the text becomes a point. */
static int add_separated(struct table *t, const char *text, size_t len)
{
	char separator = t->opts->separator;
	size_t start;
	int rc = buf_append(&t->line, &separator, 1);

	for (; len && *text == ' '; len--)
		text++;
	start = t->line.len;
	if (!rc)
		rc = buf_append(&t->line, text, len);
	for (size_t i = start; !rc && i < t->line.len; i++)
		if (t->line.data[i] == (uint8_t)separator)
			t->line.data[i] = '.';
	return rc;
}

static int add_column(struct table *t, const char *text, size_t len, size_t width, bool right,
		      bool last)
{
	if (t->opts->separator)
		return add_separated(t, text, len);

	size_t columns = text_columns(text, len);
	int pad = columns < width ? (int)(width - columns) : 0;
	int rc = buf_append(&t->line, "  ", 2);

	if (!rc && right)
		rc = buf_printf(&t->line, "%*s", pad, "");
	if (!rc && len)
		rc = buf_append(&t->line, text, len);
	if (!rc && !right && !last)
		rc = buf_printf(&t->line, "%*s", pad, "");
	return rc;
}

static void put_line(struct table *t, const char *start)
{
	if (t->opts->width && !t->opts->separator)
		text_truncate(&t->line, 0, t->opts->width - strlen(start));
	fputs(start, t->out);
	if (t->line.len)
		fwrite(t->line.data, 1, t->line.len, t->out);
	putc('\n', t->out);
	t->line.len = 0;
}

/* Appends dots under a heading, as wide as the column. */
static int add_dots(struct table *t, size_t width)
{
	int rc = buf_append(&t->line, "  ", 2);

	while (!rc && width--)
		rc = buf_append(&t->line, ".", 1);
	return rc;
}

/* Appends the heading of a number; the first has no separator before it. */
static int add_number_heading(struct table *t, const char *text, int width)
{
	if (t->opts->separator)
		return add_separated(t, text, strlen(text));
	return buf_printf(&t->line, "  %*s", width, text);
}

static int add_number_headings(struct table *t)
{
	bool children = t->r->opts->children;
	int rc = buf_printf(&t->line, children ? "Children" : "Overhead");

	if (!rc && children)
		rc = add_number_heading(t, "Self", NUMBER_WIDTH);
	if (!rc && t->opts->show_samples)
		rc = add_number_heading(t, "Samples", SAMPLES_WIDTH);
	if (!rc && t->opts->show_period)
		rc = add_number_heading(t, "Period", PERIOD_WIDTH);
	return rc;
}

static int put_dots(struct table *t)
{
	int rc = buf_printf(&t->line, t->r->opts->children ? "........  ........" : "........");

	if (!rc && t->opts->show_samples)
		rc = add_dots(t, SAMPLES_WIDTH);
	if (!rc && t->opts->show_period)
		rc = add_dots(t, PERIOD_WIDTH);
	for (size_t k = 0; !rc && k < t->h->nr_keys; k++)
		rc = add_dots(t, t->width[k]);
	if (rc < 0)
		return rc;
	put_line(t, "# ");
	fputs("#\n", t->out);
	return 0;
}

static int put_heading(struct table *t)
{
	const struct hist *h = t->h;
	int rc = add_number_headings(t);

	for (size_t k = 0; !rc && k < h->nr_keys; k++)
		rc = add_column(t, h->keys[k]->header, strlen(h->keys[k]->header), t->width[k],
				h->keys[k]->right, k + 1 == h->nr_keys);
	if (rc < 0)
		return rc;
	put_line(t, "# ");
	return t->opts->separator ? 0 : put_dots(t);
}

static int add_percent(struct table *t, uint64_t part)
{
	double share = percent(part, t->h->period);

	if (!t->opts->separator)
		return buf_printf(&t->line, "  %*.2f%%", NUMBER_WIDTH - 1, share);
	return buf_printf(&t->line, "%.*s%.2f%%", t->line.len ? 1 : 0, &t->opts->separator, share);
}

static int add_count(struct table *t, uint64_t count, int width)
{
	if (!t->opts->separator)
		return buf_printf(&t->line, "  %*" PRIu64, width, count);
	return buf_printf(&t->line, "%c%" PRIu64, t->opts->separator, count);
}

/* Appends the columns before the keys. */
static int add_numbers(struct table *t, const struct hist_entry *e)
{
	bool children = t->r->opts->children;
	int rc = add_percent(t, children ? e->children : e->self);

	if (!rc && children)
		rc = add_percent(t, e->self);
	if (!rc && t->opts->show_samples)
		rc = add_count(t, e->samples, SAMPLES_WIDTH);
	if (!rc && t->opts->show_period)
		rc = add_count(t, e->self, PERIOD_WIDTH);
	return rc;
}

static int put_graph(struct table *t, const struct hist_entry *e)
{
	const struct report_opts *opts = t->r->opts;
	const struct callers_bounds bounds = graph_bounds(t->h->period, t->opts);
	/* The row names the function at which such a tree begins; the tree leaves it out. */
	bool own = opts->children || opts->graph == REPORT_GRAPH_CALLEE;
	struct graph_row row = {
		.weight = opts->children ? e->children : e->self,
		.total = t->h->period,
	};
	int rc = report_tree(t->r, (size_t)(t->h - t->r->tables.hists), e, &bounds, &row.g,
			     &row.root);

	if (rc < 0)
		return rc;
	return graph_render(t->out, &row, own && !strcmp(t->h->keys[0]->name, "sym"), t->opts);
}

static int put_row(struct table *t, const struct hist_entry *e)
{
	const struct hist *h = t->h;
	int rc = add_numbers(t, e);

	for (size_t k = 0; !rc && k < h->nr_keys; k++) {
		rc = cell_text(t, e, k);
		if (!rc)
			rc = add_column(t, (const char *)t->cell.data, t->cell.len, t->width[k],
					h->keys[k]->right, k + 1 == h->nr_keys);
	}
	if (rc < 0)
		return rc;
	put_line(t, "");
	return t->opts->separator ? 0 : put_graph(t, e);
}

static void put_counts(struct table *t, const struct pd_evsel *evsel)
{
	char unit;
	uint64_t n = text_unit(t->h->samples, &unit);

	fprintf(t->out, "# Samples: %" PRIu64 "%c of event '", n, unit);
	text_put(t->out, evsel->name, 0);
	fprintf(t->out, "'\n# Event count (approx.): %" PRIu64 "\n#\n", t->h->period);
}

static int put_event(struct table *t, const struct pd_evsel *evsel)
{
	int rc = measure(t);

	if (rc < 0)
		return rc;
	if (!t->opts->quiet) {
		put_counts(t, evsel);
		rc = put_heading(t);
	}
	for (size_t i = 0; !rc && i < t->h->nr; i++)
		if (is_shown(t, &t->h->entry[i]))
			rc = put_row(t, &t->h->entry[i]);
	return rc;
}

static void put_loss_part(FILE *out, const struct trace_loss *l, const struct trace_loss *all)
{
	fprintf(out, "%" PRIu64 " lost (%" PRIu64 " in rings, %" PRIu64 " in the PMU",
		trace_loss_total(l, all), trace_loss_rings(l, all), l->pmu);
	if (l->pool)
		fprintf(out, ", %" PRIu64 " by a slow output", l->pool);
	if (l->output)
		fprintf(out, ", %" PRIu64 " by an output that failed", l->output);
	fputc(')', out);
	if (l->throttled)
		fprintf(out, ", throttled %" PRIu64 " time%s", l->throttled,
			plural_s(l->throttled));
	fputc('\n', out);
}

static bool loss_any(const struct trace_loss *l, const struct trace_loss *all)
{
	return l->throttled || trace_loss_total(l, all);
}

static void put_loss(FILE *out, const struct trace *t)
{
	const struct trace_counts *c = &t->counts;
	uint64_t lost = trace_loss_total(&c->loss, &c->loss);
	double share;

	fprintf(out, "#\n# Total Lost Samples: %" PRIu64, lost);
	if (lost && trace_loss_share(t, lost, &share))
		fprintf(out, " (%.2f%% of all samples)", share);
	fputc('\n', out);
	for (size_t i = 0; i < c->nr_events; i++) {
		const struct trace_event_counts *e = &c->by_event[i];

		if (!loss_any(&e->loss, &c->loss))
			continue;
		fputs("#   event '", out);
		text_put(out, pd_evlist_at(t->evlist, i)->name, 0);
		fputs("': ", out);
		put_loss_part(out, &e->loss, &c->loss);
	}
	for (size_t i = 0; i < c->nr_cpus; i++) {
		const struct trace_cpu_loss *l = &c->by_cpu[i];

		if (!loss_any(&l->loss, &c->loss))
			continue;
		if (l->cpu == UINT32_MAX)
			fputs("#   unknown CPU: ", out);
		else
			fprintf(out, "#   CPU %u: ", l->cpu);
		put_loss_part(out, &l->loss, &c->loss);
	}
	fputs("#\n", out);
}

int table_render(FILE *out, struct report *r, const struct table_opts *opts)
{
	struct table t = {.out = out, .r = r, .opts = opts};
	bool first = true;
	int rc = 0;

	if (!opts->quiet)
		put_loss(out, r->trace);
	for (size_t i = 0; !rc && i < r->tables.nr; i++) {
		t.h = &r->tables.hists[i];
		if (!t.h->samples)
			continue;
		if (!first)
			fputs("\n\n", out);
		first = false;
		rc = put_event(&t, pd_evlist_at(r->trace->evlist, i));
	}
	if (!rc && first && !opts->quiet)
		fputs("# No samples\n", out);
	buf_release(&t.line);
	buf_release(&t.cell);
	return rc;
}
