// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/intel_pt/flow_priv.h"

/* A PSB+ is much shorter. */
#define SEAM_MAX 4096

/* --- packets inside of a PSB+ --------------------------------------------------------------------
 */

static void begin_psb(struct pt_flow *f)
{
	f->in_psb = true;
	f->psb_ip = 0;
	f->awaits_target = false;
	pt_flow_drop_bound(f);
}

/* Where the PSB+ is, the hardware says again where it is. */
static void end_psb(struct pt_flow *f)
{
	f->in_psb = false;
	pt_flow_forget_returns(f);
	f->returns_lost = false;
	if (!f->psb_ip) {
		f->enabled = f->has_ip = false;
		return;
	}
	f->fresh = true;
	if (f->enabled && f->has_ip) {
		pt_flow_walk_to(f, f->psb_ip, PT_THEN_GO_ON);
		return;
	}
	f->enabled = true;
	pt_flow_resume(f, f->psb_ip);
}

static void take_in_psb(struct pt_flow *f, const struct pt_token *t)
{
	switch (t->kind) {
	case PT_TOKEN_FUP: f->psb_ip = t->has_ip ? t->value : 0; break;
	case PT_TOKEN_EXEC: f->next_mode = (enum pt_exec_mode)t->value; break;
	case PT_TOKEN_TSX: f->in_tx = t->value & 1; break;
	case PT_TOKEN_CBR:
		if (t->value != f->cbr)
			pt_flow_put_power(f, t, 0);
		f->cbr = t->value;
		break;
	default: break;
	}
}

/* --- packets of the flow -------------------------------------------------------------------------
 */

/* The packet of a change of the flow, or the end, says that there is no address for it. */
static void end_overflow(struct pt_flow *f, uint64_t ip)
{
	if (!f->overflow)
		return;
	f->overflow = false;
	pt_flow_put(f, AUX_EVENT_LOST)->ip = ip;
}

static void take_overflow(struct pt_flow *f)
{
	end_overflow(f, 0);
	pt_flow_drop_bound(f);
	f->in_psb = false;
	f->overflow = true;
	f->awaits_target = f->enabled = f->has_ip = f->in_tx = false;
	f->insns_since = 0;
	pt_flow_forget_returns(f);
	f->returns_lost = true;
}

static void take_branches(struct pt_flow *f, const struct pt_token *t)
{
	f->awaits_target = false;
	if (!f->enabled) {
		pt_flow_fail(f, AUX_CAUSE_TRACE, 0, "bad trace: a branch while tracing is off");
		return;
	}
	if (f->has_ip)
		f->goal =
			(struct pt_goal){.kind = PT_GOAL_TNT, .bits = t->value, .count = t->count};
}

/* The FUP in front of it has named the place of an interrupt or an abort. */
static void take_async(struct pt_flow *f, uint64_t to, uint32_t edge)
{
	uint32_t flags = AUX_ASYNC | (to ? AUX_CALL | AUX_INTERRUPT : AUX_TRACE_END);

	pt_flow_put_start(f);
	f->awaits_target = false;
	if (f->aborted)
		flags = AUX_TX_ABORT;
	f->aborted = false;
	pt_flow_reach_cycles(f);
	pt_flow_put_edge(f, f->ip, to, flags | edge);
}

static void take_target(struct pt_flow *f, const struct pt_token *t)
{
	uint64_t to = t->has_ip ? t->value : 0;

	if (!f->enabled) {
		pt_flow_fail(f, AUX_CAUSE_TRACE, 0, "bad trace: a branch while tracing is off");
		f->enabled = true;
	}
	if (f->awaits_target) {
		take_async(f, to, 0);
		pt_flow_go(f, to);
	} else if (f->has_ip) {
		f->goal = (struct pt_goal){.kind = PT_GOAL_TARGET, .ip = to};
	} else if (to) {
		pt_flow_resume(f, to);
	}
}

