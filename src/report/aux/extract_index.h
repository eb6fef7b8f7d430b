/* SPDX-License-Identifier: Apache-2.0 */
/* The AUXTRACE records of a recording, by ring, in the order of their data. One thread. */
#ifndef RINGTAIL_REPORT_AUX_EXTRACT_INDEX_H
#define RINGTAIL_REPORT_AUX_EXTRACT_INDEX_H

#include "base/hash_table.h"
#include "data/scan/scan.h"
#include "perfdata/snapshot_log.h"

struct extract_ring {
	uint32_t idx, cpu, tid;
	uint32_t lives; /* times that its offsets began again at 0 */
	bool any;	/* it has a record */
	bool logged;	/* @log is that of its next record */
	struct pd_aux_ring log;
};

struct extract_piece {
	uint32_t ring, life, segment;
	bool placed;	 /* its offset is the position in the ring */
	uint64_t at;	 /* of the record in the file */
	uint64_t whole;	 /* bytes of the record with all that follows */
	uint64_t offset; /* of the data */
	uint64_t size;	 /* bytes of data; fewer than follow the record if the log says so */
};

/* All zero: empty. */
struct extract_index {
	struct extract_ring *rings;
	size_t nr_rings, cap_rings;
	struct hash_table by_ids;
	struct extract_piece *pieces;
	size_t nr, cap;
	bool overwrites; /* the kernel overwrote the AUX areas */
	bool drains;	 /* it did not */
};

/* Takes a record of any type; ignores those that do not concern it. Returns 0 or -ENOMEM. */
int extract_index_add(struct extract_index *x, struct data_file *df, const struct data_record *rec);
/* Sorts the pieces. Call it once, after the last record. */
void extract_index_finish(struct extract_index *x);
void extract_index_release(struct extract_index *x); /* accepts zeroes */

#endif
