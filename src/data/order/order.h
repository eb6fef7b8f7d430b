/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a recording in time order, in bounded memory.
 *
 * Records of one kernel ring are in order; rings are interleaved in a file, and FINISHED_ROUND
 * says that what is older than the round before is complete. Where rounds are absent (directories,
 * old files, our own) everything must be seen before the first record can be delivered: sorted runs
 * are then spilled to an unlinked temporary file and merged, so that memory stays at the limit.
 *
 * A record without a time cannot be sorted. It is delivered as a reader in file order meets it,
 * and its moment is {time of the newest record delivered before, UINT64_MAX}, so that state built
 * from it and samples looked up by their own time agree (perf does the same); {0, place} when
 * nothing that has a time was delivered yet. Records that come later than their round promised are
 * delivered when they come, and counted in a note (with DATA_SCAN_FINDINGS in scan_flags).
 *
 * A segment that cannot be read is noted as damage and passed over.
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
	 * Deliver only what this keeps (NULL: everything); the times of the others still count for
	 * rounds. Remains the caller's.
	 */
	struct sweep *sweep;
	unsigned int
		scan_flags; /* DATA_SCAN_*, for the scans made inside where there is no sweep */
	/* Called now and then with bytes done and in all (NULL: none). */
	void (*progress)(uint64_t done, uint64_t total, void *arg);
	void *arg;
};

/* Returns 0 with *@ret to be freed by order_free(), or -ENOMEM. */
int order_new(struct data_file *df, const struct order_opts *opts, struct order **ret,
	      struct error *err);
void order_free(struct order *o); /* accepts NULL */

/*
 * Next record in order, valid until the next call; ret->at is its moment.
 * Returns 1, 0 at the end, or a negative errno (of memory or the temporary file) with @err filled.
 */
int order_next(struct order *o, struct data_record *ret, struct error *err);

#endif
