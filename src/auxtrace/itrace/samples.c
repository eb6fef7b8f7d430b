// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/itrace/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[ITRACE_KINDS] = {
	[ITRACE_BRANCHES] = "branches",
	[ITRACE_INSTRUCTIONS] = "instructions",
	[ITRACE_TRANSACTIONS] = "transactions",
	[ITRACE_PTWRITE] = "ptwrite",
	[ITRACE_POWER] = "power",
	[ITRACE_L1_ACCESS] = "l1d-access",
	[ITRACE_L1_MISS] = "l1d-miss",
	[ITRACE_LLC_ACCESS] = "llc-access",
	[ITRACE_LLC_MISS] = "llc-miss",
	[ITRACE_TLB_ACCESS] = "tlb-access",
	[ITRACE_TLB_MISS] = "tlb-miss",
	[ITRACE_BRANCH_MISS] = "branch-miss",
	[ITRACE_REMOTE] = "remote-access",
	[ITRACE_MEMORY] = "memory",
	[ITRACE_ERRORS] = "errors",
};

const char *itrace_kind_name(enum itrace_kind kind)
{
	return kind_names[kind];
}

bool itrace_wants(const struct itrace_opts *o, enum itrace_kind kind)
{
	switch (kind) {
	case ITRACE_BRANCHES: return o->branches || o->calls || o->returns;
	case ITRACE_INSTRUCTIONS: return o->instructions;
	case ITRACE_TRANSACTIONS: return o->transactions;
	case ITRACE_PTWRITE: return o->ptwrite;
	case ITRACE_POWER: return o->power;
	case ITRACE_L1_ACCESS:
	case ITRACE_L1_MISS: return o->l1;
	case ITRACE_LLC_ACCESS:
	case ITRACE_LLC_MISS: return o->llc;
	case ITRACE_TLB_ACCESS:
	case ITRACE_TLB_MISS: return o->tlb;
	case ITRACE_BRANCH_MISS: return o->branches;
	case ITRACE_REMOTE: return o->remote;
	case ITRACE_MEMORY: return o->memory;
	case ITRACE_ERRORS: return o->errors;
	case ITRACE_KINDS: break;
	}
	return false;
}

bool itrace_has_past(enum itrace_kind kind)
{
	return kind == ITRACE_INSTRUCTIONS || kind == ITRACE_TRANSACTIONS ||
	       kind == ITRACE_PTWRITE || kind == ITRACE_POWER;
}

void itrace_list_clear(struct itrace_list *list)
{
	list->nr = 0;
	list->texts.len = 0;
	list->has_errors = false;
}

void itrace_list_release(struct itrace_list *list)
{
	free(list->samples);
	buf_release(&list->texts);
	*list = (struct itrace_list){0};
}

/* --- samples of a stretch ------------------------------------------------------------------------
 */

struct itrace_run {
	const struct itrace_opts *opts;
	struct itrace_decoding *d;
	struct itrace_list *list;
};

static int add(struct itrace_run *s, enum itrace_kind kind, const struct aux_event *e,
	       uint64_t period)
{
	struct itrace_list *list = s->list;
	struct itrace_sample *to;

	if (list->nr == list->cap &&
	    array_grow(&list->samples, &list->cap, list->nr + 1, sizeof(*list->samples)))
		return -ENOMEM;
	/* Field by field: to zero all first would take as long as the rest. */
	to = &list->samples[list->nr];
	to->kind = kind;
	to->cpumode = e->task.cpumode;
	to->insn_len = e->insn_len;
	to->hidden = false;
	to->damage = e->kind == AUX_EVENT_ERROR && e->cause == AUX_CAUSE_TRACE;
	to->simd = e->simd & ((1u << AUX_SIMD_BITS) - 1);
	to->flags = e->flags;
	to->pid = e->task.pid;
	to->tid = e->task.tid;
	to->cpu = e->cpu_plus_1 ? e->cpu_plus_1 - 1 : s->d->stretch.cpu;
	to->text = ITRACE_NO_TEXT;
	to->time = e->time;
	to->ip = e->ip;
	to->addr = e->to;
	to->period = period;
	to->offset = e->offset;
	to->insns = to->cycles = 0;
	memcpy(to->insn, e->insn, sizeof(to->insn));
	list->nr++;
	return 0;
}

static int add_text(struct itrace_run *s, enum itrace_kind kind, const struct aux_event *e)
{
	size_t at = s->list->texts.len;
	int rc = buf_append(&s->list->texts, e->text, strnlen(e->text, sizeof(e->text) - 1) + 1);

	if (!rc)
		rc = add(s, kind, e, 1);
	if (!rc)
		s->list->samples[s->list->nr - 1].text = (uint32_t)at;
	return rc;
}

static void set_cycles(struct itrace_sample *to, uint64_t *insns, uint64_t *cycles)
{
	to->insns = *insns < UINT32_MAX ? (uint32_t)*insns : UINT32_MAX;
	to->cycles = *cycles < UINT32_MAX ? (uint32_t)*cycles : UINT32_MAX;
	*insns = *cycles = 0;
}

