// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/itrace/past.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

struct past_thread {
	uint64_t gaps; /* as many were known at its newest branch */
	struct pd_branch *branches;
	size_t nr, cap;
	size_t newest; /* if there are @max */
};

int itrace_past_init(struct itrace_past *p, const struct itrace_opts *o)
{
	/* The entries of a chain, and a marker in front. */
	*p = (struct itrace_past){
		.max = o->last_max,
		.chain_max = o->chain_max + 1,
		.calls.keep_callers = true,
	};
	p->branches = calloc(p->max + 1, sizeof(*p->branches));
	p->chain = calloc(p->chain_max, 2 * sizeof(*p->chain));
	return p->branches && p->chain ? 0 : -ENOMEM;
}

void itrace_past_release(struct itrace_past *p)
{
	for (uint32_t i = 0; i < id_table_count(&p->table); i++)
		free(p->threads[i].branches);
	free(p->threads);
	free(p->branches);
	free(p->chain);
	callstacks_release(&p->calls);
	id_table_release(&p->table);
	*p = (struct itrace_past){0};
}

/* Each CPU has an idle thread, and all have the number 0. */
static uint64_t id_of(uint32_t tid, uint32_t cpu)
{
	return tid && tid != UINT32_MAX ? tid : (uint64_t)cpu << 32;
}

static struct past_thread *thread_of(struct itrace_past *p, uint64_t id)
{
	uint32_t nr = id_table_count(&p->table), at = id_table_find(&p->table, id);
	struct past_thread *t;

	if (at == ID_TABLE_NONE) {
		if (array_grow(&p->threads, &p->cap, nr + 1, sizeof(*p->threads)))
			return NULL;
		at = id_table_add(&p->table, id);
		if (at == ID_TABLE_NONE)
			return NULL;
		p->threads[at] = (struct past_thread){.gaps = p->gaps};
	}
	t = &p->threads[at];
	if (t->gaps != p->gaps)
		t->nr = 0;
	t->gaps = p->gaps;
	return t;
}

/* Bits of struct perf_branch_entry. */
#define IN_TX 4u
#define ABORT 8u

static int keep_last(struct itrace_past *p, const struct itrace_sample *s)
{
	struct past_thread *t = thread_of(p, id_of(s->tid, s->cpu));
	struct pd_branch b = {
		.from = s->ip,
		.to = s->addr,
		.flags = (s->flags & AUX_IN_TX ? IN_TX : 0) | (s->flags & AUX_TX_ABORT ? ABORT : 0),
	};

	if (!t)
		return -ENOMEM;
	if (t->nr < p->max) {
		if (array_grow(&t->branches, &t->cap, t->nr + 1, sizeof(*t->branches)))
			return -ENOMEM;
		t->newest = t->nr++;
	} else {
		t->newest = t->newest + 1 < p->max ? t->newest + 1 : 0;
	}
	t->branches[t->newest] = b;
	return 0;
}

int itrace_past_take(struct itrace_past *p, const struct itrace_sample *s)
{
	struct callstack_branch b = callstack_branch_of(s);

	if (p->max && keep_last(p, s))
		return -ENOMEM;
	return p->chain_max > 1 ? callstacks_take(&p->calls, &b, NULL) : 0;
}

int itrace_past_gap(struct itrace_past *p, uint32_t tid, uint32_t cpu)
{
	p->gaps++;
	return p->chain_max > 1 ? callstacks_gap(&p->calls, tid, cpu) : 0;
}

int itrace_past_exec(struct itrace_past *p, uint32_t tid)
{
	return callstacks_gap(&p->calls, tid, UINT32_MAX);
}

size_t itrace_past_branches(struct itrace_past *p, uint32_t tid, uint32_t cpu,
			    const struct pd_branch **ret)
{
	uint32_t at = id_table_find(&p->table, id_of(tid, cpu));
	const struct past_thread *t = at == ID_TABLE_NONE ? NULL : &p->threads[at];
	size_t from;

	*ret = p->branches;
	if (!t || t->gaps != p->gaps)
		return 0;
	from = t->newest;
	for (size_t i = 0; i < t->nr; i++) {
		p->branches[i] = t->branches[from];
		from = from ? from - 1 : t->nr - 1;
	}
	return t->nr;
}

static bool is_kernel(uint64_t addr)
{
	return addr >> 63;
}

/* Appends @addr, behind a marker where the mode changes. Returns the new length. */
static size_t append(const struct itrace_past *p, size_t nr, uint64_t addr, bool *kernel)
{
	bool change = !nr || is_kernel(addr) != *kernel;

	if (nr + change >= p->chain_max)
		return nr;
	*kernel = is_kernel(addr);
	if (change)
		p->chain[nr++] = *kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
	p->chain[nr++] = addr;
	return nr;
}

size_t itrace_past_chain(struct itrace_past *p, uint32_t tid, uint32_t cpu, uint64_t ip,
			 bool recorded, const uint64_t **ret)
{
	const struct callstack *s = callstacks_find(&p->calls, tid, cpu);
	uint64_t *callers = p->chain + p->chain_max;
	size_t found = s ? callstack_chain(s, callers, p->chain_max) : 0;
	size_t nr, skip = 0;
	bool kernel = false;

	while (recorded && !is_kernel(ip) && skip < found && is_kernel(callers[skip]))
		skip++;
	nr = append(p, 0, ip, &kernel);
	for (size_t i = skip; i < found && nr < p->chain_max; i++)
		nr = append(p, nr, callers[i], &kernel);
	*ret = p->chain;
	return nr;
}
