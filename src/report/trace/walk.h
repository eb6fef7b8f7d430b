/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass 2: hands out the samples of a recording, decoded.
 *
 * Reports walk chunk by chunk; chunks may be walked in any order and by several threads. Scripts
 * walk all samples in time order in one thread.
 */
#ifndef RINGTAIL_REPORT_TRACE_WALK_H
#define RINGTAIL_REPORT_TRACE_WALK_H

#include "perfdata/sample.h"
#include "report/trace/trace.h"

/* A decoded sample; valid during the call that receives it. */
struct walk_sample {
	const struct data_record *rec;
	const struct pd_evsel *evsel;
	struct pd_sample s;
};

/* Takes one sample; a negative errno ends the walk. */
typedef int (*walk_fn)(const struct walk_sample *ws, void *arg);

/*
 * Calls @fn for the samples of one chunk, in file order. Any thread may call; one thread walks a
 * chunk. A sample that does not decode becomes a finding of the chunk and is skipped. *@scan is
 * NULL at first and serves the thread's next chunk; the caller frees it in the end. Returns 0, the
 * negative value of @fn, or a negative errno of the scan.
 */
int walk_chunk(struct trace *t, struct trace_chunk *chunk, struct data_scan **scan, walk_fn fn,
	       void *arg);

/* Moves the findings of all chunks to the file. Call it once, after all chunks are walked. */
void walk_hand_in_findings(struct trace *t);

/*
 * Calls @fn for all samples in time order. Call it from one thread. Returns 0, the negative value
 * of @fn, or a negative errno with @err filled.
 */
int walk_ordered(struct trace *t, walk_fn fn, void *arg, struct error *err);

#endif
