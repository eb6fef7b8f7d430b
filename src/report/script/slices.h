/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: the samples of a recording in order of time, in parts that several threads walk at once.
 *
 * Pass 1 notes the first and the last time of each chunk. A slice is a stretch of time; whoever
 * walks it reads the chunks that reach into it, keeps the samples of that time, and sorts them. So
 * chunks at the borders of slices are read several times, and nothing is sorted on disk. That pays
 * where chunks are short (trace.by_time) and rings were read often enough: slices_new() decides.
 *
 * One thread makes slices; then any thread may walk any of them, each with its own walker.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_SLICES_H
#define RINGTAIL_REPORT_SCRIPT_SLICES_H

#include "report/trace/walk.h"

struct slices;

/*
 * Divides the samples of @t, after trace_prepare(). Returns 0 with *@ret for slices_free(),
 * -ENOMEM, or -ENOTSUP: walk_ordered() is needed, because samples have no time, or hardware trace
 * comes between them, or slices would take too much memory or time.
 */
int slices_new(struct trace *t, struct slices **ret);
/* Frees @s; accepts NULL. */
void slices_free(struct slices *s);

/* Returns the number of slices. Each holds earlier samples than the next. */
size_t slices_count(const struct slices *s);

/* What a thread walks slices with. */
struct slice_walker;

/* Returns 0 with *@ret for slice_walker_free(), or -ENOMEM. */
int slice_walker_new(struct slices *s, struct slice_walker **ret);
void slice_walker_free(struct slice_walker *w); /* accepts NULL */

/*
 * Calls @fn for the samples of slice @i, in order. One thread walks a slice, once. A sample that
 * does not decode becomes a finding. Returns 0, the negative value of @fn, or a negative errno of
 * the scan.
 */
int slice_walk(struct slice_walker *w, size_t i, walk_fn fn, void *arg);

/* Moves the findings to the file. Call it once, after all slices are walked. */
void slices_hand_in_findings(struct slices *s);

#endif
