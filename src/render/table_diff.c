// SPDX-License-Identifier: Apache-2.0
#include "render/table_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "render/table_fit.h"
#include "render/text.h"

enum diff_column_kind {
	COLUMN_SHARE,
	COLUMN_DELTA,
	COLUMN_RATIO,
	COLUMN_WDIFF,
	COLUMN_MARK,
	COLUMN_P,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_RATE,
};

struct diff_column {
	enum diff_column_kind kind;
	size_t file;
	char heading[24];
	int width;
};

struct diff_table {
	FILE *out;
	const struct diff *d;
	const struct diff_event *e;
	const struct diff_table_opts *opts;
	struct diff_column *column; /* those before the keys */
	size_t nr_columns;
	int key_width[SORT_KEYS_MAX];
	unsigned int line_width; /* to which lines are cut; 0: none */
	struct buf line, cell;
};

bool diff_row_shown(const struct diff *d, const struct diff_event *e, uint32_t row,
		    const struct diff_table_opts *opts)
{
	bool large = false, changed = false;

	if (opts->baseline && !diff_weight(d, e, row, 0)->samples)
		return false;
	for (size_t f = 0; f < d->opts.nr_files; f++) {
		large |= diff_share(d, e, row, f) >= opts->percent_limit;
		changed |= f && diff_change(d, e, row, f)->changed;
	}
	return large && (changed || !opts->changed);
}

static const struct {
	int width;
	const char *before, *after, *nth; /* headings of two recordings, and of more */
} kinds[] = {
	[COLUMN_SHARE] = {8, "Before", "After", "Share"},
	[COLUMN_DELTA] = {8, NULL, "Delta", "Delta"},
	[COLUMN_RATIO] = {7, NULL, "Ratio", "Ratio"},
	[COLUMN_WDIFF] = {14, NULL, "Weighted diff", "Wdiff"},
	[COLUMN_MARK] = {1, NULL, "*", "*"},
	[COLUMN_P] = {9, NULL, "p-value", "p-value"},
	[COLUMN_SAMPLES] = {12, "n before", "n after", "n"},
	[COLUMN_PERIOD] = {14, "Period before", "Period after", "Period"},
	[COLUMN_RATE] = {14, "Before/s", "After/s", "Rate"},
};

static void add_column(struct diff_table *t, enum diff_column_kind kind, size_t file)
{
	struct diff_column *c = &t->column[t->nr_columns++];

	*c = (struct diff_column){.kind = kind, .file = file, .width = kinds[kind].width};
	if (t->d->opts.nr_files == 2)
		snprintf(c->heading, sizeof(c->heading), "%s",
			 file ? kinds[kind].after : kinds[kind].before);
	else
		snprintf(c->heading, sizeof(c->heading), "%s/%zu", kinds[kind].nth, file);
	if ((int)strlen(c->heading) > c->width)
		c->width = (int)strlen(c->heading);
}

/* Adds a column for each recording, also the baseline. */
static void add_columns(struct diff_table *t, enum diff_column_kind kind)
{
	for (size_t f = 0; f < t->d->opts.nr_files; f++)
		add_column(t, kind, f);
}

#define COLUMNS_PER_FILE 9

static int choose_columns(struct diff_table *t)
{
	t->column = calloc(t->d->opts.nr_files * COLUMNS_PER_FILE, sizeof(*t->column));
	if (!t->column)
		return -ENOMEM;
	add_column(t, COLUMN_SHARE, 0);
	for (size_t f = 1; f < t->d->opts.nr_files; f++) {
		add_column(t, COLUMN_SHARE, f);
		add_column(t, COLUMN_DELTA, f);
		add_column(t, COLUMN_RATIO, f);
		if (t->d->opts.order == DIFF_WDIFF)
			add_column(t, COLUMN_WDIFF, f);
		if (t->opts->show_p)
			add_column(t, COLUMN_P, f);
		add_column(t, COLUMN_MARK, f);
	}
	if (t->opts->show_samples)
		add_columns(t, COLUMN_SAMPLES);
	if (t->opts->show_period)
		add_columns(t, COLUMN_PERIOD);
	if (t->opts->show_rate)
		add_columns(t, COLUMN_RATE);
	return 0;
}

/* Puts the escaped text of a key into t->cell. */
static int key_text(struct diff_table *t, uint32_t row, size_t key)
{
	t->cell.len = 0;
	return text_escape(&t->cell, t->e->cell[row * t->d->opts.nr_keys + key]);
}

