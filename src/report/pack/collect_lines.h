/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of code in which samples fell, and their source lines.
 *
 * Internal to report/pack. One thread.
 */
#ifndef RINGTAIL_REPORT_PACK_COLLECT_LINES_H
#define RINGTAIL_REPORT_PACK_COLLECT_LINES_H

#include "base/buf.h"
#include "base/hash_table.h"
#include "perfdata/symbols/symbols.h"
#include "symbol/lines/lines.h"

/* Bytes of a piece: lines are asked for all of them. */
#define CODE_PIECE 16u

struct code_piece {
	const struct dso *dso;
	uint64_t addr; /* a multiple of CODE_PIECE, as in struct location */
};

struct code_pieces {
	uint64_t key; /* of hashes; hash_key() */
	struct code_piece *piece;
	size_t nr, cap;
	struct hash_table by_place;
};

/* Frees the pieces; accepts zeroes. */
void code_pieces_release(struct code_pieces *p);

/* Adds the piece of @addr. Returns 0 or -ENOMEM. */
int code_pieces_add(struct code_pieces *p, const struct dso *dso, uint64_t addr);

/* Orders the pieces for code_pieces_lines(); none may be added then. */
void code_pieces_sort(struct code_pieces *p);

/* As the lines of struct recorded_entries (symbol/recorded/compose.h). */
int code_pieces_lines(const struct code_pieces *p, const struct resolver *r,
		      const struct pd_symbols_object *o, struct buf *ret, uint64_t *pieces);

#endif
