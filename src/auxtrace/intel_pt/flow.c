// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/flow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/intel_pt/branch.h"
#include "auxtrace/intel_pt/pages.h"
#include "auxtrace/intel_pt/setup.h"

/* So many instructions or events without trace are a loop of a wrong decoding. */
#define IDLE_INSNS  (1u << 17)
#define IDLE_EVENTS 1024u

/* A PSB+ and the packet behind it are much shorter. */
#define SEAM_MAX  4096
#define SEAM_SIZE 8

/* libipt reads as many branches ahead of the code. */
#define AHEAD 48

/* A step makes few events: a branch, a block, an instruction, an edge. */
#define QUEUE 8

/* An event before its text and bytes are copied. */
struct pt_item {
	enum aux_event_kind kind;
	uint32_t flags;
	uint64_t ip, to, insns, value;
	uint64_t offset, time;
	struct aux_task task;
	uint8_t insn_len;
	uint8_t insn[pt_max_insn_size];
};

/* What libipt decoded: a block, or an instruction. */
struct pt_unit {
	uint64_t ip, end; /* of the first and the last instruction */
	uint64_t insns;
	enum pt_insn_class iclass; /* of the last one */
	enum pt_exec_mode mode;
	bool in_tx;
	uint8_t size; /* of the last one; 0: unknown */
	uint8_t raw[pt_max_insn_size];
};

struct pt_flow {
	struct pt_setup setup;
	const struct aux_stretch *stretch;
	unsigned int want;

	struct pt_block_decoder *blocks; /* one of both */
	struct pt_insn_decoder *insns;
	int status;	    /* what libipt returned last */
	bool synced;	    /* else it has to find a PSB, */
	size_t from;	    /* from here on */
	size_t synced_at;   /* a PSB */
	size_t psb;	    /* the last one that libipt has read */
	unsigned int ahead; /* branches since it has; it may have read less than AHEAD ahead */
	uint8_t *copy;	    /* of the trace, with an end; or NULL */
	bool enabled;	    /* tracing is */
	bool ended;
	bool aborted;			      /* a transaction was; the branch of it comes */
	unsigned int idle_insns, idle_events; /* since there was trace */
	uint64_t decoder_at;		      /* libipt, */
	uint64_t position;		      /* which is here in the stretch */

	uint64_t tsc, time;
	struct aux_task task;
	struct pt_pages pages;

	struct pt_item branch; /* its target is not known yet */
	bool branch_pending;
	bool direct; /* it is, if taken, to */
	uint64_t target;
	uint64_t insns_since; /* the branch before */
	struct pt_item block; /* grows */

	struct pt_item queue[QUEUE];
	unsigned int head, nr;
	char text[160]; /* of the one event in the queue that has any */
};

/* --- libipt's two decoders -----------------------------------------------------------------------
 */

static int decoder_sync(struct pt_flow *f, uint64_t at)
{
	return f->insns ? pt_insn_sync_set(f->insns, at) : pt_blk_sync_set(f->blocks, at);
}

static int decoder_event(struct pt_flow *f, struct pt_event *ret)
{
	return f->insns ? pt_insn_event(f->insns, ret, sizeof(*ret))
			: pt_blk_event(f->blocks, ret, sizeof(*ret));
}

static size_t decoder_psb(const struct pt_flow *f)
{
	uint64_t at = 0;

	if (f->insns)
		pt_insn_get_sync_offset(f->insns, &at);
	else
		pt_blk_get_sync_offset(f->blocks, &at);
	return at;
}

static uint64_t decoder_at(const struct pt_flow *f)
{
	uint64_t at = 0;

	if (f->insns)
		pt_insn_get_offset(f->insns, &at);
	else
		pt_blk_get_offset(f->blocks, &at);
	return at;
}

static int decode_insn(struct pt_flow *f, struct pt_unit *u)
{
	struct pt_insn insn;
	int status = pt_insn_next(f->insns, &insn, sizeof(insn));

	u->ip = u->end = insn.ip;
	u->insns = insn.iclass != ptic_error && insn.size;
	u->iclass = insn.iclass;
	u->mode = insn.mode;
	u->in_tx = insn.speculative;
	u->size = insn.size;
	memcpy(u->raw, insn.raw, sizeof(u->raw));
	return status;
}