/* Counts for samples of instructions. */
static void count_cycles(struct itrace_decoding *d, const struct aux_event *e)
{
	d->open_insns += e->insns;
	if (!e->cycles)
		return;
	d->insn_insns += d->open_insns;
	d->insn_cycles += e->cycles;
	d->open_insns = 0;
}

static int take_branch(struct itrace_run *s, const struct aux_event *e)
{
	const struct itrace_opts *o = s->opts;
	bool shown = o->branches || (o->calls && e->flags & ITRACE_CALLS) ||
		     (o->returns && e->flags & ITRACE_RETURNS);
	int rc = 0;

	s->d->branch_insns += e->insns;
	s->d->branch_cycles += e->cycles;
	count_cycles(s->d, e);
	if (o->transactions && e->flags & AUX_TX_ABORT)
		rc = add(s, ITRACE_TRANSACTIONS, e, 1);
	if (rc || !(shown || itrace_opts_need_past(o)))
		return rc;
	rc = add(s, ITRACE_BRANCHES, e, 1);
	if (rc)
		return rc;
	s->list->samples[s->list->nr - 1].hidden = !shown;
	if (shown && e->cycles)
		set_cycles(&s->list->samples[s->list->nr - 1], &s->d->branch_insns,
			   &s->d->branch_cycles);
	return 0;
}

/* Instructions were executed, from e->ip on. */
static int take_insns(struct itrace_run *s, const struct aux_event *e, uint64_t nr)
{
	const struct itrace_opts *o = s->opts;
	bool due;
	int rc;

	if (!o->instructions)
		return 0;
	s->d->insns += nr;
	/* Boundaries lie at multiples of the period, wherever a stretch begins. */
	if (o->unit == ITRACE_NS && o->period && !s->d->sample && e->time)
		s->d->sample = (e->time / o->period + 1) * o->period;
	if (o->unit == ITRACE_INSNS)
		due = s->d->insns >= o->period;
	else
		due = !o->period || (e->time && e->time >= s->d->sample);
	if (!due) {
		memcpy(&s->d->last, e, offsetof(struct aux_event, value)); /* what add() reads */
		s->d->last_at = s->list->nr;
		return 0;
	}
	rc = add(s, ITRACE_INSTRUCTIONS, e, s->d->insns);
	s->d->insns = 0;
	if (!rc && o->ipc && s->d->insn_cycles)
		set_cycles(&s->list->samples[s->list->nr - 1], &s->d->insn_insns,
			   &s->d->insn_cycles);
	if (o->unit == ITRACE_NS && o->period)
		s->d->sample = (e->time / o->period + 1) * o->period;
	return rc;
}

/* Bits of the events packet of SPE. Source: Arm ARM, Statistical Profiling Extension. */
static const struct {
	enum itrace_kind kind;
	uint64_t bit;
} spe_kinds[] = {
	{ITRACE_L1_MISS, 1u << 3},     {ITRACE_L1_ACCESS, 1u << 2}, {ITRACE_LLC_MISS, 1u << 9},
	{ITRACE_LLC_ACCESS, 1u << 8},  {ITRACE_TLB_MISS, 1u << 5},  {ITRACE_TLB_ACCESS, 1u << 4},
	{ITRACE_BRANCH_MISS, 1u << 7}, {ITRACE_REMOTE, 1u << 10},
};

static int add_operation(struct itrace_run *s, enum itrace_kind kind, const struct aux_event *e)
{
	const struct aux_op *op = &e->sample;
	struct itrace_sample *added;
	int rc;

	if (!itrace_wants(s->opts, kind))
		return 0;
	rc = add(s, kind, e, 1);
	if (rc)
		return rc;
	added = &s->list->samples[s->list->nr - 1];
	added->addr = op->virt ? op->virt : e->to;
	added->phys = op->phys;
	added->weight = op->latency;
	return 0;
}

static int take_operation(struct itrace_run *s, const struct aux_event *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(spe_kinds) / sizeof(spe_kinds[0]); i++)
		if (e->sample.events & spe_kinds[i].bit)
			rc = add_operation(s, spe_kinds[i].kind, e);
	if (!rc && e->sample.virt)
		rc = add_operation(s, ITRACE_MEMORY, e);
	return rc ? rc : take_insns(s, e, 1);
}

static int add_error(struct itrace_run *s, const struct aux_event *e)
{
	struct aux_event lost = *e;
	int rc;

	s->list->has_errors = true;
	if (e->kind != AUX_EVENT_LOST)
		return add_text(s, ITRACE_ERRORS, e);
	if (!e->text[0])
		snprintf(lost.text, sizeof(lost.text), "the hardware lost trace here");
	rc = add_text(s, ITRACE_ERRORS, &lost);
	if (!rc)
		s->list->samples[s->list->nr - 1].hidden = s->opts->no_overflows;
	return rc;
}

