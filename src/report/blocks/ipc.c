// SPDX-License-Identifier: Apache-2.0
#include "report/blocks/ipc.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/* The instructions of a function. */
struct insns {
	uint64_t start;	  /* of the function, in the dso */
	uint32_t *offset; /* of each instruction, ascending */
	int64_t *step;	  /* blocks that begin at it, less those that end at the one before */
	size_t nr, cap;
};

static int decode(const struct function_code *code, struct insns *to)
{
	struct error unused;
	struct disasm *d = NULL;
	struct disasm_insn insn;
	int rc = disasm_new(&code->machine, DISASM_DEFAULT, &d, &unused);

	to->start = code->start;
	for (size_t at = 0; !rc && at < code->bytes.len; at += insn.size) {
		if (array_grow(&to->offset, &to->cap, to->nr + 1, sizeof(*to->offset))) {
			rc = -ENOMEM;
			break;
		}
		to->offset[to->nr++] = (uint32_t)at;
		disasm_next(d, code->bytes.data + at, code->bytes.len - at,
			    code->start + code->to_file + at, &insn);
	}
	disasm_free(d);
	return rc;
}

/* Reads the instructions of the function of @k. Leaves them empty where there is no code. */
static int read_insns(const struct code_source *s, const struct block *k, struct insns *ret)
{
	struct function_code code = {0};
	struct error unused;
	int rc = function_code_load(s, k->dso, k->sym, k->base, &code, &unused);

	if (!rc)
		rc = decode(&code, ret);
	function_code_release(&code);
	if (rc)
		ret->nr = 0;
	if (rc == -ENOMEM)
		return rc;
	ret->step = calloc(ret->nr + 1, sizeof(*ret->step));
	return ret->step ? 0 : -ENOMEM;
}

/* Returns the place of the instruction at @addr, or @i->nr: none begins there. */
static size_t insn_at(const struct insns *i, uint64_t addr)
{
	size_t low = 0, high = i->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (i->start + i->offset[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < i->nr && i->start + i->offset[low] == addr ? low : i->nr;
}

static void add_block(struct ipc *to, struct insns *i, const struct block *k)
{
	size_t first = insn_at(i, k->start), last = insn_at(i, k->end);

	if (!k->has_start || first == i->nr || last == i->nr)
		return;
	to->insns += (double)(last - first + 1) * (double)k->whole.nr;
	to->cycles += (double)k->whole.cycles;
	i->step[first]++;
	i->step[last + 1]--;
}

static uint64_t count_covered(const struct insns *i)
{
	uint64_t covered = 0;
	int64_t blocks = 0;

	for (size_t at = 0; at < i->nr; at++) {
		blocks += i->step[at];
		covered += blocks > 0;
	}
	return covered;
}

/* The blocks of a function. */
struct group {
	const struct block *const *block; /* the hottest first */
	size_t nr;
};

static int measure(const struct code_source *s, const struct group *g, struct ipc *to)
{
	struct insns insns = {0};
	int rc = read_insns(s, g->block[0], &insns);

	for (size_t i = 0; !rc && i < g->nr; i++)
		add_block(to, &insns, g->block[i]);
	to->all = insns.nr;
	if (!rc)
		to->covered = count_covered(&insns);
	free(insns.offset);
	free(insns.step);
	return rc;
}

static int compare_pointers(const void *a, const void *b)
{
	return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

/* By function; blocks_sort() has put those with most cycles first. */
static int compare_blocks(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	return compare_pointers(x->sym, y->sym) ?: compare_pointers(x, y);
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare_pointers(x->block[0], y->block[0]);
}

static int compare_ipc(const void *a, const void *b)
{
	const struct ipc *x = a, *y = b;

	return compare_pointers(x->sym, y->sym);
}

/* Groups the @nr blocks @by, which are by function. Returns the number of groups. */
static size_t make_groups(const struct block *const *by, size_t nr, struct group *ret)
{
	size_t groups = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!i || by[i]->sym != by[i - 1]->sym)
			ret[groups++] = (struct group){.block = by + i};
		ret[groups - 1].nr++;
	}
	if (groups)
		qsort(ret, groups, sizeof(*ret), compare_groups);
	return groups;
}

/* Puts the blocks with a function into @ret, by function. Returns their number. */
static size_t order_blocks(const struct blocks *b, const struct block **ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->nr; i++)
		if (b->block[i].sym)
			ret[nr++] = &b->block[i];
	if (nr)
		qsort(ret, nr, sizeof(*ret), compare_blocks);
	return nr;
}

static int measure_all(const struct code_source *s, const struct group *g, size_t nr,
		       struct ipc_list *ret)
{
	uint64_t left = IPC_CODE_MAX;
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		const struct symbol *sym = g[i].block[0]->sym;
		uint64_t size = sym->end - sym->start;
		struct ipc *to = &ret->ipc[ret->nr++];

		*to = (struct ipc){.sym = sym};
		if (size > left)
			continue;
		left -= size;
		rc = measure(s, &g[i], to);
	}
	if (ret->nr)
		qsort(ret->ipc, ret->nr, sizeof(*ret->ipc), compare_ipc);
	return rc;
}

int ipc_list_make(const struct blocks *b, const struct code_source *s, struct ipc_list *ret)
{
	const struct block **by = calloc(b->nr + 1, sizeof(*by));
	struct group *groups = calloc(b->nr + 1, sizeof(*groups));
	int rc;

	ret->ipc = calloc(b->nr + 1, sizeof(*ret->ipc));
	rc = by && groups && ret->ipc ? 0 : -ENOMEM;
	if (!rc)
		rc = measure_all(s, groups, make_groups(by, order_blocks(b, by), groups), ret);
	free(by);
	free(groups);
	return rc;
}

const struct ipc *ipc_list_find(const struct ipc_list *list, const struct symbol *sym)
{
	const struct ipc key = {.sym = sym};

	if (!list->nr)
		return NULL;
	return bsearch(&key, list->ipc, list->nr, sizeof(*list->ipc), compare_ipc);
}

void ipc_list_release(struct ipc_list *list)
{
	free(list->ipc);
	*list = (struct ipc_list){0};
}
