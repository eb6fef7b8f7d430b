// SPDX-License-Identifier: Apache-2.0
#include "report/blocks/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/* The code that a block is part of: the function, or the file where no function is known. */
static const void *code_of(const struct block *k)
{
	return k->sym ? (const void *)k->sym : k->dso;
}

static bool is_same(const void *blocks, uint32_t number, const void *key)
{
	const struct block *there = &((const struct block *)blocks)[number], *k = key;

	return there->end == k->end && code_of(there) == code_of(k);
}

/* Finds the block of @k's code and end, or makes one without cycles. */
static int find(struct blocks *b, const struct block *k, struct block **ret)
{
	uint64_t hash = hash_word(hash_word(hash_key(), (uintptr_t)code_of(k)), k->end);
	uint32_t at = hash_table_find(&b->table, hash, is_same, b->block, k);

	if (at == HASH_TABLE_NONE) {
		if (b->nr >= HASH_TABLE_NONE - 1)
			return -E2BIG;
		if (array_grow(&b->block, &b->cap, b->nr + 1, sizeof(*b->block)) ||
		    hash_table_reserve(&b->table, 1))
			return -ENOMEM;
		at = (uint32_t)b->nr++;
		hash_table_add(&b->table, hash, at);
		b->block[at] = (struct block){
			.sym = k->sym, .dso = k->dso, .base = k->base, .end = k->end};
	}
	*ret = &b->block[at];
	return 0;
}

static void add_cycles(struct block_cycles *to, const struct block_cycles *from)
{
	to->cycles += from->cycles;
	to->nr += from->nr;
}

/* Adds @from, whose end is the same, to @to. The result does not depend on the order. */
static void join(struct block *to, const struct block *from)
{
	add_cycles(&to->all, &from->all);
	if (from->dso->index < to->dso->index)
		to->dso = from->dso;
	if (from->base < to->base)
		to->base = from->base;
	if (!from->has_start || (to->has_start && to->start < from->start))
		return;
	if (!to->has_start || from->start < to->start)
		to->whole = (struct block_cycles){0};
	to->has_start = true;
	to->start = from->start;
	add_cycles(&to->whole, &from->whole);
}

static int add_block(struct blocks *b, const struct block *k)
{
	struct block *to;
	int rc = find(b, k, &to);

	if (!rc)
		join(to, k);
	return rc;
}

/* Returns whether code runs from @start to @end without leaving what is known as one piece. */
static bool is_run(const struct frame *start, const struct frame *end)
{
	return start->dso == end->dso && start->sym == end->sym && start->addr <= end->addr;
}

/* Adds the block that ends at @end, with the @cycles since the branch that went to @start. */
static int add_branch(struct blocks *b, const struct frame *start, const struct frame *end,
		      unsigned int cycles)
{
	struct block k = {
		.sym = end->sym,
		.dso = end->dso,
		.end = end->addr,
		.all = {cycles, 1},
	};

	if (end->dso->kind == DSO_MODULE || end->dso->kind == DSO_JIT)
		k.base = end->ip - end->addr;
	k.has_start = start && is_run(start, end);
	if (k.has_start) {
		k.start = start->addr;
		k.whole = k.all;
	}
	return add_block(b, &k);
}

/* Stacks of some branches alone do not tell where code runs without a branch. */
static bool has_all_branches(const struct walk_sample *ws)
{
	return ws->evsel->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY;
}

int blocks_add(struct blocks *b, struct frames *frames, const struct walk_sample *ws,
	       const struct filter *f, const char *comm)
{
	const struct pd_sample *s = &ws->s;
	const bool runs = has_all_branches(ws);
	int rc = 0;

	for (uint64_t i = 0; !rc && i < s->branch_nr; i++) {
		const unsigned int cycles = pd_branch_cycles(&s->branches[i]);
		struct frame start, end;
		bool before = runs && i + 1 < s->branch_nr; /* the newest branch is the first */

		if (!cycles)
			continue;
		frames_resolve_data(frames, s->pid, s->cpumode, s->branches[i].from, ws->rec->at,
				    &end);
		if (!filter_place(f, &end))
			continue;
		add_cycles(&b->all, &(struct block_cycles){cycles, 1});
		if (!end.dso || !filter_row(f, comm, &end))
			continue;
		if (before)
			frames_resolve_data(frames, s->pid, s->cpumode, s->branches[i + 1].to,
					    ws->rec->at, &start);
		rc = add_branch(b, before ? &start : NULL, &end, cycles);
	}
	return rc;
}

int blocks_merge(struct blocks *b, const struct blocks *from)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->nr; i++)
		rc = add_block(b, &from->block[i]);
	if (!rc)
		add_cycles(&b->all, &from->all);
	return rc;
}

void blocks_make_relative(struct blocks *b)
{
	b->all = (struct block_cycles){0};
	for (size_t i = 0; i < b->nr; i++)
		add_cycles(&b->all, &b->block[i].all);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return compare_numbers(y->all.cycles, x->all.cycles)
		       ?: strcmp(x->sym ? x->sym->name : "", y->sym ? y->sym->name : "")
		       ?: compare_numbers(x->dso->index, y->dso->index)
		       ?: compare_numbers(x->end, y->end);
}

void blocks_sort(struct blocks *b)
{
	if (b->nr)
		qsort(b->block, b->nr, sizeof(*b->block), compare_blocks);
	hash_table_release(&b->table); /* it has the places from before */
}

uint64_t blocks_averages(const struct blocks *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->nr; i++)
		sum += block_average(&b->block[i].all);
	return sum;
}

void blocks_release(struct blocks *b)
{
	free(b->block);
	hash_table_release(&b->table);
	*b = (struct blocks){0};
}
