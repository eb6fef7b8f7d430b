// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

/*
 * Direct-mapped: the callers of a sample are mostly those of its neighbours in time, and a fixed
 * size keeps memory flat.
 */
#define CACHE_BITS 14

struct cache_slot {
	const struct unwind_arch *arch;
	const struct dso *dso; /* NULL: empty */
	uint64_t addr;
	struct cfi_row *row; /* NULL: there is none */
};

struct unwind_cache {
	struct cache_slot slot[1u << CACHE_BITS];
};

int unwind_init(struct unwind *u, const struct state *s, struct cfi_tables *t)
{
	*u = (struct unwind){.state = s, .tables = t, .cache = calloc(1, sizeof(*u->cache))};
	return u->cache ? 0 : -ENOMEM;
}

void unwind_release(struct unwind *u)
{
	for (size_t i = 0; u->cache && i < 1u << CACHE_BITS; i++)
		free(u->cache->slot[i].row);
	free(u->cache);
	*u = (struct unwind){0};
}

/* The row of the code at @loc, or NULL in *@ret. Returns 0 or -ENOMEM. */
static int find_row(struct unwind *u, const struct unwind_arch *arch, const struct location *loc,
		    const struct cfi_row **ret)
{
	const struct dso *dso = loc->map->dso;
	uint64_t hash = (loc->addr ^ (uint64_t)dso->index << 40) * 0x9e3779b97f4a7c15ull;
	struct cache_slot *slot = &u->cache->slot[hash >> (64 - CACHE_BITS)];
	struct cfi_row *row = NULL;
	int rc;

	if (slot->dso != dso || slot->addr != loc->addr || slot->arch != arch) {
		rc = cfi_tables_row(u->tables, arch, dso, loc->addr, &row);
		if (rc == -ENOMEM)
			return rc;
		free(slot->row);
		*slot = (struct cache_slot){arch, dso, loc->addr, row};
	}
	*ret = slot->row;
	return 0;
}

/* Where a walk is. */
struct position {
	struct unwind_regs regs;
	struct unwind_stack stack;
	uint64_t pc;
	bool exact; /* the pc is where the thread was, not where a call returns to */
};

static bool begin(const struct unwind_sample *s, struct position *p)
{
	*p = (struct position){.exact = true};
	if (!unwind_arch_regs(s->arch, s->regs_mask, s->regs, &p->regs, &p->pc))
		return false;
	p->stack = (struct unwind_stack){
		.data = s->stack,
		.start = p->regs.v[s->arch->sp],
		.size = s->stack_size,
	};
	return true;
}

/* Goes to the caller. Returns false where the chain ends. */
static bool step(const struct unwind_arch *arch, const struct cfi_row *row, struct position *p)
{
	uint64_t sp = p->regs.v[arch->sp], pc = p->pc;

	if (!cfi_row_apply(row, arch, &p->stack, &p->regs, &p->pc) || !p->pc ||
	    !(p->regs.known >> arch->sp & 1))
		return false;
	p->exact = cfi_row_is_signal(row);
	/* Stacks grow down; but where calls leave the address in a register, a leaf has no frame.
	 */
	return p->regs.v[arch->sp] > sp || (p->regs.v[arch->sp] == sp && p->pc != pc);
}

/* Whether there may be call frame information of what lies there. */
static bool has_file(const struct location *loc)
{
	return loc->map && (loc->map->dso->kind == DSO_ELF || loc->map->dso->kind == DSO_VDSO);
}

int unwind_walk(struct unwind *u, const struct unwind_sample *s, size_t max, unwind_fn fn,
		void *arg)
{
	const struct cfi_row *row;
	struct location loc;
	struct position p;
	int rc = 0;

	if (!begin(s, &p))
		return 0;
	for (size_t i = 0; i < max; i++) {
		uint64_t ip = p.exact ? p.pc : p.pc - 1;

		row = NULL;
		state_find(u->state, s->pid, PERF_RECORD_MISC_USER, ip, s->at, &loc);
		if (has_file(&loc))
			rc = find_row(u, s->arch, &loc, &row);
		if (rc < 0)
			return rc;
		/* nothing called the code that a signal handler returns to: the address is its own
		 */
		if (row && !p.exact && cfi_row_is_signal(row)) {
			ip++;
			loc.addr++;
		}
		rc = fn(ip, &loc, arg);
		if (rc < 0 || !row || !step(s->arch, row, &p))
			return rc;
	}
	return 0;
}