static int measure(struct diff_table *t)
{
	for (size_t k = 0; k < t->d->opts.nr_keys; k++)
		t->key_width[k] = (int)strlen(t->d->opts.keys[k]->header);
	for (uint32_t row = 0; row < t->e->nr; row++) {
		if (!diff_row_shown(t->d, t->e, row, t->opts))
			continue;
		for (size_t k = 0; k < t->d->opts.nr_keys; k++) {
			int n;

			if (key_text(t, row, k) < 0)
				return -ENOMEM;
			n = (int)text_columns((const char *)t->cell.data, t->cell.len);
			if (n > t->key_width[k])
				t->key_width[k] = n;
		}
	}
	return 0;
}

/* Narrows the keys so that a line fits. Returns whether it does. */
static bool fit_keys(struct diff_table *t)
{
	struct fit_column c[SORT_KEYS_MAX];
	size_t numbers = 1;
	bool fits;

	for (size_t i = 0; i < t->nr_columns; i++)
		numbers += FIT_GAP + (size_t)t->column[i].width;
	for (size_t k = 0; k < t->d->opts.nr_keys; k++)
		c[k] = (struct fit_column){fit_kind_of(t->d->opts.keys[k]),
					   (size_t)t->key_width[k]};
	fits = fit_columns(c, t->d->opts.nr_keys,
			   t->opts->width > numbers ? t->opts->width - numbers : 0);
	for (size_t k = 0; k < t->d->opts.nr_keys; k++)
		t->key_width[k] = (int)c[k].width;
	return fits;
}

/* Leaves out the ratios, which the shares tell too. Returns whether there were any. */
static bool drop_ratios(struct diff_table *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->column[i].kind != COLUMN_RATIO || t->d->opts.order == DIFF_RATIO)
			t->column[nr++] = t->column[i];
	if (nr == t->nr_columns)
		return false;
	t->nr_columns = nr;
	return true;
}

/* Fits the columns into the terminal. Lines that would lose a name are longer than it. */
static void fit(struct diff_table *t)
{
	t->line_width = t->opts->separator ? 0 : t->opts->width;
	if (t->line_width && !fit_keys(t) && !(drop_ratios(t) && fit_keys(t)))
		t->line_width = 0;
}

/* Appends a field; as in perf, a separator within the text becomes a point. */
static int add_separated(struct diff_table *t, const char *text, size_t len, bool first)
{
	char separator = t->opts->separator;
	size_t start;
	int rc = first ? 0 : buf_append(&t->line, &separator, 1);

	for (; len && *text == ' '; len--)
		text++;
	start = t->line.len;
	if (!rc && len)
		rc = buf_append(&t->line, text, len);
	for (size_t i = start; !rc && i < t->line.len; i++)
		if (t->line.data[i] == (uint8_t)separator)
			t->line.data[i] = '.';
	return rc;
}

/* Appends a field of @width columns, aligned right, or left if @width is negative. */
static int add_field(struct diff_table *t, const char *text, size_t len, int width, bool first)
{
	int pad = abs(width) - (int)text_columns(text, len);
	int rc;

	if (t->opts->separator)
		return add_separated(t, text, len, first);
	rc = buf_printf(&t->line, "  %*s", width > 0 && pad > 0 ? pad : 0, "");
	if (!rc && len)
		rc = buf_append(&t->line, text, len);
	if (!rc && width < 0 && pad > 0)
		rc = buf_printf(&t->line, "%*s", pad, "");
	return rc;
}

static void put_line(struct diff_table *t, const char *start)
{
	if (!t->opts->separator) {
		while (t->line.len && t->line.data[t->line.len - 1] == ' ')
			t->line.len--;
		if (t->line_width)
			text_truncate(&t->line, 0, t->line_width - strlen(start));
	}
	fputs(start, t->out);
	if (t->line.len)
		fwrite(t->line.data, 1, t->line.len, t->out);
	putc('\n', t->out);
	t->line.len = 0;
}

static int key_align(const struct diff_table *t, size_t key)
{
	return t->d->opts.keys[key]->right ? t->key_width[key] : -t->key_width[key];
}

/* Appends t->cell as the text of a key, cut to its width. */
static int add_key(struct diff_table *t, size_t key)
{
	if (!t->opts->separator)
		text_truncate(&t->cell, 0, (size_t)t->key_width[key]);
	return add_field(t, (const char *)t->cell.data, t->cell.len, key_align(t, key), false);
}

