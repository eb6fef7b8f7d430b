// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "auxtrace/intel_pt/flow_priv.h"

/*
 * So many instructions without trace are a loop of a wrong decoding. Straight code may be long, but
 * no program jumps or calls often without a decision or a return.
 */
#define IDLE_INSNS (1u << 17)
#define JUMP_INSNS 128 /* as so many a jump counts */

#define DOES_NOT_FIT "bad trace: it does not fit the code"

/* --- returns -------------------------------------------------------------------------------------
 */

void pt_flow_forget_returns(struct pt_flow *f)
{
	f->nr_returns = 0;
}

static void push_return(struct pt_flow *f, uint64_t ip)
{
	f->top = (f->top + 1) % PT_RETURNS;
	f->returns[f->top] = ip;
	if (f->nr_returns < PT_RETURNS)
		f->nr_returns++;
}

/* Returns 0 where the stack is empty. */
static uint64_t pop_return(struct pt_flow *f)
{
	uint64_t ip;

	if (!f->nr_returns)
		return 0;
	ip = f->returns[f->top];
	f->top = (f->top + PT_RETURNS - 1) % PT_RETURNS;
	f->nr_returns--;
	return ip;
}

/* --- places --------------------------------------------------------------------------------------
 */

static void leave_kernel(struct pt_flow *f, uint64_t to)
{
	if (f->ip >> 63 && !(to >> 63))
		pt_flow_forget_user(f);
}

void pt_flow_go(struct pt_flow *f, uint64_t ip)
{
	leave_kernel(f, ip);
	f->ip = ip;
	f->has_ip = ip;
	f->mode = f->next_mode;
	f->idle = 0;
}

void pt_flow_resume(struct pt_flow *f, uint64_t ip)
{
	pt_flow_forget_user(f);
	pt_flow_go(f, ip);
	f->insns_since = 0;
	f->starts = f->lost;
	f->lost = false;
}

void pt_flow_walk_to(struct pt_flow *f, uint64_t ip, enum pt_then then)
{
	f->goal = (struct pt_goal){.kind = PT_GOAL_PLACE, .then = then, .ip = ip};
}

/* The flow is at the place of the goal. */
static void reach_place(struct pt_flow *f)
{
	enum pt_then then = f->goal.then;

	f->goal.kind = PT_GOAL_NONE;
	f->idle = 0;
	if (then == PT_THEN_GO_ON)
		f->mode = f->next_mode;
	else if (then == PT_THEN_END)
		pt_flow_end(f);
	else if (!pt_flow_put_bound(f, f->ip))
		f->awaits_target = true;
}

/* The code does not lead to the goal. The trace says all the same where the flow is. */
static void fail_goal(struct pt_flow *f, uint64_t at, const char *text)
{
	struct pt_goal goal = f->goal;

	pt_flow_fail(f, AUX_CAUSE_TRACE, at, text);
	switch (goal.kind) {
	case PT_GOAL_TARGET:
		if (goal.ip)
			pt_flow_resume(f, goal.ip);
		break;
	case PT_GOAL_DISABLE: f->enabled = false; break;
	case PT_GOAL_PLACE:
		if (goal.then == PT_THEN_END) {
			pt_flow_end(f);
			break;
		}
		pt_flow_resume(f, goal.ip);
		f->goal = goal;
		break;
	default: break;
	}
}

/* As fail_goal(), where the reason is that code is missing. Returns 0 or -ENOMEM. */
static int fail_block(struct pt_flow *f, int rc)
{
	struct pt_goal goal = f->goal;

	if (rc == -ENOMEM)
		return rc;
	if (rc == -EILSEQ) {
		fail_goal(f, f->ip, "bad trace: it leads to bytes that are no code");
		return 0;
	}
	pt_flow_fail_code(f);
	if (goal.kind == PT_GOAL_DISABLE) {
		f->enabled = false;
	} else if (goal.kind == PT_GOAL_TARGET && goal.ip) {
		pt_flow_resume(f, goal.ip);
	} else if (goal.kind == PT_GOAL_PLACE && goal.then == PT_THEN_END) {
		pt_flow_end(f);
	} else if (goal.kind == PT_GOAL_PLACE) {
		pt_flow_resume(f, goal.ip);
		f->goal = goal;
	}
	return 0;
}

/* --- the ends of blocks --------------------------------------------------------------------------
 */

