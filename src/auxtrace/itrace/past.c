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
	*p = (struct itrace_past){.max = o->last_max};
	p->branches = calloc(p->max + 1, sizeof(*p->branches));
	return p->branches ? 0 : -ENOMEM;
}

void itrace_past_release(struct itrace_past *p)
{
	for (uint32_t i = 0; i < id_table_count(&p->table); i++)
		free(p->threads[i].branches);
	free(p->threads);
	free(p->branches);
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

int itrace_past_take(struct itrace_past *p, const struct itrace_sample *s)
{
	struct past_thread *t = thread_of(p, id_of(s->tid, s->cpu));
	struct pd_branch b = {
		.from = s->ip,
		.to = s->addr,
		.flags = (s->flags & AUX_IN_TX ? IN_TX : 0) | (s->flags & AUX_TX_ABORT ? ABORT : 0),
	};

	if (!t)
		return -ENOMEM;
	if (!p->max)
		return 0;
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

void itrace_past_gap(struct itrace_past *p)
{
	p->gaps++;
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
