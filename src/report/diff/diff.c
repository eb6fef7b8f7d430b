// SPDX-License-Identifier: Apache-2.0
#include "report/diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/diff/significance.h"

#define MAX_ROWS (1u << 28)

static void event_release(struct diff_event *e)
{
	free(e->total);
	free(e->verdict);
	free(e->cell);
	free(e->weight);
	free(e->change);
	free(e->order);
	hash_table_release(&e->table);
}

struct diff *diff_new(const struct diff_opts *opts)
{
	struct diff *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->opts = *opts;
	d->files = calloc(opts->nr_files, sizeof(*d->files));
	d->pool = strpool_new();
	if (d->files && d->pool)
		return d;
	diff_free(d);
	return NULL;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr_events; i++)
		event_release(&d->event[i]);
	free(d->event);
	free(d->files);
	strpool_free(d->pool);
	free(d);
}

/* Finds or makes the event of that name. Returns 0 or -ENOMEM. */
static int find_event(struct diff *d, const char *name, struct diff_event **ret)
{
	const char *own = strpool_intern(d->pool, name);
	struct diff_event *e;

	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < d->nr_events; i++)
		if (d->event[i].name == own) {
			*ret = &d->event[i];
			return 0;
		}
	if (array_grow(&d->event, &d->cap_events, d->nr_events + 1, sizeof(*d->event)) < 0)
		return -ENOMEM;
	e = &d->event[d->nr_events];
	*e = (struct diff_event){
		.name = own,
		.total = calloc(d->opts.nr_files, sizeof(*e->total)),
		.verdict = calloc(d->opts.nr_files, sizeof(*e->verdict)),
	};
	d->nr_events++;
	*ret = e;
	return e->total && e->verdict ? 0 : -ENOMEM;
}

/* A set of rows, for hash_table_find(). */
struct diff_rows {
	const char **cell;
	size_t nr_keys;
};

static bool is_row(const void *rows, uint32_t number, const void *cells)
{
	const struct diff_rows *r = rows;

	return !memcmp(&r->cell[number * r->nr_keys], cells, r->nr_keys * sizeof(*r->cell));
}

/* Makes room for one more row. */
static int grow(const struct diff *d, struct diff_event *e)
{
	size_t nr = e->nr + 1;

	if (e->nr >= MAX_ROWS)
		return -E2BIG;
	if (hash_table_reserve(&e->table, 1) < 0 ||
	    array_grow(&e->cell, &e->cap_cells, nr * d->opts.nr_keys + 1, sizeof(*e->cell)) < 0 ||
	    array_grow(&e->weight, &e->cap_weights, nr * d->opts.nr_files, sizeof(*e->weight)) < 0)
		return -ENOMEM;
	return 0;
}

/* Finds or makes the row of @cells, interned. Returns 0, -ENOMEM or -E2BIG. */
static int find_row(struct diff *d, struct diff_event *e, const char *const *cells, uint32_t *ret)
{
	size_t nr_keys = d->opts.nr_keys, nr_files = d->opts.nr_files;
	struct diff_rows rows = {.cell = e->cell, .nr_keys = nr_keys};
	uint64_t hash = hash_bytes(hash_key(), cells, nr_keys * sizeof(*cells));
	int rc;

	*ret = hash_table_find(&e->table, hash, is_row, &rows, cells);
	if (*ret != HASH_TABLE_NONE)
		return 0;
	rc = grow(d, e);
	if (rc < 0)
		return rc;
	*ret = (uint32_t)e->nr++;
	memcpy(&e->cell[*ret * nr_keys], cells, nr_keys * sizeof(*cells));
	memset(&e->weight[*ret * nr_files], 0, nr_files * sizeof(*e->weight));
	hash_table_add(&e->table, hash, *ret);
	return 0;
}

static int add_row(struct diff *d, struct diff_event *e, const struct report *r,
		   const struct hist *h, const struct hist_entry *from)
{
	const char *cells[SORT_KEYS_MAX];
	struct diff_weight *w;
	struct buf text = {0};
	uint32_t row = 0;
	int rc = 0;

	for (size_t k = 0; !rc && k < d->opts.nr_keys; k++) {
		text.len = 0;
		rc = sort_key_common_text(h->keys[k], r->trace, hist_cells(h, from)[k], &text);
		cells[k] = strpool_intern_len(d->pool, text.len ? (const char *)text.data : "",
					      text.len);
		if (!cells[k])
			rc = -ENOMEM;
	}
	buf_release(&text);
	if (!rc)
		rc = find_row(d, e, cells, &row);
	if (rc < 0)
		return rc;
	w = &e->weight[row * d->opts.nr_files + d->nr_added];
	w->period += from->self;
	w->samples += from->samples;
	return 0;
}

static int add_event(struct diff *d, const struct report *r, size_t index)
{
	const struct hist *h = &r->tables.hists[index];
	struct diff_event *e;
	int rc;

	if (!h->samples)
		return 0;
	rc = find_event(d, pd_evlist_at(r->trace->evlist, index)->name, &e);
	if (rc < 0)
		return rc;
	e->total[d->nr_added].period += h->period;
	e->total[d->nr_added].samples += h->samples;
	for (size_t i = 0; !rc && i < h->nr; i++)
		rc = add_row(d, e, r, h, &h->entry[i]);
	return rc;
}

static double seconds_of(const struct report *r)
{
	const struct trace_counts *c = &r->trace->counts;
	const struct filter *f = &r->opts->filter;
	uint64_t first = c->first_time, last = c->last_time, sum = 0;

	for (size_t i = 0; i < f->times.nr; i++)
		sum += f->times.r[i].last - f->times.r[i].first;
	if (f->times.nr)
		return (double)sum / 1e9;
	if (f->start > first)
		first = f->start;
	if (f->stop && f->stop < last)
		last = f->stop;
	return last > first ? (double)(last - first) / 1e9 : 0;
}

