/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basic blocks: runs of code without a taken branch, and the cycles that branch stacks have for
 * them.
 *
 * A block ends at a branch, whose cycles are those since the branch before. It begins where that
 * one went to, if this is in the same function, and not behind the end; else the beginning is not
 * known. Blocks with one end are one block: it counts all their cycles, and begins at the lowest
 * address of any.
 *
 * One thread adds to a struct blocks; several are merged in any order, to the same result. Symbols
 * and dsos are borrowed from the trace.
 */
#ifndef RINGTAIL_REPORT_BLOCKS_BLOCKS_H
#define RINGTAIL_REPORT_BLOCKS_BLOCKS_H

#include "base/hash_table.h"
#include "report/trace/filter.h"

struct block_cycles {
	uint64_t cycles, nr; /* of @nr branches */
};

struct block {
	const struct symbol *sym; /* NULL: not known */
	const struct dso *dso;
	uint64_t base; /* of a module or JIT: from its addresses to the machine's */
	uint64_t end;  /* address of the branch in the dso */
	bool has_start;
	uint64_t start;		   /* the lowest one, with has_start */
	struct block_cycles all;   /* of all branches from @end */
	struct block_cycles whole; /* of those that came from @start; none without has_start */
};

/* All zero: empty. */
struct blocks {
	struct block *block;
	size_t nr, cap;
	struct hash_table table; /* by function and end */
	struct block_cycles all; /* of all branches with cycles, also of those in no block */
};

/*
 * Adds the branch stack of @ws. Branches without cycles are not counted. Of those where @f refuses
 * the thread's @comm or the place, only the cycles count. Returns 0, -ENOMEM or -E2BIG.
 */
int blocks_add(struct blocks *b, struct frames *frames, const struct walk_sample *ws,
	       const struct filter *f, const char *comm);

/* Adds all of @from. Returns as blocks_add(). */
int blocks_merge(struct blocks *b, const struct blocks *from);

/* Orders the blocks by falling cycles, then by function and place. No more may be added. */
void blocks_sort(struct blocks *b);

/* Makes @b->all the sum of the blocks. */
void blocks_make_relative(struct blocks *b);

/* Returns the mean of @c, rounded down as perf does; 0 of none. */
static inline uint64_t block_average(const struct block_cycles *c)
{
	return c->nr ? c->cycles / c->nr : 0;
}

/* Returns the sum of the averages of all blocks. */
uint64_t blocks_averages(const struct blocks *b);

void blocks_release(struct blocks *b); /* accepts zeroes */

#endif
