/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time order: delivers the records of a recording by time, in bounded memory.
 *
 * Records of one ring are in order. A file interleaves rings, and FINISHED_ROUND marks that all
 * records older than the previous round are complete. Without rounds (directories of several files,
 * old files, our own) all records must be read before the first is delivered: sorted runs then go
 * to an unlinked temporary file and are merged, so that memory stays at the limit.
 *
 * A record without a time is delivered when a reader in file order finds it. Its moment is {time of
 * the newest record delivered before, UINT64_MAX}, so that the state built from it agrees with
 * samples, which look it up by their own time (as in perf); {0, place} before the first record with
 * a time. Records that come too late for their round are delivered at once, and counted in a
 * finding (with DATA_SCAN_FINDINGS in scan_flags). A segment that cannot be read becomes a finding
 * and is skipped.
 *
 * One thread uses a struct order.
 */
#ifndef RINGTAIL_DATA_ORDER_ORDER_H
#define RINGTAIL_DATA_ORDER_ORDER_H

#include "data/scan/scan.h"
#include "data/scan/sweep.h"

struct order;

struct order_opts {
	size_t memory; /* bytes of records kept in memory; 0: 32 MB */
	/*
	 * Deliver only the records that it keeps; NULL: all. The times of others still count for
	 * rounds. Borrowed.
	 */
	struct sweep *sweep;
	unsigned int scan_flags; /* DATA_SCAN_* for the scans of an order without a sweep */
	/* Called now and then with the bytes of the file read so far and in total; may be NULL. */
	void (*progress)(uint64_t done, uint64_t total, void *arg);
	void *arg;
};

/* Returns 0 with *@ret for order_free(), or -ENOMEM with @err filled. */
int order_new(struct data_file *df, const struct order_opts *opts, struct order **ret,
	      struct error *err);
/* Frees @o; accepts NULL. */
void order_free(struct order *o);

/*
 * Delivers the next record, valid until the next call; ret->at is its moment. Returns 1, 0 at the
 * end, or a negative errno (of memory or the temporary file) with @err filled.
 */
int order_next(struct order *o, struct data_record *ret, struct error *err);

#endif
