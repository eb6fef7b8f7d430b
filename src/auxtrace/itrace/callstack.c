// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/itrace/callstack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

#define KERNEL_BIT (1ull << 63)
#define TAILS_MAX  64 /* jumps between functions without a call or a return */
#define INSN_MAX   16 /* bytes */
#define INSN_USUAL 4

#define NOWHERE SIZE_MAX

/* A branch on its way into a stack. */
struct callstack_step {
	struct callstacks *c;
	struct callstack *s;
	const struct callstack_branch *b;
};

/* --- threads -------------------------------------------------------------------------------------
 */

static uint64_t key_of(uint32_t tid, uint32_t cpu)
{
	return tid == 0 || tid == UINT32_MAX ? (uint64_t)1 << 32 | cpu : tid;
}

static bool gap_since(const struct callstacks *c, uint32_t cpu, uint64_t seen)
{
	uint32_t at = id_table_find(&c->cpus, cpu);

	return at != ID_TABLE_NONE && c->gaps[at] >= seen;
}

/* The thread may have run where trace is missing: on the CPU where it was, or where it is now. */
static bool is_stale(const struct callstacks *c, const struct callstack *s, uint32_t cpu)
{
	return id_table_count(&c->cpus) &&
	       (gap_since(c, s->cpu, s->seen) || gap_since(c, cpu, s->seen));
}

static struct callstack *stack_of(struct callstacks *c, uint32_t tid, uint32_t cpu)
{
	size_t before = c->cap, most = (size_t)id_table_count(&c->table) + 1;
	uint32_t at;

	if (array_grow(&c->stacks, &c->cap, most, sizeof(*c->stacks)))
		return NULL;
	if (c->cap > before)
		mem_zero(c->stacks + before, (c->cap - before) * sizeof(*c->stacks));
	at = id_table_add(&c->table, key_of(tid, cpu));
	return at == ID_TABLE_NONE ? NULL : &c->stacks[at];
}

const struct callstack *callstacks_find(const struct callstacks *c, uint32_t tid, uint32_t cpu)
{
	uint32_t at = id_table_find(&c->table, key_of(tid, cpu));

	if (at == ID_TABLE_NONE || is_stale(c, &c->stacks[at], cpu))
		return NULL;
	return &c->stacks[at];
}

size_t callstack_chain(const struct callstack *s, uint64_t *ret, size_t max)
{
	size_t nr = 0;

	for (size_t i = s->nr; i-- && nr < max;)
		if (s->frames[i].ret && !(s->frames[i].flags & CALLSTACK_TAIL))
			ret[nr++] = s->frames[i].ret;
	return nr;
}

/* --- frames --------------------------------------------------------------------------------------
 */

static int pop(const struct callstacks *c, struct callstack *s, enum callstack_end how)
{
	int rc = 0;

	if (c->ops && c->ops->left)
		rc = c->ops->left(c->arg, s, &s->frames[s->nr - 1], how);
	s->nr--;
	return rc;
}

/* Ends the frames from @from on. */
static int drop(const struct callstacks *c, struct callstack *s, size_t from,
		enum callstack_end how)
{
	int rc = 0;

	while (rc >= 0 && s->nr > from)
		rc = pop(c, s, how);
	return rc;
}

/* The frame at @at returns, together with those that it replaced by jumps. */
static int return_from(const struct callstack_step *w, size_t at)
{
	int rc = drop(w->c, w->s, at + 1, CALLSTACK_SKIPPED);
	bool tail = true;

	while (rc >= 0 && tail && w->s->nr) {
		tail = w->s->frames[w->s->nr - 1].flags & CALLSTACK_TAIL;
		rc = pop(w->c, w->s, CALLSTACK_RETURNED);
	}
	return rc;
}

int callstacks_end(struct callstacks *c)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < id_table_count(&c->table); i++) {
		struct callstack *s = &c->stacks[i];

		rc = drop(c, s, 0, CALLSTACK_LOST);
		free(s->frames);
		s->frames = NULL;
		s->cap = 0;
	}
	if (rc >= 0)
		c->frames = 0;
	return rc;
}