int diff_add(struct diff *d, const struct report *r)
{
	struct diff_file *file = &d->files[d->nr_added];
	int rc = 0;

	file->seconds = seconds_of(r);
	file->path = strpool_intern(d->pool, r->trace->opts.path);
	if (!file->path)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < r->tables.nr; i++)
		rc = add_event(d, r, i);
	d->nr_added++;
	return rc;
}

bool diff_comparable(const struct diff *d, const struct diff_event *e)
{
	for (size_t f = 1; f < d->opts.nr_files; f++)
		if (e->total[0].samples && e->total[f].samples)
			return true;
	return false;
}

double diff_share(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file)
{
	uint64_t all = e->total[file].period;

	return all ? 100.0 * (double)diff_weight(d, e, row, file)->period / (double)all : 0;
}

double diff_delta(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file)
{
	return diff_share(d, e, row, file) - diff_share(d, e, row, 0);
}

double diff_ratio(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file)
{
	double before = diff_share(d, e, row, 0), after = diff_share(d, e, row, file);

	return before > 0 && after > 0 ? after / before : -1;
}

double diff_wdiff(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file)
{
	return (double)diff_weight(d, e, row, file)->period * (double)d->opts.weight[1] -
	       (double)diff_weight(d, e, row, 0)->period * (double)d->opts.weight[0];
}

/*
 * In a recording by frequency samples differ in weight, and their number may grow while their share
 * of the periods falls. A mark on a row must mean the change that the row shows.
 */
static bool same_direction(const struct diff *d, const struct diff_event *e, uint32_t row,
			   size_t file)
{
	double before = (double)diff_weight(d, e, row, 0)->samples / (double)e->total[0].samples;
	double after =
		(double)diff_weight(d, e, row, file)->samples / (double)e->total[file].samples;
	double delta = diff_delta(d, e, row, file);

	return (delta > 0 && after > before) || (delta < 0 && after < before);
}

/* Tests the rows of one recording against the baseline. @tests has room for all rows. */
static int test_rows(const struct diff *d, struct diff_event *e, size_t file,
		     struct significance_test *tests)
{
	double alpha = 1 - d->opts.confidence / 100;
	struct diff_verdict *v = &e->verdict[file];
	int rc;

	for (uint32_t row = 0; row < e->nr; row++) {
		struct significance_counts c = {
			.part = {diff_weight(d, e, row, 0)->samples,
				 diff_weight(d, e, row, file)->samples},
			.all = {e->total[0].samples, e->total[file].samples},
		};

		v->rows += c.part[0] || c.part[1];
		tests[row] = (struct significance_test){.p = significance_p(&c),
							.least = significance_least_p(&c)};
	}
	rc = significance_correct(tests, e->nr, alpha, &v->tested);
	for (uint32_t row = 0; !rc && row < e->nr; row++) {
		struct diff_change *change = &e->change[row * d->opts.nr_files + file];

		*change =
			(struct diff_change){.p = tests[row].p, .corrected = tests[row].corrected};
		change->changed = tests[row].corrected <= alpha && same_direction(d, e, row, file);
		v->changed += change->changed;
	}
	return rc;
}

struct diff_sort {
	const struct diff *d;
	const struct diff_event *e;
};

/* Returns the value that orders a row; the greatest comes first. */
static double sort_value(const struct diff_sort *s, uint32_t row)
{
	size_t file = s->d->opts.order_by;
	double delta = diff_delta(s->d, s->e, row, file);

	if (!file)
		return diff_share(s->d, s->e, row, 0);
	switch (s->d->opts.order) {
	case DIFF_DELTA_ABS: return delta < 0 ? -delta : delta;
	case DIFF_DELTA: return delta;
	case DIFF_RATIO: return diff_ratio(s->d, s->e, row, file);
	case DIFF_WDIFF: break;
	}
	return diff_wdiff(s->d, s->e, row, file);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct diff_sort *s = arg;
	size_t nr_keys = s->d->opts.nr_keys;
	double x = sort_value(s, a), y = sort_value(s, b);

	for (size_t f = 0; x == y && f < s->d->opts.nr_files; f++) {
		x = diff_share(s->d, s->e, a, f);
		y = diff_share(s->d, s->e, b, f);
	}
	if (x != y)
		return x > y ? -1 : 1;
	for (size_t k = 0; k < nr_keys; k++) {
		int rc = strcmp(s->e->cell[a * nr_keys + k], s->e->cell[b * nr_keys + k]);

		if (rc)
			return rc;
	}
	return 0;
}

static int sort_rows(const struct diff *d, struct diff_event *e)
{
	struct diff_sort s = {.d = d, .e = e};

	e->order = calloc(e->nr + 1, sizeof(*e->order));
	if (!e->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->nr; i++)
		e->order[i] = i;
	qsort_r(e->order, e->nr, sizeof(*e->order), compare_rows, &s);
	return 0;
}

static int finish_event(const struct diff *d, struct diff_event *e)
{
	struct significance_test *tests = calloc(e->nr + 1, sizeof(*tests));
	int rc = 0;

	hash_table_release(&e->table);
	e->change = calloc(e->nr * d->opts.nr_files + 1, sizeof(*e->change));
	if (!tests || !e->change)
		rc = -ENOMEM;
	for (size_t f = 1; !rc && f < d->opts.nr_files; f++)
		rc = test_rows(d, e, f, tests);
	free(tests);
	return rc ?: sort_rows(d, e);
}

int diff_finish(struct diff *d)
{
	for (size_t i = 0; i < d->nr_events; i++) {
		int rc = finish_event(d, &d->event[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}