/* A taken branch whose target is known. */
static void take_direct(struct pt_flow *f, const struct pt_basic *b)
{
	if (b->end == PT_END_CALL && b->target != b->next)
		push_return(f, b->next);
	pt_flow_put_branch(f, b, b->target, 0);
	leave_kernel(f, b->target);
	f->ip = b->target;
	f->idle += JUMP_INSNS;
}

static bool take_bit(struct pt_flow *f)
{
	f->idle = 0;
	pt_flow_reach_cycles(f);
	if (!--f->goal.count)
		f->goal.kind = PT_GOAL_NONE;
	return f->goal.bits >> f->goal.count & 1;
}

/* A return is compressed if it leads behind its call. */
static void take_return(struct pt_flow *f, const struct pt_basic *b)
{
	uint64_t to;

	if (!take_bit(f)) {
		fail_goal(f, b->last, DOES_NOT_FIT);
		return;
	}
	to = pop_return(f);
	if (!to) {
		pt_flow_end_block(f);
		pt_flow_fail(f, f->returns_lost ? AUX_CAUSE_CODE : AUX_CAUSE_TRACE, b->last,
			     f->returns_lost ? "where this returns to is unknown: the call is not "
					       "in the trace that was decoded"
					     : DOES_NOT_FIT);
		return;
	}
	pt_flow_put_branch(f, b, to, 0);
	leave_kernel(f, to);
	f->ip = to;
}

static void take_indirect(struct pt_flow *f, const struct pt_basic *b, uint64_t to)
{
	if (b->end == PT_END_INDIRECT && b->flags & AUX_CALL)
		push_return(f, b->next);
	pt_flow_reach_cycles(f);
	pt_flow_put_branch(f, b, to, 0);
	pt_flow_go(f, to);
}

/* The CPU may write a TIP behind bits of later branches. */
static void take_deferred(struct pt_flow *f, const struct pt_basic *b)
{
	struct pt_goal goal = f->goal;
	struct pt_tokens before;
	struct pt_token t;
	int rc;

	do {
		before = f->tokens;
		rc = pt_token_next(&f->tokens, &t);
		if (rc > 0)
			pt_flow_take_time(f, &t);
	} while (rc > 0 && t.kind >= PT_TOKEN_TSC && t.kind <= PT_TOKEN_CYC);
	if (rc <= 0 || t.kind != PT_TOKEN_TIP || !t.has_ip) {
		f->tokens = before;
		fail_goal(f, b->last, DOES_NOT_FIT);
		return;
	}
	take_indirect(f, b, t.value);
	f->goal = goal;
}

static void end_tnt(struct pt_flow *f, const struct pt_basic *b)
{
	if (b->end == PT_END_RETURN)
		take_return(f, b);
	else
		take_deferred(f, b);
}

static void end_target(struct pt_flow *f, const struct pt_basic *b)
{
	f->goal.kind = PT_GOAL_NONE;
	take_indirect(f, b, f->goal.ip);
}

static void disable(struct pt_flow *f)
{
	f->goal.kind = PT_GOAL_NONE;
	f->enabled = f->has_ip = false;
}

/* Takes the end of a block. */
static void take_end(struct pt_flow *f, const struct pt_basic *b)
{
	enum pt_goal_kind kind = f->goal.kind;
	bool leaves = kind == PT_GOAL_DISABLE &&
		      (!f->goal.ip || f->goal.ip == b->target || f->goal.ip == b->next);

	switch ((enum pt_end)b->end) {
	case PT_END_CR3:
		if (kind == PT_GOAL_DISABLE && !f->goal.ip) {
			pt_flow_put_edge(f, 0, 0, AUX_TRACE_END);
			disable(f);
		}
		/* fallthrough */
	case PT_END_NEXT: f->ip = b->next; return;
	case PT_END_JUMP:
	case PT_END_CALL:
		if (!leaves || f->goal.ip != b->target) {
			take_direct(f, b);
			return;
		}
		break;
	case PT_END_COND:
		if (kind == PT_GOAL_TNT) {
			if (take_bit(f)) {
				take_direct(f, b);
			} else {
				pt_flow_end_block(f);
				f->at_cycles = false;
				f->ip = b->next;
			}
			return;
		}
		if (!leaves || !f->goal.ip) {
			fail_goal(f, b->last, DOES_NOT_FIT);
			return;
		}
		break;
	case PT_END_RETURN:
	case PT_END_INDIRECT:
	case PT_END_FAR:
		if (kind == PT_GOAL_TNT)
			end_tnt(f, b);
		else if (kind == PT_GOAL_TARGET)
			end_target(f, b);
		else if (kind == PT_GOAL_PLACE)
			fail_goal(f, b->last, DOES_NOT_FIT);
		else
			break;
		return;
	}
	pt_flow_reach_cycles(f);
	pt_flow_put_branch(f, b, f->goal.ip, AUX_TRACE_END);
	disable(f);
}

