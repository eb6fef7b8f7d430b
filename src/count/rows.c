// SPDX-License-Identifier: Apache-2.0
#include "count/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/catalog/pmu.h"
#include "sys/io/file.h"

static int topology(const char *root, int cpu, const char *what)
{
	long long number;

	if (file_number(&number, "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu, what))
		return 0;
	return number < 0 ? 0 : (int)number; /* -1: the architecture has none */
}

/* sysfs links a CPU to its node: cpuN/nodeM. */
static int node_of(const char *root, int cpu)
{
	struct name_list names = {0};
	char path[4096];
	int node = 0;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d", root, cpu);
	if (!name_list_read_dir(&names, path))
		for (size_t i = 0; i < names.count; i++)
			if (sscanf(names.names[i], "node%d", &node) == 1)
				break;
	name_list_release(&names);
	return node;
}

static void name_cpu(struct count_row *row, enum count_by by, const char *root, int cpu)
{
	char *out = row->name;
	int socket, die;

	if (by == COUNT_BY_CPU || by == COUNT_BY_NODE) {
		snprintf(out, sizeof(row->name), by == COUNT_BY_CPU ? "CPU%d" : "N%d",
			 by == COUNT_BY_CPU ? cpu : node_of(root, cpu));
		return;
	}
	socket = topology(root, cpu, "physical_package_id");
	die = topology(root, cpu, "die_id");
	if (by == COUNT_BY_SOCKET)
		snprintf(out, sizeof(row->name), "S%d", socket);
	else if (by == COUNT_BY_DIE)
		snprintf(out, sizeof(row->name), "S%d-D%d", socket, die);
	else if (by == COUNT_BY_CORE)
		snprintf(out, sizeof(row->name), "S%d-D%d-C%d", socket, die,
			 topology(root, cpu, "core_id"));
}

static void name_task(struct count_row *row, const char *root, pid_t task)
{
	char *comm = NULL;

	if (file_text(&comm, "%s/proc/%d/comm", root, task))
		comm = NULL; /* it has ended */
	snprintf(row->name, sizeof(row->name), "%.31s-%d", comm ? comm : "", task);
	free(comm);
}

/* Returns the row with the name of @row, which is added if there is none. */
static size_t find_row(struct count_rows *rows, const struct count_row *row)
{
	size_t i = 0;

	while (i < rows->nr && strcmp(rows->rows[i].name, row->name) != 0)
		i++;
	if (i == rows->nr)
		rows->rows[rows->nr++] = *row;
	return i;
}

int count_rows_init(struct count_rows *rows, const struct counters *c, enum count_by by,
		    const char *root)
{
	const struct count_targets *t = c->targets;
	size_t places = counters_places(c);

	*rows = (struct count_rows){.by = by};
	rows->rows = calloc(places, sizeof(*rows->rows));
	rows->of_place = calloc(places, sizeof(*rows->of_place));
	if (!rows->rows || !rows->of_place) {
		count_rows_release(rows);
		return -ENOMEM;
	}
	for (size_t i = 0; i < places; i++) {
		struct count_row row = {0};

		if (by == COUNT_BY_THREAD && t->tasks.nr)
			name_task(&row, root, t->tasks.ids[i / c->nr_cpus]);
		else if (by != COUNT_BY_ALL && by != COUNT_BY_THREAD && t->cpus.nr)
			name_cpu(&row, by, root, t->cpus.ids[i % c->nr_cpus]);
		rows->of_place[i] = find_row(rows, &row);
		rows->rows[rows->of_place[i]].nr_cpus += i < c->nr_cpus && t->cpus.nr;
	}
	return 0;
}

void count_rows_release(struct count_rows *rows)
{
	free(rows->rows);
	free(rows->of_place);
	*rows = (struct count_rows){0};
}