static void take_enable(struct pt_flow *f, const struct pt_token *t)
{
	/* Many CPUs write a FUP into the PSB+ before tracing begins; others never do. */
	if (f->enabled && f->has_ip && !f->fresh)
		pt_flow_fail(f, AUX_CAUSE_TRACE, f->ip, "bad trace: tracing begins twice");
	f->starts = f->lost = f->awaits_target = f->aborted = false;
	f->enabled = f->has_ip = true;
	f->insns_since = 0;
	f->ip = t->value;
	f->mode = f->next_mode;
	pt_flow_forget_user(f);
	if (!t->has_ip) {
		f->has_ip = false;
		return;
	}
	pt_flow_put_edge(f, 0, t->value, AUX_TRACE_BEGIN);
}

static void take_disable(struct pt_flow *f, const struct pt_token *t)
{
	uint64_t to = t->has_ip ? t->value : 0;

	if (f->awaits_target && f->setup.errata.skd022 && pt_flow_leave_for_guest(f, to))
		return;
	if (f->awaits_target) {
		take_async(f, to, AUX_TRACE_END);
		f->enabled = f->has_ip = false;
	} else if (f->has_ip) {
		f->goal = (struct pt_goal){.kind = PT_GOAL_DISABLE, .ip = to};
	} else {
		f->enabled = false;
	}
}

/*
 * Erratum APL12: where tracing is off, a FUP may follow an overflow. Returns whether the packets
 * behind it say that it is off.
 */
static bool is_off_behind(const struct pt_flow *f)
{
	struct pt_tokens tokens = f->tokens;
	bool in_psb = false;
	struct pt_token t;

	while (pt_token_next(&tokens, &t) > 0) {
		switch (t.kind) {
		case PT_TOKEN_PGE: return true;
		case PT_TOKEN_PSB: in_psb = true; break;
		case PT_TOKEN_PSBEND:
			if (in_psb)
				return true;
			break;
		case PT_TOKEN_TNT:
		case PT_TOKEN_TIP:
		case PT_TOKEN_PGD:
		case PT_TOKEN_FUP:
		case PT_TOKEN_OVF: return false;
		default: break;
		}
	}
	return false;
}

static bool aborts(const struct pt_flow *f)
{
	for (unsigned int i = 0; i < f->nr_bound; i++)
		if (f->bound[i].kind == PT_TOKEN_TSX && f->bound[i].value & 2)
			return true;
	return false;
}

static void take_place(struct pt_flow *f, const struct pt_token *t)
{
	if (!t->has_ip)
		return;
	if (f->overflow && f->setup.errata.apl12 && is_off_behind(f))
		return;
	if (f->overflow) {
		end_overflow(f, t->value);
		f->enabled = true;
		f->lost = true;
		pt_flow_resume(f, t->value);
		pt_flow_put_start(f);
		return;
	}
	/* Packets of power have one where tracing is off, too. */
	if (!f->enabled) {
		pt_flow_put_bound(f, t->value);
		return;
	}
	if (!f->has_ip)
		pt_flow_resume(f, t->value);
	pt_flow_walk_to(f, t->value, PT_THEN_EVENTS);
	if (f->setup.errata.bdm64 && aborts(f))
		pt_flow_mend_abort(f);
}

/* Packets of which a FUP that follows says where they belong. */
static void take_bound(struct pt_flow *f, const struct pt_token *t)
{
	if (f->nr_bound == PT_BOUND)
		pt_flow_put_bound(f, 0);
	f->bound[f->nr_bound++] = *t;
}