static int put_dots(struct diff_table *t)
{
	static const char dots[] = "....................................................";
	int rc = 0;

	for (size_t i = 0; !rc && i < t->nr_columns; i++)
		rc = buf_printf(&t->line, "  %.*s", t->column[i].width, dots);
	for (size_t k = 0; !rc && k < t->d->opts.nr_keys; k++) {
		rc = buf_append(&t->line, "  ", 2);
		for (int i = 0; !rc && i < t->key_width[k]; i++)
			rc = buf_append(&t->line, ".", 1);
	}
	if (rc < 0)
		return rc;
	put_line(t, "#");
	fputs("#\n", t->out);
	return 0;
}

static int put_heading(struct diff_table *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->nr_columns; i++)
		rc = add_field(t, t->column[i].heading, strlen(t->column[i].heading),
			       t->column[i].width, !i);
	for (size_t k = 0; !rc && k < t->d->opts.nr_keys; k++) {
		t->cell.len = 0;
		rc = text_escape(&t->cell, t->d->opts.keys[k]->header);
		rc = rc ?: add_key(t, k);
	}
	if (rc < 0)
		return rc;
	put_line(t, t->opts->separator ? "# " : "#");
	return t->opts->separator ? 0 : put_dots(t);
}

static void ratio_text(const struct diff_table *t, uint32_t row, size_t file, char *ret,
		       size_t size)
{
	double ratio = diff_ratio(t->d, t->e, row, file);
	bool before = diff_weight(t->d, t->e, row, 0)->samples;
	bool after = diff_weight(t->d, t->e, row, file)->samples;

	if (!before || !after)
		snprintf(ret, size, "%s", after ? "new" : before ? "gone" : "");
	else if (ratio < 0)
		snprintf(ret, size, "-");
	else
		snprintf(ret, size, ratio < 1000 ? "%.2f" : "%.0f", ratio);
}

static void rate_text(const struct diff_table *t, uint32_t row, size_t file, char *ret, size_t size)
{
	double seconds = t->d->files[file].seconds;

	if (seconds > 0)
		snprintf(ret, size, "%.0f",
			 (double)diff_weight(t->d, t->e, row, file)->period / seconds);
	else
		snprintf(ret, size, "-");
}

/* Writes the text of a number; empty if the recordings lack the row. */
static void number_text(const struct diff_table *t, uint32_t row, const struct diff_column *c,
			char *ret, size_t size)
{
	const struct diff_weight *w = diff_weight(t->d, t->e, row, c->file);
	const struct diff_change *change = diff_change(t->d, t->e, row, c->file);
	bool in_either = w->samples || diff_weight(t->d, t->e, row, 0)->samples;

	*ret = '\0';
	if (!in_either)
		return;
	switch (c->kind) {
	case COLUMN_SHARE:
		if (w->samples)
			snprintf(ret, size, "%.2f%%", diff_share(t->d, t->e, row, c->file));
		break;
	case COLUMN_DELTA:
		snprintf(ret, size, "%+.2f%%", diff_delta(t->d, t->e, row, c->file));
		break;
	case COLUMN_RATIO: ratio_text(t, row, c->file, ret, size); break;
	case COLUMN_WDIFF: snprintf(ret, size, "%.0f", diff_wdiff(t->d, t->e, row, c->file)); break;
	case COLUMN_MARK: snprintf(ret, size, "%s", change->changed ? "*" : ""); break;
	case COLUMN_P:
		snprintf(ret, size, change->corrected < 0.0001 ? "%.2e" : "%.4f",
			 change->corrected);
		break;
	case COLUMN_SAMPLES: snprintf(ret, size, "%" PRIu64, w->samples); break;
	case COLUMN_PERIOD: snprintf(ret, size, "%" PRIu64, w->period); break;
	case COLUMN_RATE: rate_text(t, row, c->file, ret, size); break;
	}
}

static int put_row(struct diff_table *t, uint32_t row)
{
	char text[64];
	int rc = 0;

	for (size_t i = 0; !rc && i < t->nr_columns; i++) {
		number_text(t, row, &t->column[i], text, sizeof(text));
		rc = add_field(t, text, strlen(text), t->column[i].width, !i);
	}
	for (size_t k = 0; !rc && k < t->d->opts.nr_keys; k++) {
		rc = key_text(t, row, k);
		if (!rc)
			rc = add_key(t, k);
	}
	if (!rc)
		put_line(t, t->opts->separator ? "" : " ");
	return rc;
}

