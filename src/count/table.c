// SPDX-License-Identifier: Apache-2.0
#include "count/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void spread_add(struct spread *s, double value)
{
	double delta = value - s->mean;

	s->n++;
	s->mean += delta / (double)s->n;
	s->squares += delta * (value - s->mean);
}

double spread_error(const struct spread *s)
{
	if (s->n < 2)
		return 0;
	return sqrt(s->squares / (double)(s->n - 1) / (double)s->n);
}

int count_table_init(struct count_table *table, const struct counters *c, enum count_by by,
		     const char *root)
{
	size_t places = counters_places(c);

	*table = (struct count_table){.events = c->events, .nr_events = c->nr_events};
	if (count_rows_init(&table->rows, c, by, root))
		return -ENOMEM;
	table->cells = calloc(table->rows.nr * c->nr_events + 1, sizeof(*table->cells));
	table->previous = calloc(places * c->nr_events + 1, sizeof(*table->previous));
	if (table->cells && table->previous)
		return 0;
	count_table_release(table);
	return -ENOMEM;
}

void count_table_release(struct count_table *table)
{
	count_rows_release(&table->rows);
	free(table->cells);
	free(table->previous);
	*table = (struct count_table){0};
}

void count_table_clear(struct count_table *table)
{
	memset(table->cells, 0, table->rows.nr * table->nr_events * sizeof(*table->cells));
	table->elapsed = (struct spread){0};
}

void count_table_restart(struct count_table *table, const struct counters *c)
{
	table->events = c->events;
	memset(table->previous, 0, counters_places(c) * c->nr_events * sizeof(*table->previous));
}

/* The counts of one row while they are added. */
struct sum {
	double scaled;
	uint64_t enabled, running;
	bool present;
};

/* Adds what @now has more than @before. */
static void add_reading(struct sum *sum, const struct count_value *before,
			const struct count_value *now)
{
	uint64_t enabled = now->enabled - before->enabled;
	uint64_t running = now->running - before->running;
	double count = (double)(now->count - before->count);

	sum->present = true;
	sum->enabled += enabled;
	sum->running += running;
	if (running && running < enabled)
		count *= (double)enabled / (double)running;
	sum->scaled += running ? count : 0;
}

static int add_event(struct count_table *table, const struct counters *c, size_t event,
		     struct sum *sums, struct error *err)
{
	size_t places = counters_places(c);

	for (size_t place = 0; place < places; place++) {
		struct count_value *before = &table->previous[event * places + place], now;
		int rc;

		if (!counters_has(c, event, place))
			continue;
		rc = counters_read(c, event, place, &now, err);
		if (rc)
			return rc;
		add_reading(&sums[table->rows.of_place[place]], before, &now);
		*before = now;
	}
	return 0;
}

int count_table_add(struct count_table *table, const struct counters *c, uint64_t elapsed,
		    struct error *err)
{
	struct sum *sums = calloc(table->rows.nr, sizeof(*sums));
	int rc = 0;

	if (!sums)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t event = 0; !rc && event < table->nr_events; event++) {
		memset(sums, 0, table->rows.nr * sizeof(*sums));
		rc = add_event(table, c, event, sums, err);
		for (size_t row = 0; !rc && row < table->rows.nr; row++) {
			struct count_cell *cell = &table->cells[row * table->nr_events + event];

			cell->present |= sums[row].present;
			cell->enabled += sums[row].enabled;
			cell->running += sums[row].running;
			spread_add(&cell->value, sums[row].scaled);
		}
	}
	spread_add(&table->elapsed, (double)elapsed);
	free(sums);
	return rc;
}

const struct count_cell *count_table_cell(const struct count_table *table, size_t row, size_t event)
{
	return &table->cells[row * table->nr_events + event];
}

double count_cell_running(const struct count_cell *cell)
{
	return cell->enabled ? 100 * (double)cell->running / (double)cell->enabled : 100;
}
