// SPDX-License-Identifier: Apache-2.0
#include "render/table_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/plural.h"
#include "render/table_fit.h"
#include "render/text.h"

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

bool table_is_shown(const struct table *t, const struct hist_entry *e)
{
	for (size_t m = 0; m < hist_members(t->h); m++) {
		const struct hist_entry *there = hist_member_entry(t->h, e, m);
		const struct hist *h = hist_member(t->h, m);
		uint64_t all;
		uint64_t share = columns_share(t->columns, t->r->opts->children, h, there, &all);

		if (percent(share, all) >= t->opts->percent_limit)
			return true;
	}
	return false;
}

/* Returns the place of a key's cell in a row. */
static size_t cell_of(const struct table *t, const struct sort_key *key)
{
	size_t i = 0;

	while (t->h->keys[i] != key)
		i++;
	return i;
}

/* Puts the escaped text of a cell into t->cell. */
static int key_text(struct table *t, const struct hist_entry *e, const struct sort_key *key)
{
	int rc;

	t->raw.len = t->cell.len = 0;
	rc = key->text(t->r->trace, hist_cells(t->h, e)[cell_of(t, key)], &t->raw);
	return rc ? rc : text_escape_len(&t->cell, (const char *)t->raw.data, t->raw.len);
}

/* Appends a percentage to t->cell; @width 0: as short as it is. */
static int add_share(struct table *t, uint64_t part, uint64_t all, int width)
{
	struct share_text *s = &t->share[part * 0x9e3779b97f4a7c15ull >> 58 & (SHARE_TEXTS - 1)];

	if (!s->all || s->part != part || s->all != all || s->width != width) {
		*s = (struct share_text){.part = part, .all = all, .width = width};
		s->len = snprintf(s->text, sizeof(s->text), "%*.2f%%", width ? width - 1 : 0,
				  percent(part, all));
	}
	return buf_append(&t->cell, s->text, (size_t)s->len);
}

/* Appends the number of a member of the group to t->cell; @width 0: as short as it is. */
static int add_number(struct table *t, const struct hist_entry *e, const struct field *f, size_t m,
		      int width)
{
	const struct hist *h = hist_member(t->h, m);
	const struct hist_entry *there = hist_member_entry(t->h, e, m);
	uint64_t value = there ? f->value(h, there) : 0;

	if (f->children && !t->r->opts->children)
		return buf_printf(&t->cell, "%*s", width, "N/A");
	switch (f->kind) {
	case FIELD_COUNT: return buf_printf(&t->cell, "%*" PRIu64, width, value);
	case FIELD_TIME:
		return buf_printf(&t->cell, "%*.3f ms", width > 3 ? width - 3 : 0,
				  (double)value / 1e6);
	case FIELD_AVERAGE: return buf_printf(&t->cell, "%*.1f", width, field_ratio(f, h, there));
	case FIELD_SHARE:
		if (isnan(field_ratio(f, h, there)))
			return buf_printf(&t->cell, "%*s", width, "-");
		return buf_printf(&t->cell, "%*.1f%%", width ? width - 1 : 0,
				  field_ratio(f, h, there));
	case FIELD_PERCENT:
	case FIELD_LATENCY: break;
	}
	return add_share(t, value, f->kind == FIELD_LATENCY ? h->latency : h->period, width);
}

/* Puts the text of a row's column into t->cell: a sum for each member, or the text of a key. */
int table_cell_text(struct table *t, const struct hist_entry *e, const struct column *c)
{
	const struct field *f = c->field;
	int rc = 0;

	if (c->key)
		return key_text(t, e, c->key);
	t->cell.len = 0;
	for (size_t m = 0; !rc && m < hist_members(t->h); m++) {
		if (m && t->opts->separator)
			rc = buf_append(&t->cell, " ", 1);
		if (!rc)
			rc = add_number(t, e, f, m, t->opts->separator ? 0 : (int)f->width);
	}
	return rc;
}

/* Returns the heading of a column; beside Children the share is Self, if perf chose the columns. */
const char *table_heading(const struct table *t, const struct column *c)
{
	if (c->key)
		return c->key->header;
	if (!t->opts->named_fields && t->r->opts->children && !strcmp(c->field->name, "overhead"))
		return "Self";
	return c->field->header;
}