static int decode_block(struct pt_flow *f, struct pt_unit *u)
{
	struct pt_block block;
	int status = pt_blk_next(f->blocks, &block, sizeof(block));

	u->ip = block.ip;
	u->end = block.end_ip;
	u->insns = block.ninsn;
	u->iclass = block.iclass;
	u->mode = block.mode;
	u->in_tx = block.speculative;
	u->size = 0;
	return status;
}

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	struct pt_flow *f = context;
	struct aux_task task = f->task;
	int n;

	task.cpumode = ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	n = pt_pages_read(&f->pages, &task, f->time, ip, buffer, size);
	return n >= 0 ? n : n == -ENOMEM ? -pte_nomem : -pte_nomap;
}

/* --- events --------------------------------------------------------------------------------------
 */

static struct pt_item *put(struct pt_flow *f, enum aux_event_kind kind)
{
	struct pt_item *item = &f->queue[f->nr < QUEUE ? f->nr++ : QUEUE - 1];

	*item = (struct pt_item){
		.kind = kind,
		.offset = f->stretch->offset + f->position,
		.time = f->time,
		.task = f->task,
	};
	return item;
}

static void put_edge(struct pt_flow *f, uint64_t ip, uint64_t to, uint32_t flags)
{
	struct pt_item *item;

	if (!(f->want & AUX_WANT_BRANCHES))
		return;
	item = put(f, AUX_EVENT_BRANCH);
	item->ip = ip;
	item->to = to;
	item->flags = AUX_BRANCH | flags;
	item->insns = f->insns_since;
	f->insns_since = 0;
}

/* An event whose text is already in f->text. */
static struct pt_item *put_text(struct pt_flow *f, enum aux_event_kind kind, uint64_t ip)
{
	struct pt_item *item = put(f, kind);

	item->ip = ip;
	return item;
}

static void end_block(struct pt_flow *f)
{
	if (f->block.insns && f->want & AUX_WANT_BLOCKS) {
		struct pt_item *item = put(f, AUX_EVENT_BLOCK);

		item->ip = f->block.ip;
		item->insns = f->block.insns;
	}
	f->block.insns = 0;
}

/* The thread that runs now may be another one. */
static void update_task(struct pt_flow *f)
{
	const struct aux_stretch *s = f->stretch;
	const struct aux_code *code = f->pages.code;
	struct aux_task task;

	if (s->cpu == UINT32_MAX || !code->task_on ||
	    !code->task_on(code->arg, s->cpu, f->time, &task))
		return;
	if (task.pid != f->task.pid || (task.pid == UINT32_MAX && task.tid != f->task.tid))
		pt_pages_forget_user(&f->pages);
	f->task = task;
}

static void set_clock(struct pt_flow *f, uint64_t tsc)
{
	if (tsc == f->tsc)
		return;
	f->tsc = tsc;
	f->time = pt_setup_time(&f->setup, tsc);
	update_task(f);
}

static void update_clock(struct pt_flow *f)
{
	uint64_t tsc = 0, at = decoder_at(f);
	size_t psb = decoder_psb(f);
	uint32_t lost_mtc, lost_cyc; /* libipt 2.1 wants them */
	int rc = f->insns ? pt_insn_time(f->insns, &tsc, &lost_mtc, &lost_cyc)
			  : pt_blk_time(f->blocks, &tsc, &lost_mtc, &lost_cyc);

	if (at != f->decoder_at)
		f->idle_insns = f->idle_events = 0;
	f->decoder_at = at;
	f->position = at < f->stretch->len ? at : f->stretch->len;
	if (psb != f->psb) {
		f->psb = psb;
		f->ahead = 0;
	}
	if (rc >= 0)
		set_clock(f, tsc);
}

static bool is_user(uint64_t ip)
{
	return !(ip >> 63);
}

/* The flow goes on at @ip. Puts the branch that led there. */
static void arrive(struct pt_flow *f, uint64_t ip)
{
	struct pt_item *b = &f->branch;

	if (!f->branch_pending)
		return;
	f->branch_pending = false;
	if (is_user(ip) && !is_user(b->ip)) {
		pt_pages_forget_user(&f->pages);
		update_task(f);
	}
	if (b->flags & AUX_CONDITIONAL && (f->direct ? ip != f->target : ip == b->ip + b->insn_len))
		return;
	if (!(f->want & AUX_WANT_BRANCHES))
		return;
	b->to = ip;
	b->time = f->time;
	b->offset = f->stretch->offset + f->position;
	b->insns = f->insns_since;
	f->insns_since = 0;
	f->queue[f->nr < QUEUE ? f->nr++ : QUEUE - 1] = *b;
}

