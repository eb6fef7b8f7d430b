/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of counts: rows (count/rows.h) by events, over the runs of a command or one interval.
 *
 * A count of a multiplexed event is scaled by the time that it was enabled over the time that it
 * ran, counter by counter, before counts are added.
 * Owner: the caller; one thread. Times are in ns.
 */
#ifndef RINGTAIL_COUNT_TABLE_H
#define RINGTAIL_COUNT_TABLE_H

#include "count/rows.h"

/* Mean and variance, updated value by value (Welford 1962). */
struct spread {
	uint64_t n;
	double mean, squares; /* sum of squared differences from the mean */
};

/* Adds a value. */
void spread_add(struct spread *s, double value);
/* Returns the standard error of the mean; 0 with fewer than two values. */
double spread_error(const struct spread *s);

struct count_cell {
	struct spread value; /* the scaled counts, each of a run or an interval */
	uint64_t enabled, running;
	bool present; /* a counter of this event is in this row */
};

struct count_table {
	const struct count_event *events;
	size_t nr_events;
	struct count_rows rows;
	struct count_cell *cells;     /* by row, event */
	struct count_value *previous; /* readings by event, place */
	struct spread elapsed;
};

/* Makes an empty table for @c, which must outlive it. Returns 0 or -ENOMEM. */
int count_table_init(struct count_table *table, const struct counters *c, enum count_by by,
		     const char *root);
void count_table_release(struct count_table *table);

/* Forgets all counts, but not the readings: what is added next has happened since then. */
void count_table_clear(struct count_table *table);

/* Says that all counters begin at 0 again: those of @c, opened like the ones before. */
void count_table_restart(struct count_table *table, const struct counters *c);

/*
 * Reads @c and adds what was counted since the last reading, in @elapsed ns. Returns 0, or a
 * negative errno with @err filled.
 */
int count_table_add(struct count_table *table, const struct counters *c, uint64_t elapsed,
		    struct error *err);

/* Returns the cell of an event in a row. */
const struct count_cell *count_table_cell(const struct count_table *table, size_t row,
					  size_t event);

/* Returns the share of time that the counters of @cell ran while enabled, in percent. */
double count_cell_running(const struct count_cell *cell);

#endif
