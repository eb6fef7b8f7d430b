/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of live tasks, maps and kernel code, built from the sideband records of a recording.
 *
 * It holds tasks with comm and namespaces, the maps of their processes, and the kernel's maps,
 * ksymbols, BPF programs and cgroups. With it each file of a rotated recording begins with the
 * state that its samples need, without reading /proc again.
 *
 * Memory is bounded by what is alive: EXIT removes a task, the last EXIT or an exec removes the
 * maps of a process, and a new map shortens or splits the maps that it covers. Maps copied by a
 * fork are shared until parent or child changes them. No record reports the end of a cgroup, so the
 * newest 4096 are kept.
 *
 * Source: kernel/events/core.c (6.18) for the meaning of the records.
 * Ownership: the table copies all it keeps. Threads: one at a time. Times are in ns.
 */
#ifndef RINGTAIL_RECORD_LIVE_TASK_TABLE_H
#define RINGTAIL_RECORD_LIVE_TASK_TABLE_H

#include <stdbool.h>

#include "perfdata/attr.h"
#include "record/initial/emit.h"

struct task_table;

/* @attr: of the events; it describes the trailer of records. Returns NULL when out of memory. */
struct task_table *task_table_new(const struct pd_attr *attr);
void task_table_free(struct task_table *l); /* accepts NULL */

/* Whether records of @type can change the table. */
bool task_table_wants(uint32_t type);

/*
 * Applies a whole record in native byte order. Records must come in the order of time. Returns 0 or
 * -ENOMEM; ignores malformed records.
 */
int task_table_apply(struct task_table *l, const struct perf_event_header *hdr);

/*
 * Emits records that create the present state, like synthesize(): the trailer has @time and is else
 * zero. With a time, the COMM of a process is marked as an exec, so that reporters forget its
 * earlier maps. Tasks that ended a short time ago come before the live ones, each as COMM and EXIT.
 * Returns 0, the error of @emit, or -ENOMEM.
 */
int task_table_emit(struct task_table *l, uint64_t time, record_emit_fn *emit, void *arg);

struct task_table_stats {
	/* A map shared by n processes counts 1/n for each, rounded down by process. */
	size_t tasks, processes, maps, others;
};

/* Fills *@ret with the size of the table. */
void task_table_stats(const struct task_table *l, struct task_table_stats *ret);

#endif