/* Takes the last instruction of @u, which may branch. */
static void leave(struct pt_flow *f, struct pt_unit *u)
{
	struct aux_task task = f->task;
	struct pt_branch b;
	int n = u->size;

	if (u->iclass == ptic_error || u->iclass == ptic_other || u->iclass == ptic_ptwrite)
		return;
	task.cpumode = is_user(u->end) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	if (!n)
		n = pt_pages_read(&f->pages, &task, f->time, u->end, u->raw, sizeof(u->raw));
	b = pt_branch_decode(u->raw, n > 0 ? n : 0, u->mode, u->iclass, u->end);
	if (!b.flags)
		return;
	/* Direct branches need no trace; all others do. */
	if (!b.direct || b.flags & AUX_CONDITIONAL) {
		f->idle_insns = 0;
		f->ahead++;
	}
	f->branch_pending = true;
	f->direct = b.direct;
	f->target = b.target;
	f->branch = (struct pt_item){
		.kind = AUX_EVENT_BRANCH,
		.flags = b.flags | (u->in_tx ? AUX_IN_TX : 0),
		.ip = u->end,
		.task = f->task,
		.insn_len = b.len,
	};
	memcpy(f->branch.insn, u->raw, b.len);
}

static void put_unit(struct pt_flow *f, struct pt_unit *u)
{
	if (!f->block.insns)
		f->block.ip = u->ip;
	f->block.insns += u->insns;
	f->insns_since += u->insns;
	f->idle_insns += u->insns;
	leave(f, u);
	if (f->want & AUX_WANT_INSNS) {
		struct pt_item *item = put(f, AUX_EVENT_INSN);

		item->ip = u->ip;
		item->insn_len = u->size;
		item->flags = f->branch_pending ? f->branch.flags : u->in_tx ? AUX_IN_TX : 0;
		memcpy(item->insn, u->raw, u->size);
	}
	if (f->branch_pending)
		end_block(f);
}

/* --- errors --------------------------------------------------------------------------------------
 */

static void lose_sync(struct pt_flow *f)
{
	f->synced = false;
	f->from = f->psb > f->synced_at && f->ahead < AHEAD ? f->psb : f->psb + 1;
	if (f->from <= f->synced_at)
		f->from = f->synced_at + 1;
	f->branch_pending = f->aborted = false;
	f->insns_since = 0;
}

static void put_missing(struct pt_flow *f, uint64_t ip)
{
	const char *name = f->pages.missing;

	if (*name)
		snprintf(f->text, sizeof(f->text), "code at 0x%" PRIx64 " is missing: %s", ip,
			 name);
	else
		snprintf(f->text, sizeof(f->text), "code at 0x%" PRIx64 " is in no map", ip);
	put_text(f, AUX_EVENT_ERROR, ip);
}

/* Puts an error of libipt, and looks for the next PSB. Returns 0, or -ENOMEM. */
static int fail(struct pt_flow *f, int status, uint64_t ip)
{
	enum pt_error_code code = pt_errcode(status);

	if (code == pte_nomem)
		return -ENOMEM;
	end_block(f);
	if (code == pte_eos) {
		f->ended = true;
		return 0;
	}
	if (code == pte_nomap) {
		put_missing(f, ip);
	} else {
		snprintf(f->text, sizeof(f->text), "bad trace: %s", pt_errstr(code));
		put_text(f, AUX_EVENT_ERROR, ip);
	}
	lose_sync(f);
	return 0;
}

static void fail_idle(struct pt_flow *f, uint64_t ip)
{
	end_block(f);
	snprintf(f->text, sizeof(f->text), "bad trace: code runs on without it");
	put_text(f, AUX_EVENT_ERROR, ip);
	lose_sync(f);
}

/* --- steps ---------------------------------------------------------------------------------------
 */

