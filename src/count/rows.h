/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a table of counts, and the row of each place of the counters: one row for all, or one
 * for each CPU, core, die, socket, node or thread.
 *
 * Source: Documentation/ABI/stable/sysfs-devices-system-cpu (topology), -node. Owner: the caller;
 * count_rows_release() accepts zeroes. One thread.
 */
#ifndef RINGTAIL_COUNT_ROWS_H
#define RINGTAIL_COUNT_ROWS_H

#include "count/counters.h"

enum count_by {
	COUNT_BY_ALL,
	COUNT_BY_CPU,
	COUNT_BY_CORE,
	COUNT_BY_DIE,
	COUNT_BY_SOCKET,
	COUNT_BY_NODE,
	COUNT_BY_THREAD,
};

struct count_row {
	char name[48]; /* as perf has them: "CPU0", "S0-D0-C1", "N0", "comm-123"; "" for all */
	unsigned int nr_cpus; /* CPUs in it */
};

struct count_rows {
	enum count_by by;
	struct count_row *rows; /* in the order of CPUs or tasks */
	size_t nr;
	size_t *of_place; /* the row of each place */
};

/*
 * Makes the rows of @c. @root is before /sys and /proc, "" but in tests. A CPU without topology in
 * sysfs has socket, die and core 0. Returns 0 or -ENOMEM.
 */
int count_rows_init(struct count_rows *rows, const struct counters *c, enum count_by by,
		    const char *root);
void count_rows_release(struct count_rows *rows);

#endif
