/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass 2: the samples of a recording, either chunk by chunk in any order (reports; each chunk can
 * be another thread's) or all in time order (scripts).
 */
#ifndef RINGTAIL_REPORT_TRACE_WALK_H
#define RINGTAIL_REPORT_TRACE_WALK_H

#include "perfdata/sample.h"
#include "report/trace/trace.h"

/* A decoded sample; valid during the call that gets it. */
struct walk_sample {
	const struct data_record *rec;
	const struct pd_evsel *evsel;
	struct pd_sample s;
};

/* Takes one sample; a negative errno ends the walk. */
typedef int (*walk_fn)(const struct walk_sample *ws, void *arg);

/*
 * The samples of one of the trace's chunks in file order. Any thread. A sample that does not decode
 * is noted in the chunk and left out. *@scan is NULL at first, serves for the thread's next chunk,
 * and is then the caller's to free. Returns 0, what @fn returned, or -ENOMEM.
 */
int walk_chunk(struct trace *t, struct trace_chunk *chunk, struct data_scan **scan, walk_fn fn,
	       void *arg);

/* When all chunks are walked: what was noted in them becomes notes of the file. */
void walk_hand_in_notes(struct trace *t);

/* All samples in time order. One thread. Returns 0, what @fn returned, or a negative errno. */
int walk_ordered(struct trace *t, walk_fn fn, void *arg, struct error *err);

#endif