static int resync(struct pt_flow *f)
{
	const struct aux_stretch *s = f->stretch;
	size_t psb = pt_setup_sync(s->data, s->len, f->from);

	if (psb >= s->len) {
		f->ended = true;
		return 0;
	}
	f->synced_at = f->psb = psb;
	f->ahead = 0;
	f->idle_insns = f->idle_events = 0;
	f->status = decoder_sync(f, psb);
	f->position = psb;
	if (f->status < 0)
		return fail(f, f->status, 0);
	f->synced = true;
	f->enabled = !(f->status & pts_ip_suppressed);
	f->tsc = 0;
	pt_pages_forget_user(&f->pages);
	update_clock(f);
	update_task(f);
	return 0;
}

static void take_power(struct pt_flow *f, const struct pt_event *ev)
{
	uint64_t value = 0, ip = 0;
	size_t size = sizeof(f->text);

	switch (ev->type) {
	case ptev_cbr:
		value = ev->variant.cbr.ratio;
		snprintf(f->text, size, "cbr: %u", ev->variant.cbr.ratio);
		break;
	case ptev_mwait:
		value = ev->variant.mwait.hints;
		ip = ev->ip_suppressed ? 0 : ev->variant.mwait.ip;
		snprintf(f->text, size, "mwait: hints: 0x%x extensions: 0x%x",
			 ev->variant.mwait.hints, ev->variant.mwait.ext);
		break;
	case ptev_pwre:
		value = ev->variant.pwre.state;
		snprintf(f->text, size, "pwre: hw: %u cstate: %u sub-cstate: %u",
			 ev->variant.pwre.hw, ev->variant.pwre.state, ev->variant.pwre.sub_state);
		break;
	case ptev_exstop:
		ip = ev->ip_suppressed ? 0 : ev->variant.exstop.ip;
		snprintf(f->text, size, "exstop: ip: %u", !ev->ip_suppressed);
		break;
	default:
		value = ev->variant.pwrx.deepest;
		snprintf(f->text, size, "pwrx: deepest cstate: %u last cstate: %u wake reason: %s",
			 ev->variant.pwrx.deepest, ev->variant.pwrx.last,
			 ev->variant.pwrx.interrupt    ? "interrupt"
			 : ev->variant.pwrx.store      ? "store"
			 : ev->variant.pwrx.autonomous ? "autonomous"
						       : "unknown");
	}
	put_text(f, AUX_EVENT_POWER, ip)->value = value;
}

static void take_enabled(struct pt_flow *f, uint64_t ip, bool silent)
{
	/* From 2.1 on libipt also says so at a PSB+ on the way. */
	if (silent)
		arrive(f, ip);
	f->enabled = true;
	f->branch_pending = false;
	pt_pages_forget_user(&f->pages);
	update_task(f);
	if (!silent)
		put_edge(f, 0, ip, AUX_TRACE_BEGIN);
}

/* The last instruction led out of the trace, to @to or to an unknown address. */
static void take_disabled(struct pt_flow *f, uint64_t to)
{
	struct pt_item b = f->branch;

	f->enabled = false;
	if (f->branch_pending) {
		put_edge(f, b.ip, to, b.flags | AUX_TRACE_END);
		if (f->want & AUX_WANT_BRANCHES) {
			f->queue[f->nr - 1].insn_len = b.insn_len;
			memcpy(f->queue[f->nr - 1].insn, b.insn, sizeof(b.insn));
		}
	} else {
		put_edge(f, 0, to, AUX_TRACE_END);
	}
	f->branch_pending = false;
}

static void take_async(struct pt_flow *f, uint64_t from, uint64_t to, uint32_t edge)
{
	uint32_t flags = AUX_ASYNC | (to ? AUX_CALL | AUX_INTERRUPT : AUX_TRACE_END);

	arrive(f, from);
	if (f->aborted)
		flags = AUX_TX_ABORT;
	f->aborted = false;
	put_edge(f, from, to, flags | edge);
}

static void take_overflow(struct pt_flow *f, const struct pt_event *ev)
{
	put(f, AUX_EVENT_LOST)->ip = ev->ip_suppressed ? 0 : ev->variant.overflow.ip;
	f->branch_pending = f->aborted = false;
	f->insns_since = 0;
	f->enabled = !ev->ip_suppressed;
	if (f->enabled)
		take_enabled(f, ev->variant.overflow.ip, false);
}

