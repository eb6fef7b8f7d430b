// SPDX-License-Identifier: Apache-2.0
#include "render/json_diff.h"

#include <errno.h>

static int put(json_t *object, const char *key, json_t *value)
{
	return value && json_object_set_new(object, key, value) == 0 ? 0 : -ENOMEM;
}

/* Frees @o if it is not complete. */
static json_t *finished(json_t *o, int rc)
{
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

/* Appends @value, which it takes over. */
static int push(json_t *array, json_t *value)
{
	return value && json_array_append_new(array, value) == 0 ? 0 : -ENOMEM;
}

static json_t *file_json(const struct diff_file *f)
{
	json_t *o = json_object();
	int rc = o ? put(o, "file", json_name(f->path)) : -ENOMEM;

	if (!rc)
		rc = put(o, "seconds", f->seconds > 0 ? json_real(f->seconds) : json_null());
	return finished(o, rc);
}

static json_t *files_json(const struct diff *d)
{
	json_t *list = json_array();
	int rc = list ? 0 : -ENOMEM;

	for (size_t f = 0; !rc && f < d->opts.nr_files; f++)
		rc = push(list, file_json(&d->files[f]));
	return finished(list, rc);
}

static json_t *weight_json(const struct diff_weight *w, double percent)
{
	json_t *o = json_object();
	int rc = o ? 0 : -ENOMEM;

	if (!rc && percent >= 0)
		rc = put(o, "percent", json_real(percent));
	if (!rc)
		rc = put(o, "period", json_count(w->period))
			     ?: put(o, "samples", json_count(w->samples));
	return finished(o, rc);
}

static json_t *totals_json(const struct diff *d, const struct diff_event *e)
{
	json_t *list = json_array();
	int rc = list ? 0 : -ENOMEM;

	for (size_t f = 0; !rc && f < d->opts.nr_files; f++)
		rc = push(list, weight_json(&e->total[f], -1));
	return finished(list, rc);
}

static json_t *verdict_json(const struct diff_verdict *v)
{
	json_t *o = json_object();
	int rc = o ? 0 : -ENOMEM;

	if (!rc)
		rc = put(o, "rows", json_count(v->rows)) ?:
		     put(o, "tested", json_count(v->tested)) ?:
		     put(o, "changed", json_count(v->changed));
	return finished(o, rc);
}

static json_t *verdicts_json(const struct diff *d, const struct diff_event *e)
{
	json_t *list = json_array();
	int rc = list ? 0 : -ENOMEM;

	for (size_t f = 1; !rc && f < d->opts.nr_files; f++)
		rc = push(list, verdict_json(&e->verdict[f]));
	return finished(list, rc);
}

static json_t *change_json(const struct diff *d, const struct diff_event *e, uint32_t row,
			   size_t file)
{
	const struct diff_change *c = diff_change(d, e, row, file);
	double ratio = diff_ratio(d, e, row, file);
	json_t *o = json_object();
	int rc = o ? 0 : -ENOMEM;

	if (!rc)
		rc = put(o, "delta", json_real(diff_delta(d, e, row, file))) ?:
		     put(o, "ratio", ratio < 0 ? json_null() : json_real(ratio)) ?:
		     put(o, "p_value", json_real(c->p)) ?:
		     put(o, "p_corrected", json_real(c->corrected)) ?:
		     put(o, "changed", json_boolean(c->changed));
	return finished(o, rc);
}

static json_t *row_json(const struct diff *d, const struct diff_event *e, uint32_t row)
{
	json_t *o = json_object(), *shares = json_array(), *changes = json_array();
	int rc = o && shares && changes ? 0 : -ENOMEM;

	for (size_t f = 0; !rc && f < d->opts.nr_files; f++)
		rc = push(shares, weight_json(diff_weight(d, e, row, f), diff_share(d, e, row, f)));
	for (size_t f = 1; !rc && f < d->opts.nr_files; f++)
		rc = push(changes, change_json(d, e, row, f));
	for (size_t k = 0; !rc && k < d->opts.nr_keys; k++)
		rc = put(o, d->opts.keys[k]->name, json_name(e->cell[row * d->opts.nr_keys + k]));
	if (!rc)
		rc = put(o, "recordings", json_incref(shares))
			     ?: put(o, "changes", json_incref(changes));
	json_decref(shares);
	json_decref(changes);
	return finished(o, rc);
}

/* Writes @before, then @value, and frees @value. Returns 0, -ENOMEM or -EIO. */
static int put_line(FILE *out, const char *before, json_t *value)
{
	int rc;

	if (!value)
		return -ENOMEM;
	fputs(before, out);
	rc = json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	json_decref(value);
	return rc ? -EIO : 0;
}

static int put_event(FILE *out, const struct diff *d, const struct diff_event *e,
		     const struct diff_table_opts *opts)
{
	bool first = true;
	int rc = put_line(out, "{\"event\": ", json_name(e->name));

	if (!rc)
		rc = put_line(out, ", \"recordings\": ", totals_json(d, e));
	if (!rc)
		rc = put_line(out, ", \"verdicts\": ", verdicts_json(d, e));
	fputs(",\n   \"rows\": [", out);
	for (size_t i = 0; !rc && i < e->nr; i++) {
		if (!diff_row_shown(d, e, e->order[i], opts))
			continue;
		rc = put_line(out, first ? "\n    " : ",\n    ", row_json(d, e, e->order[i]));
		first = false;
	}
	fputs("]}", out);
	return rc;
}

int json_diff(FILE *out, const struct diff *d, const struct diff_table_opts *opts)
{
	bool first = true;
	int rc = put_line(out, "{\n \"recordings\": ", files_json(d));

	if (!rc)
		rc = put_line(out, ",\n \"confidence\": ", json_real(d->opts.confidence));
	fputs(",\n \"tables\": [", out);
	for (size_t i = 0; !rc && i < d->nr_events; i++) {
		if (!diff_comparable(d, &d->event[i]))
			continue;
		fputs(first ? "\n  " : ",\n  ", out);
		first = false;
		rc = put_event(out, d, &d->event[i], opts);
	}
	fputs("]\n}\n", out);
	return rc;
}
