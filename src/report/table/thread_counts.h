/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of threads that READ records have (record -s): one for each thread and event.
 *
 * Main thread. The caller owns the list.
 */
#ifndef RINGTAIL_REPORT_TABLE_THREAD_COUNTS_H
#define RINGTAIL_REPORT_TABLE_THREAD_COUNTS_H

#include "report/trace/trace.h"

struct thread_count {
	uint32_t pid, tid;
	unsigned int event; /* index in the evlist */
	uint64_t value;
};

struct thread_counts {
	struct thread_count *all; /* by pid, tid and event */
	size_t nr, cap;
};

/* Reads all records. Returns 0, or a negative errno with @err filled; then @ret is empty. */
int thread_counts_read(struct trace *t, struct thread_counts *ret, struct error *err);
void thread_counts_release(struct thread_counts *c); /* accepts zeroes */

#endif
