// SPDX-License-Identifier: Apache-2.0
#include "report/latency/latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "report/trace/itrace.h"

/*
 * What callstack_frame.user holds, each as its number + 1: in bits 0 to 31 the node, in bits 32 to
 * 51 the tree, in bits 52 to 63 the wanted function. There are as many trees as stacks at most.
 */
#define USER_NODE(user)	  ((uint32_t)(user)-1) /* CALL_TREE_NONE: none */
#define USER_TREE(user)	  ((uint32_t)((user) >> 32 & 0xfffff))
#define USER_WANTED(user) ((uint32_t)((user) >> 52))
#define WANTED_MAX	  0xfff /* functions of one name */

/* The calls that have not ended below an open wanted call. */
struct open_call {
	struct call_tree tree;
	size_t depth; /* of the root's frame in its stack */
	uint32_t pid;
	const char *comm;
};

struct cpu_clock {
	uint64_t time;
	bool traced; /* since then */
};

struct collector {
	struct trace *trace;
	const struct latency_opts *opts;
	struct call_latency *l;
	struct frames frames;
	struct callstacks stacks;
	const struct walk_sample *ws; /* the current one */
	struct open_call *open;
	size_t nr_open, cap_open;
	uint32_t *idle; /* numbers of trees that are not in use */
	size_t nr_idle, cap_idle;
	size_t nodes; /* in open trees */
	struct id_table cpu_numbers;
	struct cpu_clock *cpus;
	size_t cap_cpus;
	size_t *runs;	/* newest run + 1 of each ring; 0: none */
	uint64_t ended; /* frames, by returns */
	bool at_end;
};

/* --- functions -----------------------------------------------------------------------------------
 */

static void resolve(struct collector *c, uint64_t addr, struct frame *ret)
{
	uint8_t mode = addr >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	frames_resolve(&c->frames, c->ws->s.pid, mode, addr, c->ws->rec->at, ret);
}

static bool is_start(const struct frame *f)
{
	return f->sym && f->addr == f->sym->start;
}

static enum callstack_target target(void *arg, const struct callstack_branch *b)
{
	struct collector *c = arg;
	struct frame from, to;

	resolve(c, b->to, &to);
	/* Most branches are jumps within a function. */
	if (!is_start(&to) && !(b->flags & AUX_RETURN))
		return CALLSTACK_ELSEWHERE;
	resolve(c, b->ip, &from);
	if (from.sym && from.sym == to.sym)
		return CALLSTACK_WITHIN;
	return is_start(&to) ? CALLSTACK_ENTERS : CALLSTACK_ELSEWHERE;
}

/* The number + 1 in l->wanted of a function that has the name; 0 if it has not. */
static int find_wanted(struct collector *c, uint32_t number, uint32_t *ret)
{
	struct function *f = &c->l->functions.list[number];
	struct call_latency *l = c->l;

	if (!f->wanted && l->nr_wanted < WANTED_MAX && function_has_name(f, c->opts->function)) {
		if (array_grow(&l->wanted, &l->cap_wanted, l->nr_wanted + 1, sizeof(*l->wanted)))
			return -ENOMEM;
		l->wanted[l->nr_wanted++] = (struct latency_function){
			.name = f->name, .dso = f->dso, .slowest.max = c->opts->slowest};
		f->wanted = (uint32_t)l->nr_wanted;
	}
	*ret = f->wanted;
	return 0;
}

/* Whether a call that begins with the current branch, in the function at @at, is to be counted. */
static bool passes(const struct collector *c, const struct frame *at)
{
	const struct pd_sample *s = &c->ws->s;
	const struct filter *filter = &c->opts->filter;

	if (!filter_sample(filter, s))
		return false;
	return filter_row(filter, state_comm(c->trace->state, s->pid, s->tid, c->ws->rec->at), at);
}

/* --- trees of open calls -------------------------------------------------------------------------
 */