static void take_other(struct pt_flow *f, const struct pt_token *t)
{
	switch (t->kind) {
	case PT_TOKEN_PIP: pt_flow_forget_user(f); break;
	case PT_TOKEN_EXEC:
		f->next_mode = (enum pt_exec_mode)t->value;
		if (f->enabled)
			take_bound(f, t);
		break;
	case PT_TOKEN_TSX:
		if (f->enabled)
			take_bound(f, t);
		else
			f->in_tx = t->value & 1;
		break;
	case PT_TOKEN_PTWRITE:
	case PT_TOKEN_EXSTOP:
		if (t->has_ip) {
			take_bound(f, t);
			break;
		}
		/* An MWAIT belongs to the stop. */
		if (t->kind == PT_TOKEN_EXSTOP)
			pt_flow_put_bound(f, 0);
		pt_flow_put_power(f, t, 0);
		break;
	case PT_TOKEN_MWAIT: take_bound(f, t); break;
	case PT_TOKEN_CBR:
		f->cbr = t->value;
		pt_flow_put_power(f, t, 0);
		break;
	case PT_TOKEN_PWRE:
	case PT_TOKEN_PWRX: pt_flow_put_power(f, t, 0); break;
	default: break;
	}
}

/* Packets that say where the flow goes. */
static void take_flow(struct pt_flow *f, const struct pt_token *t)
{
	if (t->kind == PT_TOKEN_FUP) {
		take_place(f, t);
		f->fresh = false;
		return;
	}
	pt_flow_put_bound(f, 0);
	/* Erratum SKD010: the FUP behind an overflow may be missing. */
	if (f->overflow && f->setup.errata.skd010 &&
	    (t->kind == PT_TOKEN_TNT || t->kind == PT_TOKEN_TIP))
		f->enabled = f->lost = true;
	end_overflow(f, t->kind == PT_TOKEN_TIP && t->has_ip ? t->value : 0);
	switch (t->kind) {
	case PT_TOKEN_TNT: take_branches(f, t); break;
	case PT_TOKEN_TIP: take_target(f, t); break;
	case PT_TOKEN_PGE: take_enable(f, t); break;
	default: take_disable(f, t); break;
	}
	f->fresh = false;
}

static void take(struct pt_flow *f, const struct pt_token *t)
{
	switch (t->kind) {
	case PT_TOKEN_NONE: return;
	case PT_TOKEN_TSC:
	case PT_TOKEN_TMA:
	case PT_TOKEN_MTC:
	case PT_TOKEN_CYC: pt_flow_take_time(f, t); return;
	case PT_TOKEN_CBR: pt_flow_take_time(f, t); break;
	case PT_TOKEN_PSB:
		f->lost |= f->overflow;
		end_overflow(f, 0);
		begin_psb(f);
		return;
	case PT_TOKEN_PSBEND:
		if (f->in_psb)
			end_psb(f);
		return;
	case PT_TOKEN_OVF: take_overflow(f); return;
	default: break;
	}
	if (f->in_psb)
		take_in_psb(f, t);
	else if (t->kind >= PT_TOKEN_TNT && t->kind <= PT_TOKEN_FUP)
		take_flow(f, t);
	else
		take_other(f, t);
}

/* --- the flow ------------------------------------------------------------------------------------
 */

/*
 * Returns the address in the PSB+ behind the stretch, to which its code ran; 0 if tracing was off,
 * or there is no PSB+.
 */
static uint64_t seam_ip(const struct pt_flow *f)
{
	const struct aux_stretch *s = f->stretch;
	struct pt_tokens tokens = {.data = s->data + s->len,
				   .len = s->more < SEAM_MAX ? s->more : SEAM_MAX};
	struct pt_token t;
	uint64_t ip = 0;

	if (pt_token_next(&tokens, &t) <= 0 || t.kind != PT_TOKEN_PSB)
		return 0;
	while (pt_token_next(&tokens, &t) > 0 && t.kind != PT_TOKEN_PSBEND &&
	       t.kind != PT_TOKEN_OVF)
		if (t.kind == PT_TOKEN_FUP && t.has_ip)
			ip = t.value;
	return ip;
}

