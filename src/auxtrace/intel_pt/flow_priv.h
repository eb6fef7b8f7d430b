/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a flow, shared by its three parts: flow.c takes packets, flow_walk.c follows the
 * code up to the goal that a packet sets, flow_events.c makes events.
 *
 * One thread at a time uses a flow.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_FLOW_PRIV_H
#define RINGTAIL_AUXTRACE_INTEL_PT_FLOW_PRIV_H

#include "auxtrace/intel_pt/blocks.h"
#include "auxtrace/intel_pt/clock.h"
#include "auxtrace/intel_pt/flow.h"

#define PT_RETURNS 64u /* that a CPU keeps for compression */
#define PT_BOUND   4u

/* A block gives an event for each instruction and some more. */
#define PT_STEP_EVENTS (PT_BLOCK_INSNS + 8)
#define PT_QUEUE       (2 * PT_STEP_EVENTS)

/* An event before it has its text. */
struct pt_item {
	enum aux_event_kind kind;
	enum aux_cause cause;
	enum pt_token_kind power;
	uint32_t flags, value2;
	uint64_t ip, to, insns, cycles, value;
	uint64_t offset, time;
	struct aux_task task;
	uint8_t insn_len;
	uint8_t insn[16];
};

/* Up to where the code runs. */
enum pt_goal_kind {
	PT_GOAL_NONE,
	PT_GOAL_TNT,	 /* @count conditional branches */
	PT_GOAL_TARGET,	 /* a branch whose target is @ip; 0: it is not known */
	PT_GOAL_DISABLE, /* a branch out of the trace, to @ip if that is not 0 */
	PT_GOAL_PLACE,	 /* the instruction at @ip is the next one */
};

/* What happens at the place. */
enum pt_then {
	PT_THEN_GO_ON,
	PT_THEN_EVENTS, /* packets that a FUP belongs to, or an interrupt */
	PT_THEN_END,
};

struct pt_goal {
	enum pt_goal_kind kind;
	enum pt_then then;
	unsigned int count;
	uint64_t bits;
	uint64_t ip;
};

struct pt_flow {
	struct pt_blocks blocks;
	const struct aux_code *code;
	unsigned int want;

	char fresh_from_here; /* all below is of one stretch */
	struct pt_setup setup;
	const struct aux_stretch *stretch;
	struct pt_tokens tokens;
	struct pt_clock clock;
	size_t position; /* of the packet */
	uint64_t time;
	bool time_moved;    /* the task may be another one, or its code */
	uint64_t task_time; /* as of which @task is known */
	struct aux_task task;

	bool synced; /* else a PSB has to be found */
	bool ended;
	bool enabled; /* tracing is */
	bool has_ip;  /* @ip is where the flow is; else code was missing, or tracing is off */
	bool lost;    /* since the last error */
	bool starts;  /* at @ip, and no event says so yet */
	bool silent;  /* no instruction was decoded since the last error */
	bool fresh;   /* no packet of the flow since a PSB+ */
	bool in_tx;
	bool overflow;	    /* it is not known yet where the flow goes on */
	bool awaits_target; /* of an interrupt or an abort at @ip */
	bool aborted;
	bool in_psb;
	uint64_t psb_ip;
	enum pt_exec_mode mode, next_mode;
	uint64_t ip;
	struct pt_goal goal;
	unsigned int idle; /* instructions since there was trace */
	uint64_t cbr;

	uint64_t returns[PT_RETURNS]; /* a ring */
	unsigned int top, nr_returns;
	bool returns_lost; /* some are not known, for another reason than damage */

	struct pt_token bound[PT_BOUND]; /* wait for a FUP */
	unsigned int nr_bound;

	uint64_t insns_since;  /* the branch before */
	uint64_t cycles_since; /* count at the branch before that has cycles */
	uint64_t cycles_used;  /* count of the newest packet that decided a branch */
	bool at_cycles;	       /* the branch is decided by the packet behind a count */
	struct pt_item block;  /* grows */
	struct pt_item count;  /* of AUX_WANT_COUNTS */

	struct pt_item queue[PT_QUEUE];
	unsigned int head, nr;
	char text[160];		       /* of the last error, the only one in the queue */
	char missing[AUX_MISSING_MAX]; /* file of the last one for missing code */
};

/* --- flow_events.c */

struct pt_item *pt_flow_put(struct pt_flow *f, enum aux_event_kind kind);
void pt_flow_put_edge(struct pt_flow *f, uint64_t ip, uint64_t to, uint32_t flags);
/* A packet decides the next branch, which has the cycles up to there. */
void pt_flow_reach_cycles(struct pt_flow *f);
/* Says that the flow was lost up to @f->ip, if it was. */
void pt_flow_put_start(struct pt_flow *f);
/* A packet of power or PTWRITE at @ip; 0: unknown. */
void pt_flow_put_power(struct pt_flow *f, const struct pt_token *t, uint64_t ip);
/* Those that wait for a FUP belong to @ip. Returns whether there were any. */
bool pt_flow_put_bound(struct pt_flow *f, uint64_t ip);
void pt_flow_drop_bound(struct pt_flow *f);
/* The last instruction of @block led to @to. */
void pt_flow_put_branch(struct pt_flow *f, const struct pt_basic *block, uint64_t to,
			uint32_t edge);
/* The first @nr instructions of @block were executed. */
void pt_flow_put_insns(struct pt_flow *f, const struct pt_basic *block, unsigned int nr);
void pt_flow_end_block(struct pt_flow *f);
/* Returns whether instructions from here on, of this time and task, may be told in one sum. */
bool pt_flow_sums_insns(const struct pt_flow *f);
/* The sum: @nr instructions, the last ones in the block at @ip. */
void pt_flow_put_sum(struct pt_flow *f, uint64_t ip, uint64_t nr);
void pt_flow_take_time(struct pt_flow *f, const struct pt_token *t);
/* The thread that runs now may be another one. */
void pt_flow_update_task(struct pt_flow *f);
/* User code, and whose it is, may have changed. */
void pt_flow_forget_user(struct pt_flow *f);
/* Puts an error. The flow is lost up to the next packet with an address. */
void pt_flow_fail(struct pt_flow *f, enum aux_cause cause, uint64_t ip, const char *text);
void pt_flow_fail_code(struct pt_flow *f);
/* Nothing follows. */
void pt_flow_end(struct pt_flow *f);
void pt_flow_fill(const struct pt_flow *f, const struct pt_item *item, struct aux_event *ret);

/* --- flow_walk.c */

void pt_flow_forget_returns(struct pt_flow *f);
/* The flow is at @ip; 0: it is not known where. */
void pt_flow_go(struct pt_flow *f, uint64_t ip);
/* The flow was lost or off, and goes on at @ip. */
void pt_flow_resume(struct pt_flow *f, uint64_t ip);
/*
 * Erratum BDM64: the branch before an abort may have led to a wrong place. If the code does not
 * lead from there to the abort, the flow is put at the abort.
 */
void pt_flow_mend_abort(struct pt_flow *f);
/*
 * Erratum SKD022: a FUP may name the instruction that enters a guest, out of the trace. Takes it,
 * to @to, if it is one. Returns whether it is.
 */
bool pt_flow_leave_for_guest(struct pt_flow *f, uint64_t to);
void pt_flow_walk_to(struct pt_flow *f, uint64_t ip, enum pt_then then);
/* Goes on towards the goal while the queue has room. Returns 0 or -ENOMEM. */
int pt_flow_walk(struct pt_flow *f);

#endif