/* Returns 0 with the number + 1 of an empty tree in *@ret, or -ENOMEM. */
static int open_tree(struct collector *c, const struct callstack *s, uint32_t *ret)
{
	uint32_t at;

	if (c->nr_idle) {
		at = c->idle[--c->nr_idle];
	} else {
		if (array_grow(&c->open, &c->cap_open, c->nr_open + 1, sizeof(*c->open)) ||
		    array_grow(&c->idle, &c->cap_idle, c->nr_open + 1, sizeof(*c->idle)))
			return -ENOMEM;
		at = (uint32_t)c->nr_open++;
		c->open[at].tree = (struct call_tree){0};
	}
	c->open[at].depth = s->nr;
	c->open[at].pid = c->ws->s.pid;
	c->open[at].comm = state_comm(c->trace->state, c->ws->s.pid, s->tid, c->ws->rec->at);
	*ret = at + 1;
	return 0;
}

static int enter(struct collector *c, uint32_t tree, uint32_t parent, uint32_t function,
		 uint32_t *ret)
{
	struct call_tree *t = &c->open[tree - 1].tree;
	size_t before = t->nr;
	int rc;

	if (c->nodes >= LATENCY_NODES && before)
		parent = CALL_TREE_NONE;
	rc = call_tree_enter(t, parent, function, ret);
	c->nodes += t->nr - before;
	return rc;
}

static void close_tree(struct collector *c, uint32_t tree)
{
	struct open_call *o = &c->open[tree - 1];

	c->nodes -= o->tree.nr;
	o->tree.nr = 0;
	o->tree.left_out = 0;
	if (o->tree.cap > CALL_TREE_NODES / 16)
		call_tree_release(&o->tree);
	c->idle[c->nr_idle++] = tree - 1;
}

/* --- calls ---------------------------------------------------------------------------------------
 */

static int entered(void *arg, const struct callstack *s, struct callstack_frame *frame)
{
	uint64_t below = s->nr > 1 ? s->frames[s->nr - 2].user : 0;
	uint32_t tree = USER_TREE(below), node = CALL_TREE_NONE, number, wanted;
	struct collector *c = arg;
	struct frame at = {0};
	int rc;

	if (frame->entry)
		resolve(c, frame->entry, &at);
	number = functions_find(&c->l->functions, frame, &at);
	if (number == ID_TABLE_NONE)
		return -ENOMEM;
	rc = find_wanted(c, number, &wanted);
	if (rc)
		return rc;
	wanted = wanted && is_start(&at) && passes(c, &at) ? wanted : 0;
	if (wanted && !tree)
		rc = open_tree(c, s, &tree);
	if (!rc && tree)
		rc = enter(c, tree, USER_NODE(below), number, &node);
	frame->user = (uint64_t)wanted << 52 | (uint64_t)tree << 32 | (uint32_t)(node + 1);
	return rc;
}

/* The root of a tree ends: the tree goes to the slowest calls, or is empty again. */
static int end_root(struct collector *c, const struct callstack *s,
		    const struct callstack_frame *frame, struct latency_function *f, uint64_t ns)
{
	struct open_call *o = &c->open[USER_TREE(frame->user) - 1];
	struct latency_call call = {
		.time = frame->time,
		.ns = ns,
		.pid = o->pid,
		.tid = s->tid,
		.cpu = frame->cpu,
		.end_cpu = s->cpu,
		.branches = s->branches - frame->branches,
		.comm = o->comm,
		.tree = o->tree,
	};
	int rc;

	f->outer += ns;
	f->outer_self += call_node_self(&o->tree.nodes[0]);
	if (!slowest_wants(&f->slowest, ns))
		return 0;
	rc = slowest_take(&f->slowest, &call);
	if (rc)
		return rc;
	c->nodes -= o->tree.nr;
	o->tree = (struct call_tree){0};
	return 0;
}

