// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>

#include "count/figures.h"
#include "render/counts/counts_priv.h"
#include "render/json.h"

/* perf's name of the key that names a row. */
static const char *row_key(enum count_by by)
{
	static const char *const keys[] = {
		[COUNT_BY_CPU] = "cpu",	  [COUNT_BY_CORE] = "core",
		[COUNT_BY_DIE] = "die",	  [COUNT_BY_SOCKET] = "socket",
		[COUNT_BY_NODE] = "node", [COUNT_BY_THREAD] = "thread",
	};

	return keys[by];
}

static json_t *row_name(const struct counts_view *view, size_t row)
{
	const char *name = view->table->rows.rows[row].name;

	return json_name(view->table->rows.by == COUNT_BY_CPU ? name + 3 : name); /* "CPU0" */
}

/* A number with all its digits; perf's consumers expect a string. */
static json_t *value_text(const struct counts_view *view, size_t row, size_t event)
{
	const struct count_cell *cell = count_table_cell(view->table, row, event);
	const struct count_event *e = &view->table->events[event];
	char text[COUNT_TEXT_SIZE];

	count_text(view, row, event, false, text);
	if (e->supported && cell->running)
		snprintf(text, sizeof(text), "%.6f", cell->value.mean * e->scale);
	return json_string(text);
}

static json_t *line(const struct counts_view *view, size_t row, size_t event)
{
	const struct count_cell *cell = count_table_cell(view->table, row, event);
	const struct count_event *e = &view->table->events[event];
	struct count_figure figure = count_figure(view->table, row, event);
	enum count_by by = view->table->rows.by;
	json_t *o = json_object();
	int rc = 0;

	if (view->interval)
		rc |= json_object_set_new(o, "interval", json_real(view->time));
	if (by != COUNT_BY_ALL)
		rc |= json_object_set_new(o, row_key(by), row_name(view, row));
	if (counts_have_cpus(view))
		rc |= json_object_set_new(o, "aggregate-number",
					  json_integer(view->table->rows.rows[row].nr_cpus));
	rc |= json_object_set_new(o, "counter-value", value_text(view, row, event));
	rc |= json_object_set_new(o, "unit", json_name(e->unit));
	rc |= json_object_set_new(o, "event", json_name(e->name));
	if (view->repeated)
		rc |= json_object_set_new(o, "variance", json_real(count_error(&cell->value)));
	rc |= json_object_set_new(o, "event-runtime", json_count(count_run_time(cell)));
	rc |= json_object_set_new(o, "pcnt-running", json_real(count_cell_running(cell)));
	if (figure.unit) {
		rc |= json_object_set_new(o, "metric-value", json_real(figure.value));
		rc |= json_object_set_new(o, "metric-unit",
					  json_string(figure.unit + (*figure.unit == '%' ? 2 : 0)));
	}
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

int counts_json(FILE *out, const struct counts_view *view)
{
	const struct count_table *table = view->table;

	for (size_t row = 0; row < table->rows.nr; row++) {
		for (size_t event = 0; event < table->nr_events; event++) {
			json_t *o;

			if (!count_shown(view, row, event))
				continue;
			o = line(view, row, event);
			if (!o || json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(12))) {
				json_decref(o);
				return -ENOMEM;
			}
			json_decref(o);
			putc('\n', out);
		}
	}
	return 0;
}
