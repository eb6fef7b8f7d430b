/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread ran on a CPU, from SWITCH, SWITCH_CPU_WIDE and ITRACE_START records.
 *
 * Recordings have millions of them, so each CPU has a change list, of the threads' numbers. Changes
 * may come in any order; cpu_tasks_freeze() sorts them.
 *
 * One thread fills a struct cpu_tasks. Once frozen, any number of threads may read it.
 */
#ifndef RINGTAIL_STATE_CPU_TASKS_H
#define RINGTAIL_STATE_CPU_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_table.h"
#include "perfdata/record.h"
#include "state/change_list.h"

/* All zero: empty. */
struct cpu_tasks {
	struct change_list *cpus; /* by number */
	size_t cap_cpus;
	struct id_table tasks; /* numbers by pid and tid */
	uint64_t nr;	       /* changes taken */
	size_t bytes;	       /* memory of the changes */
};

/* Takes a record; ignores those of other types, and all without a time. Returns 0 or -ENOMEM. */
int cpu_tasks_take(struct cpu_tasks *t, const struct pd_record *rec, uint64_t time);
/* Adds the changes of @from, which is not frozen. Returns 0 or -ENOMEM. */
int cpu_tasks_merge(struct cpu_tasks *t, const struct cpu_tasks *from);
/* Sorts; changes of one time stay in order. Call it once. Returns 0 or -ENOMEM. */
int cpu_tasks_freeze(struct cpu_tasks *t);
/* Finds the thread that ran on @cpu at @time, in frozen @t. Returns false if none is known. */
bool cpu_tasks_find(const struct cpu_tasks *t, uint32_t cpu, uint64_t time, uint32_t *ret_pid,
		    uint32_t *ret_tid);
size_t cpu_tasks_memory(const struct cpu_tasks *t);
void cpu_tasks_release(struct cpu_tasks *t); /* accepts zeroes */

#endif
