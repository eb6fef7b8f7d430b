/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AUXTRACE records of a recording, by ring, in the order of their data.
 *
 * Memory: 72 bytes for each record. One thread.
 */
#ifndef RINGTAIL_AUXTRACE_RECORDING_PIECES_H
#define RINGTAIL_AUXTRACE_RECORDING_PIECES_H

#include "base/hash_table.h"
#include "data/scan/scan.h"
#include "perfdata/snapshot_log.h"

struct aux_piece_ring {
	uint32_t idx, cpu, tid;
	uint32_t lives;	    /* times that its offsets began again at 0 */
	bool any;	    /* it has a record */
	bool logged;	    /* @log is that of its next record */
	uint32_t take;	    /* number of @log in aux_pieces.takes, from 1 */
	uint64_t aux_flags; /* of its AUX records, by OR; auxtrace/recording/cuts.h sets it */
	struct pd_aux_ring log;
};

/* The data of one AUXTRACE record. */
struct aux_piece {
	uint32_t ring, life, segment;
	uint32_t take;	 /* number of the snapshot in aux_pieces.takes, from 1; 0: none is logged */
	bool placed;	 /* its offset is the position in the ring */
	bool joined;	 /* it continues the one before: auxtrace/recording/overlaps.h */
	uint64_t at;	 /* of the record in the file */
	uint64_t whole;	 /* bytes of the record with all that follows */
	uint64_t offset; /* of the data */
	uint64_t size;	 /* bytes of data; fewer than follow the record if the log says so */
	uint64_t begin; /* if placed or joined: position of the first byte that the one before lacks
			 */
};

/* What the log says of the data of a snapshot. */
struct aux_piece_take {
	uint64_t number; /* of the snapshot */
	uint64_t from, to;
};

/* All zero: empty. */
struct aux_pieces {
	struct aux_piece_ring *rings;
	size_t nr_rings, cap_rings;
	struct hash_table by_ids;
	struct aux_piece *pieces;
	size_t nr, cap;
	struct aux_piece_take *takes;
	size_t nr_takes, cap_takes;
	bool overwrites; /* the kernel overwrote the AUX areas */
	bool drains;	 /* it did not */
};

/* Takes a record of any type; ignores those that do not concern it. Returns 0 or -ENOMEM. */
int aux_pieces_add(struct aux_pieces *x, struct data_file *df, const struct data_record *rec);
/*
 * Sorts the pieces, and finds which bytes of them are padding or repeated. Call it once, after the
 * last record.
 */
void aux_pieces_finish(struct aux_pieces *x);
/*
 * Returns whether the trace of @b continues that of @a, the piece before. Bytes that both have may
 * be the padding of @a.
 */
bool aux_pieces_continue(const struct aux_piece *a, const struct aux_piece *b);
/* Frees the memory; accepts zeroes. */
void aux_pieces_release(struct aux_pieces *x);

#endif