static int measure_cells(struct table *t, size_t column)
{
	for (size_t i = 0; i < t->h->nr; i++) {
		size_t n;

		if (!table_is_shown(t, &t->h->entry[i]))
			continue;
		if (table_cell_text(t, &t->h->entry[i], &t->columns->shown[column]) < 0)
			return -ENOMEM;
		n = text_columns((const char *)t->cell.data, t->cell.len);
		if (n > t->width[column])
			t->width[column] = n;
		if (t->columns->shown[column].field)
			break; /* the others are as wide */
	}
	return 0;
}

/* Widths that the user gives replace those of keys; numbers keep at least their heading's. */
static int measure(struct table *t)
{
	for (size_t i = 0; i < t->columns->nr_shown; i++) {
		const struct column *c = &t->columns->shown[i];
		size_t wanted = i < t->opts->nr_widths ? t->opts->widths[i] : 0;

		t->width[i] = strlen(table_heading(t, c));
		if (c->field && wanted > t->width[i])
			t->width[i] = wanted;
		if (c->key && wanted)
			t->width[i] = wanted;
		else if (measure_cells(t, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Fits the columns into the terminal. Lines that would lose a name are longer than it. */
static void fit(struct table *t)
{
	struct fit_column c[COLUMNS_MAX];
	bool whole = t->opts->separator || t->opts->nr_widths;

	t->line_width = whole ? 0 : t->opts->width;
	if (!t->line_width || t->r->opts->nested)
		return;
	for (size_t i = 0; i < t->columns->nr_shown; i++) {
		const struct sort_key *key = t->columns->shown[i].key;

		c[i] = (struct fit_column){key ? fit_kind_of(key) : FIT_NUMBER, t->width[i]};
	}
	if (!fit_columns(c, t->columns->nr_shown, t->line_width))
		t->line_width = 0;
	for (size_t i = 0; i < t->columns->nr_shown; i++)
		t->width[i] = c[i].width;
}

/* Appends a column; as in perf, a separator within the text becomes a point. */
int table_add_separated(struct table *t, const char *text, size_t len, bool is_key, bool first)
{
	char separator = t->opts->separator;
	size_t start;
	int rc = first ? 0 : buf_append(&t->line, &separator, 1);

	for (; len && *text == ' '; len--)
		text++;
	start = t->line.len;
	if (!rc && len)
		rc = buf_append(&t->line, text, len);
	for (size_t i = start; !rc && is_key && i < t->line.len; i++)
		if (t->line.data[i] == (uint8_t)separator)
			t->line.data[i] = '.';
	return rc;
}

/* Appends a column with a text, which is cut to the column's width. */
int table_add_column(struct table *t, size_t column, const char *text, size_t len)
{
	const struct column *c = &t->columns->shown[column];
	bool right = c->field || c->key->right, last = column + 1 == t->columns->nr_shown;
	size_t columns, start, pad;
	int rc;

	if (t->opts->separator)
		return table_add_separated(t, text, len, c->key, !column);
	rc = buf_append(&t->line, "  ", 2);
	columns = text_columns(text, len);
	pad = columns < t->width[column] ? t->width[column] - columns : 0;
	if (!rc && right)
		rc = buf_fill(&t->line, ' ', pad);
	start = t->line.len;
	if (!rc && len)
		rc = buf_append(&t->line, text, len);
	if (columns > t->width[column])
		text_truncate(&t->line, start, t->width[column]);
	if (!rc && !right && !last)
		rc = buf_fill(&t->line, ' ', pad);
	return rc;
}

void table_put_line(struct table *t, const char *start)
{
	if (t->line_width)
		text_truncate(&t->line, 0, t->line_width - strlen(start));
	fputs(start, t->out);
	text_put_painted(t->out, &t->line, t->paint, t->nr_paints);
	putc('\n', t->out);
	t->line.len = 0;
	t->nr_paints = 0;
}

/* Writes a line of the heading; its "# " replaces the space before the first column. */
void table_put_comment(struct table *t)
{
	if (t->opts->separator) {
		table_put_line(t, "# ");
		return;
	}
	if (t->line.len >= 2)
		memcpy(t->line.data, "# ", 2);
	table_put_line(t, "");
}

/* Appends dots under a heading, as wide as the column. */
int table_add_dots(struct table *t, size_t width)
{
	return buf_append(&t->line, "  ", 2) ?: buf_fill(&t->line, '.', width);
}

static int put_dots(struct table *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->columns->nr_shown; i++)
		rc = table_add_dots(t, t->width[i]);
	if (rc < 0)
		return rc;
	table_put_comment(t);
	fputs("#\n", t->out);
	return 0;
}

static int put_heading(struct table *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->columns->nr_shown; i++) {
		const char *text = table_heading(t, &t->columns->shown[i]);

		rc = table_add_column(t, i, text, strlen(text));
	}
	if (rc < 0)
		return rc;
	table_put_comment(t);
	return t->opts->separator ? 0 : put_dots(t);
}

int table_put_graph(struct table *t, const struct hist_entry *e)
{
	const struct report_opts *opts = t->r->opts;
	const struct callers_bounds bounds = graph_bounds(t->h->period, t->opts);
	/* The row names the function at which such a tree begins; the tree leaves it out. */
	bool own = opts->children || opts->graph == REPORT_GRAPH_CALLEE;
	struct graph_row row = {
		.weight = opts->children ? e->children : e->self,
		.total = t->h->period,
	};
	int rc = report_tree(t->r, t->event, e, &bounds, &row.g, &row.root);

	if (rc < 0)
		return rc;
	return graph_render(t->out, &row,
			    own && t->h->nr_keys && !strcmp(t->h->keys[0]->name, "sym"), t->opts);
}

/* Returns the largest percentage in a cell; 0: it has none. */
static double share_of_cell(const struct table *t, const struct hist_entry *e,
			    const struct field *f)
{
	double most = 0;

	if (!f || (f->kind != FIELD_PERCENT && f->kind != FIELD_LATENCY))
		return 0;
	for (size_t m = 0; m < hist_members(t->h); m++) {
		const struct hist *h = hist_member(t->h, m);
		const struct hist_entry *there = hist_member_entry(t->h, e, m);
		double share = percent(there ? f->value(h, there) : 0,
				       f->kind == FIELD_LATENCY ? h->latency : h->period);

		most = share > most ? share : most;
	}
	return most;
}

int table_add_cell(struct table *t, const struct hist_entry *e, size_t column)
{
	const struct column *c = &t->columns->shown[column];
	size_t from = t->line.len;
	int rc = table_cell_text(t, e, c);

	if (!rc)
		rc = table_add_column(t, column, (const char *)t->cell.data, t->cell.len);
	if (!rc && t->opts->colors && t->nr_paints < COLUMNS_MAX)
		t->paint[t->nr_paints++] = (struct text_paint){
			from, t->line.len, text_share_color(share_of_cell(t, e, c->field))};
	return rc;
}

static int put_row(struct table *t, const struct hist_entry *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->columns->nr_shown; i++)
		rc = table_add_cell(t, e, i);
	if (rc < 0)
		return rc;
	table_put_line(t, "");
	return t->opts->separator ? 0 : table_put_graph(t, e);
}

/* Writes the name of an event, or of a group as perf does. */
static void put_name(struct table *t)
{
	const struct pd_evlist *list = t->r->trace->evlist;
	bool real = pd_evlist_at(list, t->event)->nr_members > 1;

	fprintf(t->out, "%s '%s", hist_members(t->h) > 1 ? "events" : "event",
		hist_members(t->h) > 1 && real ? "anon group { " : "");
	for (size_t m = 0; m < hist_members(t->h); m++) {
		size_t event = (size_t)(hist_member(t->h, m) - t->r->tables.hists);

		fputs(m ? ", " : "", t->out);
		text_put(t->out, pd_evlist_at(list, event)->name, 0);
	}
	fprintf(t->out, "%s'\n", hist_members(t->h) > 1 && real ? " }" : "");
}

/* Of waits, which may stand beside samples. */
static void put_elapsed(const struct table *t, uint64_t samples, uint64_t ns)
{
	const struct report *r = t->r;
	char number[HUMAN_COUNT_SIZE];

	if (r->opts->waits->wall) {
		fputs("# Time of threads, off CPUs by their waits, on CPUs by samples of '",
		      t->out);
		text_put(t->out, r->waits.event->name, 0);
		fputs("'\n", t->out);
	} else {
		fputs("# Time of threads off CPUs\n", t->out);
	}
	fprintf(t->out, "# Waits%s: %s\n# Time: %.6f s\n#\n",
		r->opts->waits->wall ? " and samples" : "", human_count(samples, number),
		(double)ns / 1e9);
}

static void put_counts(struct table *t)
{
	uint64_t samples = 0, period = 0, n;
	char unit;

	for (size_t m = 0; m < hist_members(t->h); m++) {
		samples += hist_member(t->h, m)->samples;
		period += hist_member(t->h, m)->period;
	}
	n = text_unit(samples, &unit);
	if (t->r->opts->waits) {
		put_elapsed(t, samples, period);
		return;
	}
	fprintf(t->out, "# Samples: %" PRIu64 "%c of ", n, unit);
	put_name(t);
	fprintf(t->out, "# Event count (approx.): %" PRIu64 "\n#\n", period);
}

/* Writes the verdict on each event of the table. */
static void put_verdict(struct table *t)
{
	bool any = false;

	for (size_t m = 0; m < hist_members(t->h); m++) {
		struct verdict_list v;

		report_judge(t->r, (size_t)(hist_member(t->h, m) - t->r->tables.hists), &v);
		for (size_t i = 0; i < v.nr; i++) {
			const struct verdict_line *line = &v.line[i];

			fprintf(t->out, "# %s: ", line->grave ? "Warning" : "Note");
			text_put(t->out, line->text, 0);
			if (*line->remedy)
				fprintf(t->out, ". Try: %s", line->remedy);
			putc('\n', t->out);
		}
		any |= v.nr;
	}
	if (any)
		fputs("#\n", t->out);
}

static bool has_samples(const struct hist *h)
{
	for (size_t m = 0; m < hist_members(h); m++)
		if (hist_member(h, m)->samples)
			return !h->is_member;
	return false;
}

/* With -g folded: lines for other programs, and nothing else. */
static bool is_folded(const struct report *r, const struct table_opts *opts)
{
	return opts->graph_style == GRAPH_FOLDED && r->opts->graph != REPORT_GRAPH_NONE &&
	       !opts->separator && !r->opts->nested;
}

static int put_folded(struct table *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->h->nr; i++)
		if (table_is_shown(t, &t->h->entry[i]))
			rc = table_put_graph(t, &t->h->entry[i]);
	return rc;
}