/* --- errata --------------------------------------------------------------------------------------
 */

#define MEND_BLOCKS 64 /* code that is looked at */

/* Returns how many instructions of @b are in front of the place of the goal; 0: it is not in @b. */
static unsigned int insns_before(const struct pt_basic *b, uint64_t ip)
{
	if (ip - b->ip > b->last - b->ip)
		return 0;
	for (unsigned int i = 1; i < b->insns; i++)
		if (b->ip + b->at[i] == ip)
			return i;
	return 0;
}

void pt_flow_mend_abort(struct pt_flow *f)
{
	uint64_t ip = f->ip;

	if (f->time_moved)
		pt_flow_update_task(f);
	for (unsigned int i = 0; i < MEND_BLOCKS; i++) {
		const struct pt_basic *b;
		int rc = 0;

		if (ip == f->goal.ip)
			return;
		b = pt_blocks_get(&f->blocks, &f->task, f->time, ip, f->mode, &rc);
		if (!b)
			break;
		if (insns_before(b, f->goal.ip))
			return;
		if (b->end != PT_END_NEXT && b->end != PT_END_JUMP && b->end != PT_END_CALL)
			break;
		ip = b->end == PT_END_NEXT ? b->next : b->target;
	}
	f->ip = f->goal.ip;
}

bool pt_flow_leave_for_guest(struct pt_flow *f, uint64_t to)
{
	const struct pt_basic *b;
	int rc = 0;

	if (f->time_moved)
		pt_flow_update_task(f);
	b = pt_blocks_get(&f->blocks, &f->task, f->time, f->ip, f->mode, &rc);
	if (!b || b->insns != 1 || !(b->flags & AUX_VMENTRY))
		return false;
	f->awaits_target = f->aborted = false;
	pt_flow_put_insns(f, b, 1);
	pt_flow_reach_cycles(f);
	pt_flow_put_branch(f, b, to, AUX_TRACE_END);
	disable(f);
	return true;
}

/* --- walking -------------------------------------------------------------------------------------
 */

/* Walks up to a place inside of a block. Returns whether it is there. */
static bool walk_inside(struct pt_flow *f, const struct pt_basic *b)
{
	unsigned int nr = insns_before(b, f->goal.ip);

	if (!nr)
		return false;
	pt_flow_put_insns(f, b, nr);
	f->ip = f->goal.ip;
	if (f->goal.kind == PT_GOAL_PLACE) {
		reach_place(f);
	} else {
		pt_flow_put_edge(f, 0, f->ip, AUX_TRACE_END);
		disable(f);
	}
	return true;
}

/* What walk_plain() holds in registers. */
struct pt_plain {
	uint64_t bits, target; /* of the goal; @target 0: none */
	unsigned int count;    /* 0 with no target: the goal is reached */
};

/* Takes the next packet if it is a short one of branches, or one of a target. */
static inline __attribute__((always_inline)) bool take_plain(struct pt_flow *f, struct pt_plain *p)
{
	size_t at = f->tokens.at;

	if (!pt_token_short(&f->tokens, &p->count, &p->bits)) {
		p->target = pt_token_target(&f->tokens);
		if (!p->target)
			return false;
	}
	f->position = at;
	f->fresh = false;
	return true;
}

/*
 * Finds where @b leads. Returns false where the goal does not say it, or another one has to take
 * the end of the block.
 */
