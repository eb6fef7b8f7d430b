// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "auxtrace/intel_pt/flow_priv.h"

static bool is_user(uint64_t ip)
{
	return !(ip >> 63);
}

struct pt_item *pt_flow_put(struct pt_flow *f, enum aux_event_kind kind)
{
	struct pt_item *item = &f->queue[f->nr < PT_QUEUE ? f->nr++ : PT_QUEUE - 1];

	item->kind = kind;
	item->cause = AUX_CAUSE_TRACE;
	item->flags = 0;
	item->ip = item->to = item->insns = item->cycles = item->value = 0;
	item->offset = f->stretch->offset + f->position;
	item->time = f->time;
	item->task = f->task;
	item->insn_len = 0;
	return item;
}

static void count_insns(struct pt_flow *f, struct pt_item *item)
{
	item->insns = f->insns_since;
	f->insns_since = 0;
	if (!f->at_cycles)
		return;
	item->cycles = f->clock.cycles - f->cycles_since;
	f->cycles_since = f->clock.cycles;
	f->at_cycles = false;
}

/* Only the first branch of a packet is at the time of the packet. */
void pt_flow_reach_cycles(struct pt_flow *f)
{
	f->at_cycles = f->clock.cycles != f->cycles_used;
	f->cycles_used = f->clock.cycles;
}

void pt_flow_put_edge(struct pt_flow *f, uint64_t ip, uint64_t to, uint32_t flags)
{
	struct pt_item *item;

	pt_flow_end_block(f);
	if (!(f->want & AUX_WANT_BRANCHES))
		return;
	if (f->time_moved)
		pt_flow_update_task(f);
	item = pt_flow_put(f, AUX_EVENT_BRANCH);
	item->ip = ip;
	item->to = to;
	item->flags = AUX_BRANCH | flags;
	count_insns(f, item);
}

void pt_flow_put_start(struct pt_flow *f)
{
	if (f->starts)
		pt_flow_put_edge(f, 0, f->ip, AUX_TRACE_BEGIN);
	f->starts = false;
}

void pt_flow_put_branch(struct pt_flow *f, const struct pt_basic *block, uint64_t to, uint32_t edge)
{
	struct pt_item *item;

	pt_flow_end_block(f);
	if (!(f->want & AUX_WANT_BRANCHES))
		return;
	item = pt_flow_put(f, AUX_EVENT_BRANCH);
	item->ip = block->last;
	item->to = to;
	item->flags = block->flags | edge | (f->in_tx ? AUX_IN_TX : 0);
	item->insn_len = block->len;
	memcpy(item->insn, block->raw, sizeof(item->insn));
	count_insns(f, item);
}

/* --- power, PTWRITE and transactions -------------------------------------------------------------
 */

void pt_flow_put_power(struct pt_flow *f, const struct pt_token *t, uint64_t ip)
{
	struct pt_item *item;

	if (!(f->want & AUX_WANT_OTHERS))
		return;
	if (f->time_moved)
		pt_flow_update_task(f);
	item = pt_flow_put(f, t->kind == PT_TOKEN_PTWRITE ? AUX_EVENT_PTWRITE : AUX_EVENT_POWER);
	item->power = t->kind;
	item->ip = ip;
	item->value = t->value;
	item->value2 = t->value2;
}

bool pt_flow_put_bound(struct pt_flow *f, uint64_t ip)
{
	bool any = false;

	for (unsigned int i = 0; i < f->nr_bound; i++) {
		const struct pt_token *t = &f->bound[i];

		/* A mode at the next branch needs no event; one at a FUP is no interrupt. */
		if (t->kind == PT_TOKEN_EXEC) {
			if (ip)
				f->mode = f->next_mode;
			any |= ip != 0;
			continue;
		}
		if (t->kind != PT_TOKEN_TSX) {
			pt_flow_put_power(f, t, ip);
			any = true;
			continue;
		}
		f->in_tx = t->value & 1;
		f->aborted = ip && t->value & 2;
		any |= !f->aborted;
	}
	f->nr_bound = 0;
	return any;
}

void pt_flow_drop_bound(struct pt_flow *f)
{
	f->nr_bound = 0;
	f->aborted = false;
}

/* --- instructions --------------------------------------------------------------------------------
 */

