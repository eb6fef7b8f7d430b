/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All records of a recording once, by several threads: each takes a part, looks at its records, and
 * keeps those that are wanted in the order of the file.
 *
 * Parts begin where split.c guesses that a record does. Nothing depends on the guess being right:
 * the walk over the part before must come by exactly there, with nothing of a compressed stream
 * pending, so that it would go on as the walk over the part did; else it goes on itself, and what
 * was made of the part is thrown away. A stream of one zstd context (as perf writes it) is thus one
 * part, and records that are frames of their own (as we write them) are as many as one wishes.
 * Splits depend on the file alone, so that the outcome does not depend on the number of threads.
 *
 * Memory is bounded: a thread has a scan, and keeps at most SWEEP_BATCH twice before it waits for
 * its turn.
 *
 * One thread uses a struct sweep; take() is called on others.
 */
#ifndef RINGTAIL_DATA_SCAN_SWEEP_H
#define RINGTAIL_DATA_SCAN_SWEEP_H

#include "data/scan/scan.h"

#define SWEEP_BATCH	  (256u << 10) /* bytes of kept records that change hands at once */
#define SWEEP_WORKERS_MAX 16	       /* beyond, the file is read no faster */

struct sweep;

struct sweep_opts {
	unsigned int workers;	 /* threads; 0 and 1: none is made */
	unsigned int scan_flags; /* DATA_SCAN_*; notes are in the order of the file */
	uint64_t part_bytes;	 /* of the file, about; 0: by its size */
	/* What take() knows about one part. NULL: no memory. Any thread. */
	void *(*part_new)(void *arg);
	/*
	 * A record, in the order of the file within its part. 1: keep it for sweep_next(); 0: do
	 * not; a negative errno ends the sweep. Any thread.
	 */
	int (*take)(const struct data_record *rec, void *part);
	/*
	 * The end of a part, in the order of the file; frees @part. Not @valid: it is as if it had
	 * never been. Returns 0 or a negative errno.
	 */
	int (*part_end)(void *part, bool valid, void *arg);
	void *arg;
};

/* A run of records as data_scan_new() takes it. */
struct sweep_run {
	unsigned int segment;
	uint64_t from, to;
};

/* Returns 0 with *@ret to be freed by sweep_free(), or -ENOMEM. */
int sweep_new(struct data_file *df, const struct sweep_opts *opts, struct sweep **ret);
void sweep_free(struct sweep *sw); /* accepts NULL; ends the threads */

/*
 * The next record that was kept, valid until the next call. *@newest is raised
 * to the newest time of all records of the file up to this one.
 * Returns 1, 0 at the end of all, -ENOMEM, or what a callback returned.
 */
int sweep_next(struct sweep *sw, struct data_record *ret, uint64_t *newest);

/* Bytes of the file done, and in all. */
void sweep_progress(const struct sweep *sw, uint64_t *ret_done, uint64_t *ret_total);

/*
 * At the end: runs that scans of their own may take in any order, and that are everything when put
 * together. As long as @sw lives.
 */
const struct sweep_run *sweep_runs(const struct sweep *sw, size_t *ret_nr);

#endif
