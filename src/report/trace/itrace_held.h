/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a chunk of hardware trace that several holders share: the one that merges chunks, and
 * those that work on the samples later.
 *
 * The last holder to let go gives the memory to the next chunk, or frees it. Any thread.
 */
#ifndef RINGTAIL_REPORT_TRACE_ITRACE_HELD_H
#define RINGTAIL_REPORT_TRACE_ITRACE_HELD_H

#include <stdatomic.h>

#include "report/trace/itrace.h"

struct itrace_held {
	struct itrace_list list; /* constant while there are several holders */
	struct itrace *itrace;	 /* outlives all of its lists */
	atomic_uint holders;
	struct itrace_held *next; /* spare one */
};

/* Returns an empty list with one holder; NULL: memory is short. */
struct itrace_held *itrace_held_new(struct itrace *i);
void itrace_hold(struct itrace_held *h);
void itrace_let_go(struct itrace_held *h); /* accepts NULL */

/* Frees the spare lists of @i. */
void itrace_held_free_spare(struct itrace *i);

#endif