/* Frames from there on were entered since the kernel was. */
static size_t since_kernel(const struct callstack *s)
{
	return s->nr ? s->frames[s->nr - 1].since_kernel : 0;
}

static int push(const struct callstack_step *w, const struct callstack_frame *frame)
{
	struct callstack *s = w->s;
	size_t cap = s->cap;
	int rc = 0;

	if (s->nr == CALLSTACK_DEPTH)
		rc = drop(w->c, s, 0, CALLSTACK_LOST);
	else if (s->nr == cap && w->c->frames + cap > CALLSTACK_FRAMES)
		rc = callstacks_end(w->c);
	if (rc < 0)
		return rc;
	cap = s->cap;
	if (array_grow(&s->frames, &s->cap, s->nr + 1, sizeof(*s->frames)))
		return -ENOMEM;
	w->c->frames += s->cap - cap;
	s->frames[s->nr] = *frame;
	s->frames[s->nr].time = w->b->time;
	s->frames[s->nr].cpu = w->b->cpu;
	s->frames[s->nr].branches = s->branches;
	s->frames[s->nr].since_kernel = (uint32_t)since_kernel(s);
	s->nr++;
	if (frame->flags & CALLSTACK_KERNEL)
		s->frames[s->nr - 1].since_kernel = (uint32_t)s->nr;
	if (w->c->ops && w->c->ops->entered)
		rc = w->c->ops->entered(w->c->arg, s, &s->frames[s->nr - 1]);
	return rc;
}

static bool returns_to(const struct callstack_frame *f, uint64_t to)
{
	if (f->ret == to)
		return to;
	if (f->flags & CALLSTACK_KERNEL && f->from && f->from == to)
		return true; /* a system call begins anew */
	return f->flags & CALLSTACK_NEAR && to > f->from && to - f->from <= INSN_MAX;
}

/* The innermost frame from @from on that has one of the flags @which, if not 0. */
static size_t find_return(const struct callstack *s, size_t from, uint32_t which, uint64_t to)
{
	for (size_t i = s->nr; i-- > from;)
		if ((!which || s->frames[i].flags & which) && returns_to(&s->frames[i], to))
			return i;
	return NOWHERE;
}

/* The innermost frame of the kernel's entry, or NOWHERE. */
static size_t find_kernel(const struct callstack *s)
{
	return since_kernel(s) - 1;
}

static enum callstack_target target(const struct callstack_step *w)
{
	if (!w->b->to || !w->c->ops || !w->c->ops->target)
		return CALLSTACK_ELSEWHERE;
	return w->c->ops->target(w->c->arg, w->b);
}

static bool enters(const struct callstack_step *w)
{
	return target(w) == CALLSTACK_ENTERS;
}

/* --- branches ------------------------------------------------------------------------------------
 */

static int take_call(const struct callstack_step *w)
{
	const struct callstack_branch *b = w->b;
	struct callstack_frame f = {.from = b->ip, .entry = b->to, .ret = b->ip};

	if (b->flags & (AUX_SYSCALLRET | AUX_INTERRUPT | AUX_ASYNC))
		f.flags |= CALLSTACK_KERNEL;
	if (b->flags & AUX_TRACE_END || !b->to) {
		f.flags |= CALLSTACK_OUT;
		f.entry = 0;
	}
	if (!(b->flags & AUX_ASYNC) && b->ip) {
		f.ret += b->insn_len ? b->insn_len : INSN_USUAL;
		if (!b->insn_len)
			f.flags |= CALLSTACK_NEAR;
	}
	/* A call of the next instruction only asks where it is. */
	if (f.ret == b->to && !(f.flags & CALLSTACK_KERNEL))
		return 0;
	return push(w, &f);
}