static inline __attribute__((always_inline)) bool lead_plain(struct pt_flow *f,
							     const struct pt_basic *b,
							     struct pt_plain *p, unsigned int *idle,
							     uint64_t *to, bool *taken)
{
	*taken = true;
	*to = b->target;
	switch ((enum pt_end)b->end) {
	case PT_END_COND:
		if (!p->count)
			return false;
		*taken = p->bits >> --p->count & 1;
		*to = *taken ? *to : b->next;
		*idle = 0;
		return true;
	case PT_END_NEXT:
		*taken = false;
		*to = b->next;
		*idle += b->insns;
		return true;
	case PT_END_CALL:
		if (*to != b->next)
			push_return(f, b->next);
		/* fallthrough */
	case PT_END_JUMP: *idle += b->insns + JUMP_INSNS; return true;
	case PT_END_RETURN:
		*idle = 0;
		if (!p->count)
			break;
		if (!(p->bits >> (p->count - 1) & 1) || !f->nr_returns || !f->returns[f->top])
			return false;
		p->count--;
		*to = pop_return(f);
		return true;
	case PT_END_INDIRECT:
		if (p->count)
			return false;
		if (b->flags & AUX_CALL)
			push_return(f, b->next);
		*idle = 0;
		break;
	case PT_END_FAR:
	case PT_END_CR3: return false;
	}
	*to = p->target;
	p->target = 0;
	return true;
}

/*
 * As pt_flow_walk() for bits of branches and for targets, and for the packets of this kind that
 * follow, as long as nothing else is to be told: code that is known, of one time and task. Most of
 * a trace is of this kind. @branches: they are wanted.
 */
static inline __attribute__((always_inline)) void walk_plain(struct pt_flow *f, bool branches)
{
	struct pt_plain p = {.bits = f->goal.bits};
	uint64_t ip = f->ip, last = ip, sum = 0, to;
	unsigned int idle = f->idle;
	bool taken;

	if (f->goal.kind == PT_GOAL_TNT)
		p.count = f->goal.count;
	else
		p.target = f->goal.ip;
	while (idle <= IDLE_INSNS && (!branches || f->nr + PT_STEP_EVENTS < PT_QUEUE)) {
		const struct pt_basic *b;

		if (!p.count && !p.target && !take_plain(f, &p))
			break;
		b = pt_blocks_known(&f->blocks, ip, f->mode);
		if (!b || !lead_plain(f, b, &p, &idle, &to, &taken))
			break;
		sum += b->insns;
		if (branches) {
			f->insns_since += b->insns;
			if (taken)
				pt_flow_put_branch(f, b, to, 0);
		}
		last = ip;
		ip = to;
		if (last >> 63 && !(to >> 63)) {
			pt_flow_forget_user(f);
			break;
		}
	}
	f->ip = ip;
	f->idle = idle;
	f->goal.kind = p.count ? PT_GOAL_TNT : p.target ? PT_GOAL_TARGET : PT_GOAL_NONE;
	f->goal.count = p.count;
	f->goal.bits = p.bits;
	f->goal.ip = p.target;
	if (!sum)
		return;
	f->silent = false;
	if (!branches)
		f->insns_since += sum;
	pt_flow_put_sum(f, last, sum);
}

/* An indirect branch may change the mode: not here. */
static bool is_plain(const struct pt_flow *f)
{
	return (f->goal.kind == PT_GOAL_TNT || (f->goal.kind == PT_GOAL_TARGET && f->goal.ip)) &&
	       !f->time_moved && !f->starts && f->mode == f->next_mode &&
	       f->clock.cycles == f->cycles_used && pt_flow_sums_insns(f);
}

static bool has_place(const struct pt_goal *goal)
{
	return goal->kind == PT_GOAL_PLACE || (goal->kind == PT_GOAL_DISABLE && goal->ip);
}

int pt_flow_walk(struct pt_flow *f)
{
	while (f->goal.kind && f->nr + PT_STEP_EVENTS < PT_QUEUE) {
		const struct pt_basic *b;
		int rc = 0;

		if (is_plain(f)) {
			if (f->want & AUX_WANT_BRANCHES)
				walk_plain(f, true);
			else
				walk_plain(f, false);
			if (!f->goal.kind)
				break;
		}
		if (f->goal.kind == PT_GOAL_PLACE && f->ip == f->goal.ip) {
			reach_place(f);
			break;
		}
		if (f->time_moved)
			pt_flow_update_task(f);
		b = pt_blocks_get(&f->blocks, &f->task, f->time, f->ip, f->mode, &rc);
		if (!b)
			return fail_block(f, rc);
		pt_flow_put_start(f);
		if (has_place(&f->goal) && walk_inside(f, b))
			break;
		pt_flow_put_insns(f, b, b->insns);
		take_end(f, b);
		if (f->idle > IDLE_INSNS) {
			pt_flow_fail(f, AUX_CAUSE_TRACE, f->ip,
				     "bad trace: code runs on without it");
			f->synced = f->enabled = f->in_psb = f->overflow = false;
		}
		if (f->lost)
			break;
	}
	return 0;
}