static int take(struct itrace_run *s, const struct aux_event *e)
{
	const struct itrace_opts *o = s->opts;

	switch (e->kind) {
	case AUX_EVENT_BRANCH: return take_branch(s, e);
	case AUX_EVENT_INSN: return take_insns(s, e, 1);
	case AUX_EVENT_BLOCK: return take_insns(s, e, e->insns);
	case AUX_EVENT_PTWRITE: return o->ptwrite ? add(s, ITRACE_PTWRITE, e, 1) : 0;
	case AUX_EVENT_POWER: return o->power ? add_text(s, ITRACE_POWER, e) : 0;
	case AUX_EVENT_SAMPLE: return take_operation(s, e);
	case AUX_EVENT_LOST:
	case AUX_EVENT_ERROR: return o->errors ? add_error(s, e) : 0;
	case AUX_EVENT_RECORD:
	case AUX_EVENTS: break;
	}
	return 0;
}

static unsigned int wanted(const struct itrace_opts *o)
{
	unsigned int want = 0;

	if (itrace_wants(o, ITRACE_BRANCHES) || o->transactions || itrace_opts_need_past(o) ||
	    (o->ipc && o->instructions))
		want |= AUX_WANT_BRANCHES;
	if (o->instructions && (o->unit == ITRACE_INSNS || !o->period))
		want |= AUX_WANT_INSNS;
	else if (o->instructions)
		want |= AUX_WANT_BLOCKS | AUX_WANT_COUNTS;
	if (o->ptwrite || o->power)
		want |= AUX_WANT_OTHERS;
	return want;
}

/* Trace that makes more samples than that is made to take for ever. */
#define SAMPLES_MAX	 ((uint64_t)1 << 20)
#define SAMPLES_PER_BYTE 512

static bool is_too_much(const struct itrace_run *s)
{
	return s->d->made + s->list->nr >= SAMPLES_MAX + SAMPLES_PER_BYTE * s->d->stretch.len;
}

static int fail(struct itrace_run *s, enum aux_cause cause, const char *why)
{
	struct aux_event e = {
		.kind = AUX_EVENT_ERROR,
		.cause = cause,
		.offset = s->d->stretch.offset,
		.time = s->d->stretch.from,
		.task = {.pid = UINT32_MAX, .tid = s->d->stretch.tid},
	};

	snprintf(e.text, sizeof(e.text), "%s", why);
	return add_error(s, &e);
}

/* The instructions behind the last period: a sample in the order of the trace. */
static int add_last(struct itrace_run *s)
{
	struct itrace_list *list = s->list;
	struct itrace_sample added;
	int rc = add(s, ITRACE_INSTRUCTIONS, &s->d->last, s->d->insns);

	if (rc)
		return rc;
	added = list->samples[list->nr - 1];
	memmove(&list->samples[s->d->last_at + 1], &list->samples[s->d->last_at],
		(list->nr - 1 - s->d->last_at) * sizeof(added));
	list->samples[s->d->last_at] = added;
	return 0;
}

/* @rc is that of the decoder's beginning. */
static int fill(struct itrace_run *s, const struct aux_decoder_ops *ops, int rc)
{
	size_t max = s->d->max ? s->d->max : ITRACE_LIST_MAX;
	struct aux_event e;

	while (!rc && s->list->nr < max && (rc = ops->next(s->d->decoder, &e)) > 0)
		rc = take(s, &e);
	if (!rc && s->list->nr >= max && !is_too_much(s)) {
		s->d->more = true;
		return 0;
	}
	if (!rc && s->list->nr >= max)
		rc = fail(s, AUX_CAUSE_TRACE,
			  "the trace makes too many samples; it is not decoded further up to "
			  "the next synchronisation point");
	/* The trace of one unit does not end the others. */
	if (rc < 0 && rc != -ENOMEM)
		rc = fail(s, AUX_CAUSE_OTHER,
			  "the trace is of a unit that the decoder does not know");
	return !rc && s->d->insns ? add_last(s) : rc;
}

int itrace_decode(const struct itrace_opts *opts, const struct aux_decoder_ops *ops,
		  const struct aux_setup *setup, const struct aux_stretch *stretch,
		  const struct aux_code *code, struct itrace_decoding *d, struct itrace_list *list)
{
	struct itrace_run s = {.opts = opts, .d = d, .list = list};
	int rc;

	*d = (struct itrace_decoding){.decoder = d->decoder, .max = d->max, .stretch = *stretch};
	if (d->decoder && ops->again)
		return fill(&s, ops, ops->again(d->decoder, setup, &d->stretch));
	ops->end(d->decoder);
	d->decoder = NULL;
	rc = ops->begin(setup, &d->stretch, code, wanted(opts), &d->decoder);
	return fill(&s, ops, rc);
}

int itrace_decode_more(const struct itrace_opts *opts, const struct aux_decoder_ops *ops,
		       struct itrace_decoding *d, struct itrace_list *list)
{
	struct itrace_run s = {.opts = opts, .d = d, .list = list};

	d->more = false;
	d->made += d->max ? d->max : ITRACE_LIST_MAX;
	d->last_at = 0;
	return fill(&s, ops, 0);
}