/* Behind the last packet nothing is guessed, but the PSB behind the stretch says how it ends. */
static void end_stretch(struct pt_flow *f)
{
	uint64_t ip = f->enabled && f->has_ip && !f->awaits_target && !f->in_psb ? seam_ip(f) : 0;

	pt_flow_put_bound(f, 0);
	end_overflow(f, 0);
	if (ip)
		pt_flow_walk_to(f, ip, PT_THEN_END);
	else
		pt_flow_end(f);
}

static void take_packet(struct pt_flow *f)
{
	struct pt_token t;
	int rc = pt_token_next(&f->tokens, &t);

	f->position = t.at;
	if (rc > 0) {
		take(f, &t);
		return;
	}
	if (!rc) {
		end_stretch(f);
		return;
	}
	pt_flow_fail(f, AUX_CAUSE_TRACE, 0, "bad trace: these bytes are no packet");
	f->synced = f->in_psb = f->overflow = f->enabled = false;
	f->tokens.at++;
}

/* Takes a short packet of branches where nothing else waits. Returns whether it did. */
static bool take_short(struct pt_flow *f)
{
	struct pt_goal goal = {.kind = PT_GOAL_TNT};
	size_t at = f->tokens.at;

	if (!f->enabled || !f->has_ip || f->in_psb || f->overflow || f->nr_bound ||
	    !pt_token_short(&f->tokens, &goal.count, &goal.bits))
		return false;
	f->position = at;
	f->goal = goal;
	f->fresh = f->awaits_target = false;
	return true;
}

static void sync(struct pt_flow *f)
{
	struct pt_tokens *t = &f->tokens;

	t->at = pt_setup_sync(t->data, t->len, t->at);
	f->synced = t->at < t->len;
	if (!f->synced)
		pt_flow_end(f);
}

static int step(struct pt_flow *f)
{
	if (!f->synced)
		sync(f);
	else if (f->goal.kind || take_short(f))
		return pt_flow_walk(f);
	else
		take_packet(f);
	return 0;
}

int pt_flow_new(const struct aux_setup *setup, const struct aux_stretch *stretch,
		const struct aux_code *code, unsigned int want, struct pt_flow **ret)
{
	struct pt_flow *f = calloc(1, sizeof(*f));
	int rc = f ? pt_blocks_init(&f->blocks) : -ENOMEM;

	if (!rc) {
		f->code = code;
		f->want = want;
		rc = pt_flow_again(f, setup, stretch);
	}
	if (rc)
		pt_flow_free(f);
	else
		*ret = f;
	return rc;
}

int pt_flow_again(struct pt_flow *f, const struct aux_setup *setup,
		  const struct aux_stretch *stretch)
{
	struct pt_setup s;
	int rc = pt_setup_init(setup, &s);

	if (rc)
		return rc;
	memset(&f->fresh_from_here, 0, sizeof(*f) - offsetof(struct pt_flow, fresh_from_here));
	f->setup = s;
	f->stretch = stretch;
	f->tokens = (struct pt_tokens){.data = stretch->data,
				       .len = stretch->len,
				       .skd007 = s.errata.skd007,
				       .skz84 = s.errata.skz84};
	f->task = (struct aux_task){.pid = UINT32_MAX, .tid = stretch->tid};
	f->mode = f->next_mode = ptem_64bit;
	f->time_moved = true;
	pt_clock_init(&f->clock, &f->setup);
	pt_pages_begin(&f->blocks.pages, f->code);
	return 0;
}

void pt_flow_free(struct pt_flow *f)
{
	if (!f)
		return;
	pt_blocks_release(&f->blocks);
	free(f);
}

int pt_flow_next(struct pt_flow *f, struct aux_event *ret)
{
	while (f->head == f->nr) {
		int rc;

		if (f->ended)
			return 0;
		f->head = f->nr = 0;
		rc = step(f);
		if (rc)
			return rc;
	}
	pt_flow_fill(f, &f->queue[f->head++], ret);
	return 1;
}