static int end_wanted(struct collector *c, const struct callstack *s,
		      const struct callstack_frame *frame, enum callstack_end how)
{
	struct latency_function *f = &c->l->wanted[USER_WANTED(frame->user) - 1];
	bool is_root = c->open[USER_TREE(frame->user) - 1].depth == s->nr;
	int rc;

	if (how == CALLSTACK_LOST) {
		*(c->at_end ? &f->unended : &f->lost) += 1;
		return 0;
	}
	if (!frame->time || s->time < frame->time) {
		f->untimed++;
		return 0;
	}
	f->recursive += !is_root;
	f->skipped += how == CALLSTACK_SKIPPED;
	rc = distribution_add(&f->ns, s->time - frame->time);
	return rc || !is_root ? rc : end_root(c, s, frame, f, s->time - frame->time);
}

static int left(void *arg, const struct callstack *s, const struct callstack_frame *frame,
		enum callstack_end how)
{
	uint32_t tree = USER_TREE(frame->user), node = USER_NODE(frame->user);
	uint64_t ns = frame->time && s->time > frame->time ? s->time - frame->time : 0;
	struct collector *c = arg;
	bool is_root;
	int rc = 0;

	c->ended += how != CALLSTACK_LOST;
	if (!tree)
		return 0;
	is_root = c->open[tree - 1].depth == s->nr;
	if (node != CALL_TREE_NONE) {
		struct call_tree *t = &c->open[tree - 1].tree;

		t->nodes[node].unsure += how == CALLSTACK_LOST;
		call_tree_leave(t, is_root ? CALL_TREE_NONE : USER_NODE(s->frames[s->nr - 2].user),
				node, ns);
	}
	if (USER_WANTED(frame->user))
		rc = end_wanted(c, s, frame, how);
	if (is_root)
		close_tree(c, tree);
	return rc;
}

/* --- branches ------------------------------------------------------------------------------------
 */

static struct cpu_clock *clock_of(struct collector *c, uint32_t cpu)
{
	uint32_t at = id_table_add(&c->cpu_numbers, cpu);
	size_t before = c->cap_cpus;

	if (at == ID_TABLE_NONE ||
	    array_grow(&c->cpus, &c->cap_cpus, at + (size_t)1, sizeof(*c->cpus)))
		return NULL;
	if (c->cap_cpus > before)
		mem_zero(c->cpus + before, (c->cap_cpus - before) * sizeof(*c->cpus));
	return &c->cpus[at];
}

/* Counts the step from the time before. */
static int note_time(struct collector *c, const struct callstack_branch *b)
{
	struct cpu_clock *clock = clock_of(c, b->cpu);
	int rc = 0;

	if (!clock)
		return -ENOMEM;
	if (clock->time && b->time > clock->time)
		rc = distribution_add(clock->traced && !(b->flags & AUX_TRACE_BEGIN)
					      ? &c->l->steps
					      : &c->l->pauses,
				      b->time - clock->time);
	clock->time = b->time;
	clock->traced = !(b->flags & AUX_TRACE_END);
	return rc;
}

static int note_gap(struct collector *c, uint32_t tid, uint32_t cpu)
{
	struct cpu_clock *clock = clock_of(c, cpu);

	if (!clock)
		return -ENOMEM;
	clock->traced = false;
	return callstacks_gap(&c->stacks, tid, cpu);
}

/* Between two runs of a ring trace is missing. */
static int note_run(struct collector *c, const struct walk_sample *ws)
{
	return itrace_starts_run(c->trace->itrace, c->runs, ws->run)
		       ? note_gap(c, ws->s.tid, ws->s.cpu)
		       : 0;
}

/* A return, without a call that was seen, from @b->ip. */
static int note_unseen(struct collector *c, const struct callstack_branch *b)
{
	struct callstack_frame frame = {.entry = b->ip};
	uint32_t number, wanted;
	struct frame at;
	int rc;

	if (target(c, b) == CALLSTACK_WITHIN)
		return 0;
	resolve(c, b->ip, &at);
	number = functions_find(&c->l->functions, &frame, &at);
	if (number == ID_TABLE_NONE)
		return -ENOMEM;
	rc = find_wanted(c, number, &wanted);
	if (!rc && wanted && passes(c, &at))
		c->l->wanted[wanted - 1].begun_before++;
	return rc;
}