/* A jump into another function replaces the innermost one. */
static int take_tail(const struct callstack_step *w)
{
	struct callstack *s = w->s;
	struct callstack_frame f = {.from = w->b->ip, .entry = w->b->to};
	size_t tails = 0;
	int rc;

	if (s->nr == since_kernel(s))
		return push(w, &f);
	/* Functions may jump to each other for ever. */
	for (size_t i = s->nr; i--; tails++) {
		if (s->frames[i].entry == f.entry)
			return drop(w->c, s, i + 1, CALLSTACK_RETURNED);
		if (!(s->frames[i].flags & CALLSTACK_TAIL))
			break;
	}
	if (tails >= TAILS_MAX) {
		rc = pop(w->c, s, CALLSTACK_RETURNED);
		if (rc < 0)
			return rc;
	}
	f.flags = CALLSTACK_TAIL;
	f.ret = s->frames[s->nr - 1].ret;
	return push(w, &f);
}

/* A return to where no call was seen. */
static int take_odd_return(const struct callstack_step *w, size_t from)
{
	struct callstack *s = w->s;
	size_t base = s->nr;
	enum callstack_target where;
	int rc;

	if (s->nr == from)
		return 0;
	where = target(w);
	if (where == CALLSTACK_WITHIN)
		return 0; /* a jump by an address that the function pushed itself */
	while (--base > from && s->frames[base].flags & CALLSTACK_TAIL)
		;
	/* A handler of signals returns to code that calls the kernel. */
	if (s->frames[base].flags & CALLSTACK_SIGNAL)
		return drop(w->c, s, base + 1, CALLSTACK_RETURNED);
	if (!s->frames[base].ret)
		return return_from(w, s->nr - 1);
	if (where != CALLSTACK_ENTERS && w->c->keep_callers)
		return 0;
	if (where != CALLSTACK_ENTERS)
		return drop(w->c, s, from, CALLSTACK_LOST);
	/* Code replaced the return address by a function's: a jump, as retpolines do it. */
	rc = pop(w->c, s, CALLSTACK_RETURNED);
	return rc < 0 ? rc : take_tail(w);
}

static int take_kernel_return(const struct callstack_step *w)
{
	struct callstack *s = w->s;
	size_t at = find_return(s, 0, CALLSTACK_KERNEL | CALLSTACK_SIGNAL, w->b->to);
	struct callstack_frame f = {.entry = w->b->to, .flags = CALLSTACK_SIGNAL};
	int rc;

	if (at != NOWHERE)
		return return_from(w, at);
	at = find_kernel(s);
	if (at == NOWHERE) {
		/* Where only the kernel is traced, its entry begins the trace. */
		if (s->nr && s->frames[0].flags & CALLSTACK_BEGUN)
			return return_from(w, 0);
		return drop(w->c, s, 0, CALLSTACK_LOST);
	}
	f.ret = s->frames[at].ret;
	f.from = s->frames[at].from;
	rc = return_from(w, at);
	if (rc < 0 || w->b->flags & AUX_TRACE_END)
		return rc;
	if (f.from & KERNEL_BIT || w->b->to & KERNEL_BIT)
		return drop(w->c, s, since_kernel(s), CALLSTACK_LOST);
	return push(w, &f);
}

static int take_return(const struct callstack_step *w)
{
	struct callstack *s = w->s;
	size_t from = since_kernel(s), at;

	if (w->b->flags & (AUX_SYSCALLRET | AUX_INTERRUPT))
		return take_kernel_return(w);
	if (w->b->flags & AUX_TRACE_END || !w->b->to)
		return s->nr > from ? return_from(w, s->nr - 1) : 0;
	at = find_return(s, from, 0, w->b->to);
	return at == NOWHERE ? take_odd_return(w, from) : return_from(w, at);
}

/* The trace begins, or goes on where it ended. */
static int take_begin(const struct callstack_step *w)
{
	struct callstack *s = w->s;
	struct callstack_frame f = {.entry = w->b->to, .flags = CALLSTACK_BEGUN};
	size_t at = find_return(s, 0, 0, w->b->to);
	uint32_t top = s->nr ? s->frames[s->nr - 1].flags : 0;
	int rc = 0;

	if (at != NOWHERE)
		return return_from(w, at);
	if (top & CALLSTACK_OUT && top & CALLSTACK_KERNEL) {
		f.ret = s->frames[s->nr - 1].ret;
		f.from = s->frames[s->nr - 1].from;
		f.flags = CALLSTACK_SIGNAL;
		rc = pop(w->c, s, CALLSTACK_RETURNED);
		return rc < 0 ? rc : push(w, &f);
	}
	if (top & CALLSTACK_OUT)
		return push(w, &f); /* called back */
	rc = drop(w->c, s, 0, CALLSTACK_LOST);
	return rc >= 0 && enters(w) ? push(w, &f) : rc;
}

