/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep: one walk over all records of a recording by several threads.
 *
 * Each thread walks a part and keeps the wanted records; the caller gets these in the order of the
 * file. Parts begin where split.c guesses that a record begins. A guess need not be right: the walk
 * over the previous part must arrive exactly there, with nothing of a compressed stream pending. If
 * it does not, it goes on through the part itself, and the part's own results are dropped. So a
 * stream of one zstd context (as perf writes it) is one part; records that are frames of their own
 * (as we write them) allow any number. Splits depend on the file alone, so the result does not
 * depend on the number of threads.
 *
 * Memory is bounded: a thread has a scan, and keeps at most two SWEEP_BATCH before it waits for its
 * turn.
 *
 * One thread uses a struct sweep; other threads call take().
 */
#ifndef RINGTAIL_DATA_SCAN_SWEEP_H
#define RINGTAIL_DATA_SCAN_SWEEP_H

#include "data/scan/scan.h"

#define SWEEP_BATCH	  (256u << 10) /* bytes of kept records that change hands at once */
#define SWEEP_WORKERS_MAX 16	       /* beyond, the file is read no faster */

struct sweep;

struct sweep_opts {
	unsigned int workers;	 /* threads; 0 and 1: none is made */
	unsigned int scan_flags; /* DATA_SCAN_*; findings are in the order of the file */
	uint64_t part_bytes;	 /* of the file, about; 0: by its size */
	/* What take() knows about one part. NULL: no memory. Any thread. */
	void *(*part_new)(void *arg);
	/*
	 * Receives a record, in the order of the file within its part. Returns 1 to keep it for
	 * sweep_next(), 0 not to, or a negative errno, which ends the sweep. Any thread.
	 */
	int (*take)(const struct data_record *rec, void *part);
	/*
	 * Ends a part and frees @part; called in the order of the file. If not @valid, the results
	 * in @part do not count. Returns 0 or a negative errno.
	 */
	int (*part_end)(void *part, bool valid, void *arg);
	void *arg;
};

/* A run of records as data_scan_new() takes it. */
struct sweep_run {
	unsigned int segment;
	uint64_t from, to;
};

/* Returns 0 with *@ret for sweep_free(), or -ENOMEM. */
int sweep_new(struct data_file *df, const struct sweep_opts *opts, struct sweep **ret);
/* Ends the threads and frees @sw; accepts NULL. */
void sweep_free(struct sweep *sw);

/*
 * Delivers the next kept record, valid until the next call. Raises *@newest to the newest time of
 * all records of the file up to this one. Returns 1, 0 at the end, -ENOMEM, or a callback's error.
 */
int sweep_next(struct sweep *sw, struct data_record *ret, uint64_t *newest);

/* Returns the bytes of the file done, and in all. */
void sweep_progress(const struct sweep *sw, uint64_t *ret_done, uint64_t *ret_total);

/*
 * After the end: returns runs that together are all records; other scans may walk them in any
 * order. They live as long as @sw.
 */
const struct sweep_run *sweep_runs(const struct sweep *sw, size_t *ret_nr);

#endif
