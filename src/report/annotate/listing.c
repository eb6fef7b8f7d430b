// SPDX-License-Identifier: Apache-2.0
#include "report/annotate/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A jump from row to row. */
struct jump {
	uint32_t target, source;
};

struct jumps {
	struct jump *jump;
	size_t nr, cap;
};

/* --- decoding ------------------------------------------------------------------------------------
 */

void listing_insn(struct listing *l, size_t i, struct disasm_insn *ret)
{
	const struct function_code *c = l->code;
	uint32_t at = l->offset[i];

	disasm_next(l->disasm, c->bytes.data + at, c->bytes.len - at, c->start + c->to_file + at,
		    ret);
}

const uint8_t *listing_bytes(const struct listing *l, size_t i)
{
	return l->code->bytes.data + l->offset[i];
}

/* Returns the row that begins at @addr, as in the file; SIZE_MAX: none does. */
static size_t find_row(const struct listing *l, uint64_t addr)
{
	uint64_t at = addr - (l->code->start + l->code->to_file);
	size_t low = 0, high = l->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->offset[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->nr && l->offset[low] == at ? low : SIZE_MAX;
}

static bool is_inside(const struct function_code *c, uint64_t addr)
{
	return addr - (c->start + c->to_file) < c->bytes.len;
}

/* Finds the instructions, and the jumps within the function: first by address, then by row. */
static int decode(struct listing *l, struct jumps *jumps)
{
	const struct function_code *c = l->code;
	uint64_t start = c->start + c->to_file;
	struct disasm_insn insn;

	for (size_t at = 0; at < c->bytes.len; at += insn.size) {
		if (array_grow(&l->offset, &l->cap, l->nr + 1, sizeof(*l->offset)))
			return -ENOMEM;
		l->offset[l->nr] = (uint32_t)at;
		disasm_next(l->disasm, c->bytes.data + at, c->bytes.len - at, start + at, &insn);
		l->unknown += !insn.known;
		if (insn.kind == DISASM_JUMP && insn.has_target && is_inside(c, insn.target)) {
			if (array_grow(&jumps->jump, &jumps->cap, jumps->nr + 1,
				       sizeof(*jumps->jump)))
				return -ENOMEM;
			jumps->jump[jumps->nr++] = (struct jump){
				.target = (uint32_t)(insn.target - start),
				.source = (uint32_t)l->nr,
			};
		}
		l->nr++;
	}
	return 0;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a < b ? b - a : a - b;
}

/* Turns targets from offsets into rows. Drops jumps into instructions, to themselves and too far.
 */
static void settle_targets(const struct listing *l, struct jumps *jumps)
{
	uint64_t start = l->code->start + l->code->to_file;
	size_t kept = 0;

	for (size_t i = 0; i < jumps->nr; i++) {
		struct jump j = jumps->jump[i];
		size_t row = find_row(l, start + j.target);

		if (row == SIZE_MAX || row == j.source)
			continue;
		j.target = (uint32_t)row;
		if (distance(j.target, j.source) <= LISTING_REACH)
			jumps->jump[kept++] = j;
	}
	jumps->nr = kept;
}

/* --- arrows --------------------------------------------------------------------------------------
 */

static int compare_jumps(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

static uint32_t arrow_length(const struct listing_arrow *a)
{
	return a->last - a->first;
}

/* Short arrows choose their lanes first, so they are next to the instructions. */
static int compare_lengths(const void *a, const void *b)
{
	const struct listing_arrow *x = a, *y = b;

	if (arrow_length(x) != arrow_length(y))
		return arrow_length(x) < arrow_length(y) ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static int compare_firsts(const void *a, const void *b)
{
	const struct listing_arrow *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Makes an arrow for each target. */
static int make_arrows(struct listing *l, struct jumps *jumps)
{
	if (jumps->nr)
		qsort(jumps->jump, jumps->nr, sizeof(*jumps->jump), compare_jumps);
	l->arrow = calloc(jumps->nr + 1, sizeof(*l->arrow));
	l->source = calloc(jumps->nr + 1, sizeof(*l->source));
	if (!l->arrow || !l->source)
		return -ENOMEM;
	for (size_t i = 0; i < jumps->nr; i++) {
		const struct jump *j = &jumps->jump[i];
		struct listing_arrow *a;

		l->source[i] = j->source;
		if (!i || j->target != jumps->jump[i - 1].target)
			l->arrow[l->nr_arrows++] = (struct listing_arrow){
				.first = j->target,
				.last = j->target,
				.target = j->target,
				.source = (uint32_t)i,
			};
		a = &l->arrow[l->nr_arrows - 1];
		a->nr_sources++;
		if (j->source < a->first)
			a->first = j->source;
		if (j->source > a->last)
			a->last = j->source;
	}
	return 0;
}

/* Finds a lane that is free in all rows of @a; @taken has a bit for each lane, by row. */
static bool choose_lane(const struct listing_arrow *a, uint8_t *taken, uint8_t *ret)
{
	unsigned int all = 0;

	for (uint32_t i = a->first; i <= a->last; i++)
		all |= taken[i];
	for (uint8_t lane = 0; lane < LISTING_LANES; lane++) {
		if (all & 1u << lane)
			continue;
		for (uint32_t i = a->first; i <= a->last; i++)
			taken[i] |= (uint8_t)(1u << lane);
		*ret = lane;
		return true;
	}
	return false;
}

static int choose_lanes(struct listing *l)
{
	uint8_t *taken = calloc(l->nr + 1, 1);
	size_t kept = 0;

	if (!taken)
		return -ENOMEM;
	qsort(l->arrow, l->nr_arrows, sizeof(*l->arrow), compare_lengths);
	for (size_t i = 0; i < l->nr_arrows; i++) {
		struct listing_arrow a = l->arrow[i];

		if (!choose_lane(&a, taken, &a.lane))
			continue;
		if (a.lane >= l->lanes)
			l->lanes = (size_t)a.lane + 1;
		l->arrow[kept++] = a;
	}
	l->nr_arrows = kept;
	qsort(l->arrow, l->nr_arrows, sizeof(*l->arrow), compare_firsts);
	free(taken);
	return 0;
}

int listing_init(struct listing *l, const struct function_code *code, enum disasm_syntax syntax,
		 struct error *err)
{
	struct jumps jumps = {0};
	int rc;

	*l = (struct listing){.code = code};
	rc = disasm_new(&code->machine, syntax, &l->disasm, err);
	if (rc)
		return rc;
	rc = decode(l, &jumps);
	if (!rc) {
		settle_targets(l, &jumps);
		rc = make_arrows(l, &jumps);
	}
	if (!rc)
		rc = choose_lanes(l);
	free(jumps.jump);
	if (rc) {
		listing_release(l);
		error_set(err, rc, "out of memory");
	}
	return rc;
}

void listing_release(struct listing *l)
{
	disasm_free(l->disasm);
	free(l->offset);
	free(l->arrow);
	free(l->source);
	*l = (struct listing){0};
}

/* --- drawing -------------------------------------------------------------------------------------
 */

static bool is_source(const struct listing *l, const struct listing_arrow *a, uint32_t row)
{
	size_t low = a->source, high = low + a->nr_sources;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->source[mid] < row)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->source + a->nr_sources && l->source[low] == row;
}

/* Draws a horizontal line from the arrow's lane to the instruction; vertical lines stay. */
static void draw_end(const struct listing *l, const struct listing_arrow *a, uint32_t row,
		     char *margin)
{
	size_t at = l->lanes - 1 - a->lane;

	margin[at] = row == a->first ? '/' : row == a->last ? '\\' : '|';
	for (size_t i = at + 1; i <= l->lanes; i++)
		if (margin[i] == ' ')
			margin[i] = '-';
	if (row == a->target)
		margin[l->lanes + 1] = '>';
	else if (margin[l->lanes + 1] == ' ')
		margin[l->lanes + 1] = '-';
}

void listing_margin(const struct listing *l, size_t i, size_t *first, char ret[LISTING_MARGIN])
{
	uint32_t row = (uint32_t)i;
	size_t width = l->lanes ? l->lanes + 2 : 0;

	memset(ret, ' ', width);
	ret[width] = '\0';
	while (*first < l->nr_arrows && l->arrow[*first].last < row)
		(*first)++;
	for (size_t k = *first; k < l->nr_arrows && l->arrow[k].first <= row; k++)
		if (l->arrow[k].last >= row)
			ret[l->lanes - 1 - l->arrow[k].lane] = '|';
	for (size_t k = *first; k < l->nr_arrows && l->arrow[k].first <= row; k++) {
		const struct listing_arrow *a = &l->arrow[k];

		if (a->last >= row && (row == a->target || is_source(l, a, row)))
			draw_end(l, a, row, ret);
	}
}