static int take_branch(struct collector *c, const struct walk_sample *ws)
{
	struct callstack_branch b = callstack_branch_of(ws->made);
	uint64_t ended = c->ended;
	const struct callstack *s;
	int rc = note_time(c, &b);

	if (!rc)
		rc = callstacks_take(&c->stacks, &b, &s);
	if (rc)
		return rc;
	return b.ip && !s->nr && b.flags & AUX_RETURN && ended == c->ended ? note_unseen(c, &b) : 0;
}

static int take(const struct walk_sample *ws, void *arg)
{
	struct collector *c = arg;
	int rc;

	if (ws->exec)
		return callstacks_gap(&c->stacks, ws->s.tid, UINT32_MAX);
	if (!ws->made)
		return 0;
	c->ws = ws;
	rc = note_run(c, ws);
	if (!rc && ws->made->kind == ITRACE_ERRORS)
		rc = note_gap(c, ws->s.tid, ws->s.cpu);
	else if (!rc && ws->made->kind == ITRACE_BRANCHES)
		rc = take_branch(c, ws);
	return rc;
}

/* --- the whole -----------------------------------------------------------------------------------
 */

static void finish(struct call_latency *l)
{
	l->step = distribution_at(l->steps.count ? &l->steps : &l->pauses, 0.5);
	for (size_t i = 0; i < l->nr_wanted; i++)
		l->wanted[i].below = distribution_below(&l->wanted[i].ns, l->step);
}

static int fail_unknown(const struct call_latency *l, const char *name, struct error *err)
{
	struct nearest nearest;
	char others[256] = "";

	if (nearest_init(&nearest, name)) {
		for (uint32_t i = 0; i < id_table_count(&l->functions.numbers); i++)
			if (l->functions.list[i].is_symbol)
				nearest_offer(&nearest, l->functions.list[i].name);
		nearest_write(&nearest, others, sizeof(others));
	}
	return error_set(err, -ENOENT, "the trace has no call of a function '%s'%s", name, others);
}

static void release(struct collector *c)
{
	callstacks_release(&c->stacks);
	frames_release(&c->frames);
	for (size_t i = 0; i < c->nr_open; i++)
		call_tree_release(&c->open[i].tree);
	free(c->open);
	free(c->idle);
	free(c->cpus);
	free(c->runs);
	id_table_release(&c->cpu_numbers);
}

static int collect(struct collector *c, struct error *err)
{
	size_t rings = c->trace->itrace->index.nr_rings;
	int rc;

	c->runs = calloc(rings + 1, sizeof(*c->runs));
	rc = c->runs ? frames_init(&c->frames, c->trace) : -ENOMEM;
	if (!rc)
		rc = walk_ordered(c->trace, &(struct walk_takers){.sample = take, .arg = c}, err);
	else
		error_sys(err, rc, "%s", c->trace->opts.path);
	c->at_end = true;
	return rc < 0 ? rc : callstacks_end(&c->stacks);
}

int call_latency_run(struct trace *t, const struct latency_opts *opts, struct call_latency **ret,
		     struct error *err)
{
	static const struct callstack_ops ops = {target, entered, left};
	struct call_latency *l;
	struct collector c = {.trace = t, .opts = opts};
	int rc;

	*ret = NULL;
	if (!t->itrace)
		return error_set(err, -ENOENT, "%s: the recording has no hardware trace",
				 t->opts.path);
	l = calloc(1, sizeof(*l));
	if (!l)
		return error_sys(err, -ENOMEM, "%s", t->opts.path);
	c.l = l;
	c.stacks.ops = &ops;
	c.stacks.arg = &c;
	rc = collect(&c, err);
	release(&c);
	if (!rc)
		finish(l);
	if (!rc && !l->nr_wanted)
		rc = fail_unknown(l, opts->function, err);
	if (rc < 0)
		call_latency_free(l);
	else
		*ret = l;
	return rc;
}

void call_latency_free(struct call_latency *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr_wanted; i++) {
		distribution_release(&l->wanted[i].ns);
		slowest_release(&l->wanted[i].slowest);
	}
	free(l->wanted);
	functions_release(&l->functions);
	distribution_release(&l->steps);
	distribution_release(&l->pauses);
	free(l);
}
