/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of records and samples as text, in the words of perf report --stats. One thread. */
#ifndef RINGTAIL_RENDER_STATS_H
#define RINGTAIL_RENDER_STATS_H

#include <jansson.h>
#include <stdio.h>

#include "report/table/thread_counts.h"
#include "report/trace/trace.h"

/* Writes the counts of pass 1. */
void stats_render(FILE *out, const struct trace *t);

/*
 * Writes the threads that @t names as a tree, each below the thread that made it, in the manner of
 * perf report --tasks; with @maps also the last maps of each, as --mmaps. Returns 0 or -ENOMEM.
 */
int tasks_render(FILE *out, const struct trace *t, bool maps);

/* Writes the counts of threads, a line each, with a column for each event. */
void thread_counts_render(FILE *out, const struct trace *t, const struct thread_counts *c);

/* Writes the same, a line for each count. */
void thread_counts_render_raw(FILE *out, const struct trace *t, const struct thread_counts *c);

/* Returns what tasks_render() writes, as JSON for json_decref(), or NULL when memory is short. */
json_t *json_tasks(const struct trace *t, bool maps);

#endif
