// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "render/counts/counts_priv.h"

bool count_shown(const struct counts_view *view, size_t row, size_t event)
{
	const struct count_table *table = view->table;

	return count_table_cell(table, row, event)->present || !table->events[event].supported;
}

void count_text(const struct counts_view *view, size_t row, size_t event, bool thousands,
		char out[COUNT_TEXT_SIZE])
{
	const struct count_cell *cell = count_table_cell(view->table, row, event);
	const struct count_event *e = &view->table->events[event];
	double value = cell->value.mean * e->scale;
	char whole[HUMAN_COUNT_SIZE], digits[COUNT_TEXT_SIZE];
	bool counts = e->scale == 1;

	if (!e->supported || !cell->running) {
		snprintf(out, COUNT_TEXT_SIZE, "<not %s>", e->supported ? "counted" : "supported");
		return;
	}
	if (!thousands || value >= 1e18) {
		snprintf(out, COUNT_TEXT_SIZE, "%.*f", counts ? 0 : 2, value);
		return;
	}
	snprintf(digits, sizeof(digits), "%.2f", value);
	human_count(counts ? (uint64_t)llround(value) : (uint64_t)strtoull(digits, NULL, 10),
		    whole);
	snprintf(out, COUNT_TEXT_SIZE, "%s%s", whole, counts ? "" : strchr(digits, '.'));
}

uint64_t count_run_time(const struct count_cell *cell)
{
	return cell->value.n ? cell->running / cell->value.n : cell->running;
}

double count_error(const struct spread *value)
{
	return value->mean > 0 ? 100 * spread_error(value) / value->mean : 0;
}

bool counts_have_cpus(const struct counts_view *view)
{
	enum count_by by = view->table->rows.by;

	return by == COUNT_BY_CORE || by == COUNT_BY_DIE || by == COUNT_BY_SOCKET ||
	       by == COUNT_BY_NODE;
}
