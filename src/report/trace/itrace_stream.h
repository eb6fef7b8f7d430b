/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a hardware trace in the order of time.
 *
 * Threads decode the next chunks of each ring; the caller's thread merges them. So the order does
 * not depend on the number of threads. A sample without a time keeps its place behind the one
 * before it in its ring.
 *
 * Memory: some chunks of decoded samples for each ring. One thread uses a stream.
 */
#ifndef RINGTAIL_REPORT_TRACE_ITRACE_STREAM_H
#define RINGTAIL_REPORT_TRACE_ITRACE_STREAM_H

#include "report/trace/itrace.h"

struct itrace_stream;

/*
 * Begins to decode with @workers threads, at least 1. @i outlives the stream. Returns 0 with *@ret
 * for itrace_stream_free(), or -ENOMEM.
 */
int itrace_stream_new(struct itrace *i, unsigned int workers, struct itrace_stream **ret);
void itrace_stream_free(struct itrace_stream *s); /* accepts NULL */

/* Returns 1 with the time of the next sample in *@ret, 0 at the end, or a negative errno. */
int itrace_stream_peek(struct itrace_stream *s, uint64_t *ret);
/* Returns the past of threads as of the newest sample taken; NULL: nobody asked for it. */
struct itrace_past *itrace_stream_past(struct itrace_stream *s);
/* Calls @fn for the sample that itrace_stream_peek() found. Returns what @fn returns. */
int itrace_stream_take(struct itrace_stream *s, walk_fn fn, void *arg);
/*
 * Takes that sample and those that follow it in time and chunk, but for those that are not before
 * @before (UINT64_MAX: all are). Returns false, with nothing taken, where each sample must be taken
 * by itself.
 */
bool itrace_stream_take_span(struct itrace_stream *s, uint64_t before, struct walk_span *ret);

#endif
