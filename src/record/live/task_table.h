/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is alive, built from the sideband records that pass: tasks with comm and namespaces, the
 * maps of their processes, and of the kernel maps, ksymbols, BPF programs and cgroups. From it each
 * file of a rotated recording begins with what it needs, without another look at /proc.
 *
 * Memory is by what lives: a task's entry goes with its EXIT, a process's maps with its last task
 * or its exec; maps that were mapped over are cut. Maps that a fork copies are shared until one of
 * the two changes them. Of cgroups, whose end no record tells, the newest 4096 stay.
 *
 * Meaning of the records: kernel/events/core.c (6.18). One thread at a time.
 */
#ifndef RINGTAIL_RECORD_LIVE_TASK_TABLE_H
#define RINGTAIL_RECORD_LIVE_TASK_TABLE_H

#include <stdbool.h>

#include "perfdata/attr.h"
#include "record/initial/emit.h"

struct task_table;

/* @attr: of the events, for the trailer of their records. NULL when out of memory. */
struct task_table *task_table_new(const struct pd_attr *attr);
void task_table_free(struct task_table *l); /* accepts NULL */

/* Records of other types change nothing. */
bool task_table_wants(uint32_t type);

/*
 * Applies a whole record in native order; these come in the order of their times. Returns 0 or
 * -ENOMEM; a malformed record is ignored.
 */
int task_table_apply(struct task_table *l, const struct perf_event_header *hdr);

/*
 * Makes records that lead to the present state, as synthesize() would: the trailer is zeroed but
 * for @time. With a time, the names of processes come as those of an exec do, which ends whatever
 * was known of their maps before. Before all of them come, each with an EXIT behind it, the names
 * of those that have ended. Returns 0, what @emit returned, or -ENOMEM.
 */
int task_table_emit(struct task_table *l, uint64_t time, record_emit_fn *emit, void *arg);

struct task_table_stats {
	size_t tasks, processes, maps, others; /* maps: shared ones in parts, rounded down */
};
/* Counts the entries that the table has now. */
void task_table_stats(const struct task_table *l, struct task_table_stats *ret);

#endif
