/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listing: where the instructions of a function begin, and the jumps within it as arrows.
 *
 * Jumps to one target are one arrow. Each arrow has a lane in the margin, lane 0 next to the
 * instructions, so that no two arrows of a lane overlap. Arrows that find no lane, and jumps over
 * more than LISTING_REACH instructions, are not drawn. One thread uses a listing; it borrows the
 * code.
 */
#ifndef RINGTAIL_REPORT_ANNOTATE_LISTING_H
#define RINGTAIL_REPORT_ANNOTATE_LISTING_H

#include "symbol/code/code.h"

#define LISTING_REACH 1000
#define LISTING_LANES 8
/* The longest margin, with its NUL: lanes, the line to the instruction, its head. */
#define LISTING_MARGIN (LISTING_LANES + 3)

struct listing_arrow {
	uint32_t first, last; /* of its rows */
	uint32_t target;
	uint32_t source, nr_sources; /* in sources, ascending */
	uint8_t lane;
};

struct listing {
	const struct function_code *code;
	struct disasm *disasm;
	uint32_t *offset; /* of each instruction, from the start of the code; ascending */
	size_t nr, cap;
	struct listing_arrow *arrow; /* those that are drawn, by first row */
	size_t nr_arrows;
	uint32_t *source; /* rows of jumps */
	size_t lanes;	  /* that are in use */
	size_t unknown;	  /* instructions that were not decoded */
};

/*
 * Decodes @code. Returns 0 with @ret for listing_release(), -ENOTSUP if the machine is not known,
 * or -ENOMEM; on failure @err is filled and nothing needs a release.
 */
int listing_init(struct listing *l, const struct function_code *code, enum disasm_syntax syntax,
		 struct error *err);
void listing_release(struct listing *l); /* accepts zeroes */

/* Decodes the instruction of row @i; addresses are as in the file. */
void listing_insn(struct listing *l, size_t i, struct disasm_insn *ret);

/* Returns the code of row @i. */
const uint8_t *listing_bytes(const struct listing *l, size_t i);

/*
 * Draws the margin of row @i in ASCII. *@first is 0 at the first call; rows must ascend from call
 * to call.
 */
void listing_margin(const struct listing *l, size_t i, size_t *first, char ret[LISTING_MARGIN]);

#endif