static int put_rows(struct table *t)
{
	int rc = measure(t);

	if (rc < 0)
		return rc;
	fit(t);
	if (t->r->opts->nested)
		return table_put_nested(t);
	if (!t->opts->quiet)
		rc = put_heading(t);
	for (size_t i = 0; !rc && i < t->h->nr; i++)
		if (table_is_shown(t, &t->h->entry[i]))
			rc = put_row(t, &t->h->entry[i]);
	return rc;
}

static int put_event(struct table *t)
{
	if (!t->opts->quiet) {
		put_counts(t);
		put_verdict(t);
	}
	return t->r->opts->total_cycles ? table_put_blocks(t) : put_rows(t);
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
	struct columns columns;
	bool first = true;
	int rc = 0;

	bool folded = is_folded(r, opts);

	if (!opts->quiet && !folded)
		put_loss(out, r->trace);
	for (size_t i = 0; !rc && i < r->tables.nr; i++) {
		t.h = &r->tables.hists[i];
		t.event = i;
		columns_of_event(r->columns, r->trace, pd_evlist_at(r->trace->evlist, i), &columns);
		t.columns = hist_members(t.h) > 1 ? r->columns : &columns;
		if (!has_samples(t.h) && (!opts->empty || folded || t.h->is_member))
			continue;
		if (!first && !folded)
			fputs("\n\n", out);
		first = false;
		rc = folded ? put_folded(&t) : put_event(&t);
	}
	if (!rc && first && !opts->quiet && !folded)
		fputs("# No samples\n", out);
	buf_release(&t.line);
	buf_release(&t.cell);
	buf_release(&t.raw);
	return rc;
}