static void put_each(struct pt_flow *f, const struct pt_basic *block, unsigned int nr)
{
	struct aux_task task = f->task;
	uint8_t code[16];
	int n = 0;

	task.cpumode = is_user(block->ip) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	for (unsigned int i = 0; i < nr; i++) {
		bool last = i + 1 == block->insns;
		struct pt_item *item = pt_flow_put(f, AUX_EVENT_INSN);

		item->ip = block->ip + block->at[i];
		item->insn_len = last ? block->len : block->at[i + 1] - block->at[i];
		item->flags = (last ? block->flags : 0) | (f->in_tx ? AUX_IN_TX : 0);
		if (!last) {
			n = pt_pages_read(&f->blocks.pages, &task, f->time, item->ip, code,
					  item->insn_len);
			memset(item->insn, 0, sizeof(item->insn));
			memcpy(item->insn, code, n > 0 ? (size_t)n : 0);
		} else {
			memcpy(item->insn, block->raw, sizeof(item->insn));
		}
	}
}

static bool same_task(const struct aux_task *a, const struct aux_task *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

static void put_counted(struct pt_flow *f)
{
	if (f->count.insns)
		f->queue[f->nr < PT_QUEUE ? f->nr++ : PT_QUEUE - 1] = f->count;
	f->count.insns = 0;
}

/* The first block of a time and task is an event, all others are one together. */
static void count_block(struct pt_flow *f, const struct pt_basic *block, unsigned int nr)
{
	struct pt_item *c = &f->count, *item;

	if (c->kind == AUX_EVENT_BLOCK && c->time == f->time && same_task(&c->task, &f->task)) {
		c->insns += nr;
		c->ip = block->ip;
		return;
	}
	put_counted(f);
	item = pt_flow_put(f, AUX_EVENT_BLOCK);
	item->ip = block->ip;
	item->insns = nr;
	*c = *item;
	c->insns = 0;
}

bool pt_flow_sums_insns(const struct pt_flow *f)
{
	const struct pt_item *c = &f->count;

	if (f->want & AUX_WANT_COUNTS)
		return c->kind == AUX_EVENT_BLOCK && c->time == f->time &&
		       same_task(&c->task, &f->task);
	return !(f->want & (AUX_WANT_INSNS | AUX_WANT_BLOCKS));
}

void pt_flow_put_sum(struct pt_flow *f, uint64_t ip, uint64_t nr)
{
	if (!(f->want & AUX_WANT_COUNTS))
		return;
	f->count.insns += nr;
	f->count.ip = ip;
}

void pt_flow_end_block(struct pt_flow *f)
{
	if (f->block.insns) {
		struct pt_item *item = pt_flow_put(f, AUX_EVENT_BLOCK);

		item->ip = f->block.ip;
		item->insns = f->block.insns;
	}
	f->block.insns = 0;
}

void pt_flow_put_insns(struct pt_flow *f, const struct pt_basic *block, unsigned int nr)
{
	f->insns_since += nr;
	f->idle += nr;
	f->silent = false;
	if (f->want & AUX_WANT_INSNS)
		put_each(f, block, nr);
	if (f->want & AUX_WANT_COUNTS) {
		count_block(f, block, nr);
	} else if (f->want & AUX_WANT_BLOCKS) {
		if (!f->block.insns)
			f->block.ip = block->ip;
		f->block.insns += nr;
	}
}

void pt_flow_end(struct pt_flow *f)
{
	pt_flow_end_block(f);
	put_counted(f);
	f->ended = true;
}

/* --- time and task -------------------------------------------------------------------------------
 */

void pt_flow_take_time(struct pt_flow *f, const struct pt_token *t)
{
	if (!pt_clock_take(&f->clock, t))
		return;
	f->time = pt_setup_time(&f->setup, f->clock.tsc);
	f->time_moved = true;
}

void pt_flow_update_task(struct pt_flow *f)
{
	const struct aux_stretch *s = f->stretch;
	struct aux_task task;

	f->time_moved = false;
	pt_pages_at(&f->blocks.pages, f->time);
	if (s->cpu != UINT32_MAX && f->code->task_on && (f->time != f->task_time || !f->time) &&
	    f->code->task_on(f->code->arg, s->cpu, f->time, &task))
		f->task = task;
	f->task_time = f->time;
	pt_pages_settle(&f->blocks.pages, &f->task, f->time);
}

void pt_flow_forget_user(struct pt_flow *f)
{
	pt_pages_forget_user(&f->blocks.pages);
	f->time_moved = true;
}

/* --- errors --------------------------------------------------------------------------------------
 */

/* The flow is lost up to the next packet with an address. */
static void lose(struct pt_flow *f, enum aux_cause cause)
{
	pt_flow_end_block(f);
	f->goal.kind = PT_GOAL_NONE;
	f->starts = f->has_ip = f->awaits_target = f->aborted = false;
	f->lost = true;
	f->insns_since = f->idle = 0;
	pt_flow_forget_returns(f);
	f->returns_lost |= cause == AUX_CAUSE_CODE;
}

static void put_error(struct pt_flow *f, enum aux_cause cause, uint64_t ip)
{
	struct pt_item *item;

	if (f->time_moved)
		pt_flow_update_task(f);
	item = pt_flow_put(f, AUX_EVENT_ERROR);
	item->cause = cause;
	item->ip = ip;
	f->silent = true;
}

void pt_flow_fail(struct pt_flow *f, enum aux_cause cause, uint64_t ip, const char *text)
{
	lose(f, cause);
	/* One error is enough for a part of the flow of which nothing is known. */
	if (f->silent && !strcmp(f->text, text))
		return;
	snprintf(f->text, sizeof(f->text), "%s", text);
	put_error(f, cause, ip);
}

void pt_flow_fail_code(struct pt_flow *f)
{
	const char *name = f->blocks.pages.missing;

	/* A start that leads to nothing new is not worth an event either. */
	if (f->silent && !strcmp(f->missing, name)) {
		lose(f, AUX_CAUSE_CODE);
		return;
	}
	pt_flow_put_start(f);
	lose(f, AUX_CAUSE_CODE);
	snprintf(f->missing, sizeof(f->missing), "%s", name);
	if (*name)
		snprintf(f->text, sizeof(f->text), "code at 0x%" PRIx64 " is missing: %s", f->ip,
			 name);
	else
		snprintf(f->text, sizeof(f->text), "code at 0x%" PRIx64 " is in no map", f->ip);
	put_error(f, AUX_CAUSE_CODE, f->ip);
}

/* --- filling -------------------------------------------------------------------------------------
 */

static void fill_power(const struct pt_item *item, struct aux_event *ret)
{
	unsigned int low = item->value & 0xff, high = item->value >> 8 & 0xff;
	size_t size = sizeof(ret->text);

	switch (item->power) {
	case PT_TOKEN_CBR: snprintf(ret->text, size, "cbr: %u", low); break;
	case PT_TOKEN_MWAIT:
		snprintf(ret->text, size, "mwait: hints: 0x%x extensions: 0x%x", low, item->value2);
		break;
	case PT_TOKEN_PWRE:
		ret->value = high >> 4;
		snprintf(ret->text, size, "pwre: hw: %u cstate: %u sub-cstate: %u", low >> 7,
			 high >> 4, high & 15);
		break;
	case PT_TOKEN_EXSTOP:
		ret->value = 0;
		snprintf(ret->text, size, "exstop: ip: %u", item->ip != 0);
		break;
	default:
		ret->value = low & 15;
		snprintf(ret->text, size,
			 "pwrx: deepest cstate: %u last cstate: %u wake reason: %s", low & 15,
			 low >> 4,
			 high & 1   ? "interrupt"
			 : high & 4 ? "store"
			 : high & 8 ? "autonomous"
				    : "unknown");
	}
}

/* Text and sample are large: they are not touched where the event has none. */
void pt_flow_fill(const struct pt_flow *f, const struct pt_item *item, struct aux_event *ret)
{
	ret->kind = item->kind;
	ret->offset = item->offset;
	ret->time = item->time;
	ret->task = item->task;
	ret->task.cpumode = is_user(item->ip ? item->ip : item->to) ? PERF_RECORD_MISC_USER
								    : PERF_RECORD_MISC_KERNEL;
	ret->cpu_plus_1 = 0;
	ret->ip = item->ip;
	ret->to = item->to;
	ret->insns = item->insns;
	ret->cycles = item->cycles;
	ret->flags = item->flags;
	ret->value = item->value;
	ret->insn_len = item->insn_len;
	ret->simd = 0;
	memcpy(ret->insn, item->insn, sizeof(item->insn));
	ret->cause = item->cause;
	ret->text[0] = 0;
	if (item->kind == AUX_EVENT_ERROR)
		memcpy(ret->text, f->text, sizeof(ret->text));
	else if (item->kind == AUX_EVENT_POWER)
		fill_power(item, ret);
}