static void take_ptwrite(struct pt_flow *f, const struct pt_event *ev)
{
	struct pt_item *item = put(f, AUX_EVENT_PTWRITE);

	item->ip = ev->ip_suppressed ? 0 : ev->variant.ptwrite.ip;
	item->value = ev->variant.ptwrite.payload;
	if (ev->variant.ptwrite.size == 4)
		item->value &= UINT32_MAX;
}

static void apply(struct pt_flow *f, const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_enabled: take_enabled(f, ev->variant.enabled.ip, ev->status_update); break;
	case ptev_disabled:
		if (!ev->status_update)
			take_disabled(f, ev->ip_suppressed ? 0 : ev->variant.disabled.ip);
		f->enabled = false;
		break;
	case ptev_async_disabled:
		take_async(f, ev->variant.async_disabled.at,
			   ev->ip_suppressed ? 0 : ev->variant.async_disabled.ip, AUX_TRACE_END);
		f->enabled = false;
		break;
	case ptev_async_branch:
		take_async(f, ev->variant.async_branch.from,
			   ev->ip_suppressed ? 0 : ev->variant.async_branch.to, 0);
		break;
	case ptev_paging:
	case ptev_async_paging:
		if (!ev->status_update)
			pt_pages_forget_user(&f->pages);
		update_task(f);
		break;
	case ptev_overflow: take_overflow(f, ev); break;
	case ptev_tsx: f->aborted = ev->variant.tsx.aborted && !ev->status_update; break;
	case ptev_ptwrite:
		if (f->want & AUX_WANT_OTHERS)
			take_ptwrite(f, ev);
		break;
	case ptev_cbr:
	case ptev_mwait:
	case ptev_pwre:
	case ptev_pwrx:
	case ptev_exstop:
		if (f->want & AUX_WANT_OTHERS)
			take_power(f, ev);
		break;
	default: break;
	}
}

static int take_event(struct pt_flow *f)
{
	struct pt_event ev = {0};

	f->status = decoder_event(f, &ev);
	if (f->status < 0)
		return fail(f, f->status, 0);
	/* libipt has read ahead: its time may be one behind the event. */
	if (ev.has_tsc)
		set_clock(f, ev.tsc);
	if (f->idle_events++ > IDLE_EVENTS) {
		fail_idle(f, 0);
		return 0;
	}
	end_block(f);
	if (f->copy && ev.type == ptev_async_disabled && decoder_at(f) > f->stretch->len) {
		arrive(f, ev.variant.async_disabled.at);
		f->ended = true;
		return 0;
	}
	apply(f, &ev);
	update_clock(f);
	return 0;
}

static int take_unit(struct pt_flow *f)
{
	struct pt_unit u;
	bool end = f->status & pts_eos;

	/* The trace ends here. Code that follows may not have been executed. */
	if (end && !(f->branch_pending && f->enabled)) {
		end_block(f);
		f->ended = true;
		return 0;
	}
	f->status = f->insns ? decode_insn(f, &u) : decode_block(f, &u);
	if (f->enabled)
		arrive(f, u.ip);
	if (end) {
		f->ended = true;
		return 0;
	}
	/* The packet that ends this code may have a new time, and another task. */
	if (u.insns)
		put_unit(f, &u);
	update_clock(f);
	if (f->status < 0)
		return fail(f, f->status, u.ip);
	if ((!u.insns && f->idle_events++ > IDLE_EVENTS) || f->idle_insns > IDLE_INSNS)
		fail_idle(f, u.ip);
	return 0;
}

static int step(struct pt_flow *f)
{
	if (!f->synced)
		return resync(f);
	if (f->status & pts_event_pending)
		return take_event(f);
	return take_unit(f);
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
	size_t more = s->more < SEAM_MAX ? s->more : SEAM_MAX;
	struct pt_packet_decoder *packets;
	struct pt_packet packet;
	struct pt_config config;
	uint64_t ip = 0;

	if (more < PT_PSB_SIZE || pt_setup_sync(s->data + s->len, PT_PSB_SIZE, 0))
		return 0;
	pt_setup_config(&f->setup, s->data + s->len, more, &config);
	packets = pt_pkt_alloc_decoder(&config);
	if (packets && pt_pkt_sync_forward(packets) >= 0)
		while (!ip && pt_pkt_next(packets, &packet, sizeof(packet)) > 0 &&
		       packet.type != ppt_psbend)
			if (packet.type == ppt_fup)
				ip = packet.payload.ip.ip; /* it continues 0 */
	pt_pkt_free_decoder(packets);
	return ip;
}