/* Ends frames that the thread left without a trace of it, since it runs at @ip. */
static int leave_unseen(const struct callstack_step *w, uint64_t ip)
{
	struct callstack *s = w->s;
	int rc = 0;

	if (s->nr && s->frames[s->nr - 1].flags & CALLSTACK_OUT)
		rc = pop(w->c, s, CALLSTACK_LOST);
	while (rc >= 0 && ip && !(ip & KERNEL_BIT)) {
		size_t at = find_kernel(s);

		if (at == NOWHERE || !(s->frames[at].entry & KERNEL_BIT))
			break;
		rc = drop(w->c, s, at, CALLSTACK_LOST);
	}
	return rc;
}

static int take(const struct callstack_step *w)
{
	uint32_t flags = w->b->flags;
	int rc;

	if (flags & AUX_TRACE_BEGIN)
		return take_begin(w);
	rc = leave_unseen(w, w->b->ip);
	if (rc < 0)
		return rc;
	if (flags & AUX_CALL || (flags & AUX_ASYNC && flags & AUX_TRACE_END))
		return take_call(w);
	if (flags & AUX_RETURN)
		return take_return(w);
	if (flags & (AUX_TRACE_END | AUX_TX_ABORT))
		return 0;
	return enters(w) ? take_tail(w) : 0;
}

int callstacks_take(struct callstacks *c, const struct callstack_branch *b,
		    const struct callstack **ret)
{
	struct callstack_step w = {.c = c, .b = b};
	int rc = 0;

	if (id_table_count(&c->table) >= CALLSTACK_THREADS &&
	    id_table_find(&c->table, key_of(b->tid, b->cpu)) == ID_TABLE_NONE) {
		rc = callstacks_end(c);
		if (rc < 0)
			return rc;
		id_table_release(&c->table);
		mem_zero(c->stacks, c->cap * sizeof(*c->stacks));
	}
	w.s = stack_of(c, b->tid, b->cpu);
	if (!w.s)
		return -ENOMEM;
	if (w.s->nr && is_stale(c, w.s, b->cpu))
		rc = drop(c, w.s, 0, CALLSTACK_LOST);
	w.s->tid = b->tid;
	w.s->cpu = b->cpu;
	w.s->seen = ++c->seen;
	w.s->branches++;
	if (b->time)
		w.s->time = b->time;
	if (rc >= 0)
		rc = take(&w);
	if (ret)
		*ret = w.s;
	return rc < 0 ? rc : 0;
}

struct callstack_branch callstack_branch_of(const struct itrace_sample *s)
{
	return (struct callstack_branch){
		.tid = s->tid,
		.cpu = s->cpu,
		.flags = s->flags,
		.insn_len = s->insn_len,
		.ip = s->ip,
		.to = s->addr,
		.time = s->time,
	};
}

/* --- gaps ----------------------------------------------------------------------------------------
 */

int callstacks_gap(struct callstacks *c, uint32_t tid, uint32_t cpu)
{
	uint32_t at;

	if (cpu == UINT32_MAX && tid != UINT32_MAX) {
		at = id_table_find(&c->table, key_of(tid, cpu));
		return at == ID_TABLE_NONE ? 0 : drop(c, &c->stacks[at], 0, CALLSTACK_LOST);
	}
	at = id_table_add(&c->cpus, cpu);
	if (at == ID_TABLE_NONE || array_grow(&c->gaps, &c->cap_gaps, at + 1, sizeof(*c->gaps)))
		return -ENOMEM;
	c->gaps[at] = c->seen;
	return 0;
}

void callstacks_release(struct callstacks *c)
{
	for (uint32_t i = 0; i < id_table_count(&c->table); i++)
		free(c->stacks[i].frames);
	free(c->stacks);
	free(c->gaps);
	id_table_release(&c->table);
	id_table_release(&c->cpus);
	*c = (struct callstacks){0};
}