static void put_verdict(struct diff_table *t, size_t file)
{
	const struct diff_verdict *v = &t->e->verdict[file];

	fputs("# ", t->out);
	if (t->d->opts.nr_files > 2)
		fprintf(t->out, "/%zu: ", file);
	if (!t->e->total[0].samples || !t->e->total[file].samples)
		fputs("No samples to compare\n", t->out);
	else if (!v->changed)
		fprintf(t->out,
			"No change beyond sampling error (%zu row%s, %zu with enough samples to "
			"tell, %g%% confidence)\n",
			v->rows, plural_s(v->rows), v->tested, t->d->opts.confidence);
	else
		fprintf(t->out,
			"%zu of %zu row%s changed beyond sampling error (*; %g%% confidence, "
			"corrected for %zu row%s with enough samples to tell)\n",
			v->changed, v->rows, plural_s(v->rows), t->d->opts.confidence, v->tested,
			plural_s(v->tested));
}

static void put_event_comments(struct diff_table *t)
{
	size_t nr_files = t->d->opts.nr_files;

	fputs("# Event '", t->out);
	text_put(t->out, t->e->name, 0);
	fputs("'\n# Samples: ", t->out);
	for (size_t f = 0; f < nr_files; f++)
		fprintf(t->out, "%s%" PRIu64, f ? ", then " : "", t->e->total[f].samples);
	putc('\n', t->out);
	for (size_t f = 1; f < nr_files; f++)
		put_verdict(t, f);
	fputs("#\n", t->out);
}

static int put_event(struct diff_table *t)
{
	int rc = measure(t);

	if (!rc)
		fit(t);
	if (!rc && !t->opts->quiet) {
		put_event_comments(t);
		rc = put_heading(t);
	}
	for (size_t i = 0; !rc && i < t->e->nr; i++)
		if (diff_row_shown(t->d, t->e, t->e->order[i], t->opts))
			rc = put_row(t, t->e->order[i]);
	return rc;
}

static void put_files(const struct diff_table *t)
{
	for (size_t f = 0; f < t->d->opts.nr_files; f++) {
		if (t->d->opts.nr_files == 2)
			fputs(f ? "# After: " : "# Before: ", t->out);
		else
			fprintf(t->out, "# /%zu: ", f);
		text_put(t->out, t->d->files[f].path, 0);
		putc('\n', t->out);
	}
	fputs("#\n", t->out);
}

int diff_render(FILE *out, const struct diff *d, const struct diff_table_opts *opts)
{
	struct diff_table t = {.out = out, .d = d, .opts = opts};
	bool first = true;
	int rc = choose_columns(&t);

	if (!rc && !opts->quiet)
		put_files(&t);
	for (size_t i = 0; !rc && i < d->nr_events; i++) {
		t.e = &d->event[i];
		if (!diff_comparable(d, t.e))
			continue;
		if (!first)
			fputs("\n\n", out);
		first = false;
		rc = put_event(&t);
	}
	if (!rc && first && !opts->quiet)
		fputs("# No event with samples to compare\n", out);
	free(t.column);
	buf_release(&t.line);
	buf_release(&t.cell);
	return rc;
}

struct stacks_out {
	FILE *out;
	size_t nr_files;
	size_t skip; /* the event, if there is only one */
	struct buf line;
};

static int put_stack(const char *const *name, size_t depth, const uint64_t *samples, void *arg)
{
	struct stacks_out *o = arg;

	o->line.len = 0;
	for (size_t i = o->skip; i < depth; i++) {
		size_t start;

		if (i > o->skip && buf_append(&o->line, ";", 1) < 0)
			return -ENOMEM;
		start = o->line.len;
		if (text_escape(&o->line, name[i]) < 0)
			return -ENOMEM;
		for (size_t j = start; j < o->line.len; j++)
			if (o->line.data[j] == ';')
				o->line.data[j] = ':';
	}
	if (o->line.len)
		fwrite(o->line.data, 1, o->line.len, o->out);
	for (size_t f = 0; f < o->nr_files; f++)
		fprintf(o->out, " %" PRIu64, samples[f]);
	putc('\n', o->out);
	return 0;
}

int stacks_render(FILE *out, struct stacks *s, size_t nr_files)
{
	struct stacks_out o = {.out = out, .nr_files = nr_files, .skip = stacks_events(s) == 1};
	int rc = stacks_walk(s, put_stack, &o);

	buf_release(&o.line);
	return rc;
}