/*
 * Copies the trace, and ends it with an interrupt at @ip. So libipt decodes code up to there and no
 * further. Returns 0 or -ENOMEM.
 */
static int copy_trace(struct pt_flow *f, uint64_t ip)
{
	uint8_t tail[SEAM_SIZE] = {0x7d, [SEAM_SIZE - 1] = 0x01}; /* FUP, TIP.PGD */
	size_t len = f->stretch->len;

	for (unsigned int i = 0; i < 6; i++)
		tail[1 + i] = ip >> (8 * i);
	f->copy = malloc(len + SEAM_SIZE);
	if (!f->copy)
		return -ENOMEM;
	memcpy(f->copy, f->stretch->data, len);
	memcpy(f->copy + len, tail, SEAM_SIZE);
	return 0;
}

static int new_decoder(struct pt_flow *f)
{
	struct pt_image *image;
	struct pt_config config;
	uint64_t ip = seam_ip(f);
	size_t len = f->stretch->len;

	if (ip && copy_trace(f, ip))
		return -ENOMEM;
	pt_setup_config(&f->setup, f->copy ? f->copy : f->stretch->data,
			len + (f->copy ? SEAM_SIZE : 0), &config);
	if (f->want & AUX_WANT_INSNS) {
		f->insns = pt_insn_alloc_decoder(&config);
	} else {
		config.flags.variant.block.end_on_call = 1;
		config.flags.variant.block.end_on_jump = 1;
		f->blocks = pt_blk_alloc_decoder(&config);
	}
	if (!f->insns && !f->blocks)
		return -ENOMEM;
	image = f->insns ? pt_insn_get_image(f->insns) : pt_blk_get_image(f->blocks);
	return pt_image_set_callback(image, read_code, f) < 0 ? -ENOMEM : 0;
}

int pt_flow_new(const struct aux_setup *setup, const struct aux_stretch *stretch,
		const struct aux_code *code, unsigned int want, struct pt_flow **ret)
{
	struct pt_setup s;
	struct pt_flow *f;
	int rc = pt_setup_init(setup, &s);

	if (rc)
		return rc;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->setup = s;
	f->stretch = stretch;
	f->want = want;
	f->task = (struct aux_task){.pid = UINT32_MAX, .tid = stretch->tid};
	pt_pages_init(&f->pages, code);
	f->ended = !stretch->len;
	rc = f->ended ? 0 : new_decoder(f);
	if (rc) {
		pt_flow_free(f);
		return rc;
	}
	*ret = f;
	return 0;
}

void pt_flow_free(struct pt_flow *f)
{
	if (!f)
		return;
	pt_blk_free_decoder(f->blocks);
	pt_insn_free_decoder(f->insns);
	pt_pages_release(&f->pages);
	free(f->copy);
	free(f);
}

/* Text and sample are large: they are not touched where the event has none. */
static void fill_event(const struct pt_flow *f, const struct pt_item *item, struct aux_event *ret)
{
	ret->kind = item->kind;
	ret->offset = item->offset;
	ret->time = item->time;
	ret->task = item->task;
	ret->task.cpumode = is_user(item->ip ? item->ip : item->to) ? PERF_RECORD_MISC_USER
								    : PERF_RECORD_MISC_KERNEL;
	ret->ip = item->ip;
	ret->to = item->to;
	ret->insns = item->insns;
	ret->cycles = 0;
	ret->flags = item->flags;
	ret->value = item->value;
	ret->insn_len = item->insn_len;
	memcpy(ret->insn, item->insn, sizeof(item->insn));
	if (item->kind == AUX_EVENT_ERROR || item->kind == AUX_EVENT_POWER)
		memcpy(ret->text, f->text, sizeof(ret->text));
	else
		ret->text[0] = 0;
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
	fill_event(f, &f->queue[f->head++], ret);
	return 1;
}
