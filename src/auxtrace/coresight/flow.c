// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/flow.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/coresight/instance.h"
#include "auxtrace/coresight/walk.h"
#include "base/buf.h"

/* Addresses of the kernel have this bit, those of user space do not. */
#define KERNEL_BIT (1ull << 55)

/*
 * So often libopencsd may read code between two events: it follows the code to the next branch, and
 * bytes that are no code may have none. Where that happens, there is less patience from then on.
 */
#define READS_MAX 256u
#define READS_MIN 4u

/* Instructions of Thumb from here on, as their first half, are of four bytes. */
#define THUMB_WIDE 0xe800u

/* An event that waits to be taken. */
struct cs_pending_event {
	struct aux_event event; /* without text */
	uint64_t time;		/* as of which code is read */
	ocsd_isa isa;
	char *text; /* of an error, or NULL */
};

/* What the flow knows of a unit. */
struct cs_flow_source {
	struct cs_source source;
	struct aux_task task; /* of events; that of the packets may be newer */
	uint32_t packet_tid;  /* UINT32_MAX: unknown */
	uint64_t time;
	struct cs_branch branch;     /* waits for its target, */
	struct aux_task branch_task; /* by this task */
	uint64_t last_ip, last_end;  /* of the last instruction */
	uint64_t insns, cycles;	     /* since the last event that tells them */
	bool insns_known, begins;    /* begins: tracing was switched on */
	bool user, el_known;	     /* the exception level */
	bool in_tx, unsynced;
	unsigned int reads, reads_max;
	bool refused;		       /* since reads were too many */
	char missing[AUX_MISSING_MAX]; /* the file that lacks code, as of the last failed read */
};

struct cs_flow {
	struct cs_instance instance;
	struct cs_walk walk;
	const struct aux_code *code;
	unsigned int want;
	struct cs_pending_event *queue;
	size_t nr, cap, taken;
	uint64_t insn_ip, insns_left; /* of the range at queue[taken] */
	int rc;			      /* of what happened in a callback */
};

static struct cs_flow *flow_of(struct cs_flow_source *s)
{
	return s->source.walk->user;
}

/* --- tasks ---------------------------------------------------------------------------------------
 */

static bool is_user(const struct cs_flow_source *s, uint64_t addr)
{
	return s->el_known ? s->user : !(addr & KERNEL_BIT);
}

/* Without time stamps the end of the stretch: what it executed was mapped by then. */
static uint64_t now(const struct cs_flow_source *s)
{
	const struct aux_stretch *stretch = s->source.walk->stretch;

	return s->time ? s->time : stretch->to ? stretch->to : stretch->from;
}

/* The thread by the recording; then by the trace, if it has told one. */
static struct aux_task task_at(struct cs_flow_source *s, uint32_t tid)
{
	const struct aux_stretch *stretch = s->source.walk->stretch;
	struct cs_flow *f = flow_of(s);
	struct aux_task ret = {.pid = UINT32_MAX, .tid = stretch->tid};
	struct aux_task on;

	if (f->code && f->code->task_on(f->code->arg, s->source.unit->cpu, now(s), &on) &&
	    (ret.tid == UINT32_MAX || ret.tid == on.tid))
		ret = on;
	if (tid != UINT32_MAX && tid != ret.tid)
		ret = (struct aux_task){.pid = tid ? UINT32_MAX : 0, .tid = tid};
	return ret;
}

static void set_task(struct cs_flow_source *s, uint32_t tid)
{
	uint8_t mode = s->task.cpumode;

	s->task = task_at(s, tid);
	s->task.cpumode = mode;
}

/* --- events --------------------------------------------------------------------------------------
 */

static struct cs_pending_event *add(struct cs_flow *f, enum aux_event_kind kind, size_t at)
{
	struct cs_pending_event *e;

	if (array_grow(&f->queue, &f->cap, f->nr + 1, sizeof(*f->queue))) {
		f->rc = -ENOMEM;
		return NULL;
	}
	e = &f->queue[f->nr++];
	mem_zero(e, offsetof(struct cs_pending_event, event.text));
	e->event.text[0] = '\0';
	e->text = NULL;
	e->isa = ocsd_isa_aarch64;
	e->event.kind = kind;
	e->event.offset = f->walk.stretch->offset + at;
	return e;
}

static struct cs_pending_event *add_of(struct cs_flow_source *s, enum aux_event_kind kind,
				       size_t at)
{
	struct cs_pending_event *e = add(flow_of(s), kind, at);

	s->reads = 0;
	if (!e)
		return NULL;
	e->event.time = s->time;
	e->time = now(s);
	e->event.task = s->task;
	/* Frames name the unit: CPUs may share a sink. */
	if (!s->source.walk->setup.raw)
		e->event.cpu_plus_1 = s->source.unit->cpu + 1;
	return e;
}

static void add_error(struct cs_flow *f, struct cs_flow_source *s, size_t at, enum aux_cause cause,
		      const char *text)
{
	struct cs_pending_event *e =
		s ? add_of(s, AUX_EVENT_ERROR, at) : add(f, AUX_EVENT_ERROR, at);

	if (!e)
		return;
	if (!s)
		e->event.task = (struct aux_task){.pid = UINT32_MAX, .tid = UINT32_MAX};
	e->event.cause = cause;
	e->text = strdup(text);
	if (!e->text)
		f->rc = -ENOMEM;
}

static void add_branch(struct cs_flow_source *s, size_t at, const struct aux_task *task,
		       uint64_t ip, uint64_t to, uint32_t flags)
{
	struct cs_pending_event *e;

	if (flow_of(s)->want & AUX_WANT_BRANCHES) {
		e = add_of(s, AUX_EVENT_BRANCH, at);
		if (!e)
			return;
		e->event.task = *task;
		e->event.ip = ip;
		e->event.to = to;
		e->event.flags = flags | (s->in_tx ? AUX_IN_TX : 0);
		e->event.insns = s->insns_known ? s->insns : 0;
		e->event.cycles = s->cycles;
		s->cycles = 0;
	}
	s->insns = 0;
	s->insns_known = true;
}

/* Returns whether the instruction before @to is a system call, by which an ERET to it returns. */
static bool returns_from_svc(struct cs_flow_source *s, uint64_t to)
{
	const struct aux_code *code = flow_of(s)->code;
	struct aux_task task = s->task;
	uint32_t insn;

	if (to < sizeof(insn) || !code)
		return false;
	task.cpumode = to & KERNEL_BIT ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	return code->read(code->arg, &task, now(s), to - sizeof(insn), &insn, sizeof(insn), NULL) ==
		       sizeof(insn) &&
	       cs_is_svc(le32toh(insn));
}

/* The target of the branch that waits is known; 0 with AUX_TRACE_END in @edge if it is outside. */
static void resolve(struct cs_flow_source *s, size_t at, uint64_t to, uint32_t edge)
{
	uint32_t flags = s->branch.flags;

	if (!flags)
		return;
	if (s->branch.eret && to && returns_from_svc(s, to))
		flags = AUX_BRANCH | AUX_RETURN | AUX_SYSCALLRET;
	add_branch(s, at, &s->branch_task, s->branch.ip, to, flags | edge);
	s->branch.flags = 0;
}

static void set_branch(struct cs_flow_source *s, const struct cs_branch *branch)
{
	s->branch = *branch;
	s->branch_task = s->task;
}

/* The trace is interrupted here. */
static void discontinue(struct cs_flow_source *s, size_t at)
{
	if (s->branch.flags)
		resolve(s, at, 0, AUX_TRACE_END);
	else if (s->last_end)
		add_branch(s, at, &s->task, s->last_ip, 0, AUX_BRANCH | AUX_TRACE_END);
	s->last_end = s->last_ip = 0;
	s->insns_known = false;
}

static void range(struct cs_flow_source *s, size_t at, const ocsd_generic_trace_elem *elem)
{
	struct cs_flow *f = flow_of(s);
	struct cs_pending_event *e;
	struct cs_branch branch;

	s->task.cpumode =
		is_user(s, elem->st_addr) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	if (s->begins)
		add_branch(s, at, &s->task, 0, elem->st_addr, AUX_BRANCH | AUX_TRACE_BEGIN);
	s->begins = false;
	resolve(s, at, elem->st_addr, 0);
	if (f->want & (AUX_WANT_BLOCKS | AUX_WANT_INSNS)) {
		e = add_of(s, AUX_EVENT_BLOCK, at);
		if (!e)
			return;
		e->event.ip = elem->st_addr;
		e->event.insns = elem->num_instr_range;
		e->event.flags = s->in_tx ? AUX_IN_TX : 0;
		e->isa = elem->isa;
	}
	s->reads = 0;
	s->insns += elem->num_instr_range;
	s->last_ip = elem->en_addr - elem->last_instr_sz;
	s->last_end = elem->en_addr;
	branch = cs_branch_of_range(elem);
	set_branch(s, &branch);
}

static void exception(struct cs_flow_source *s, size_t at, const ocsd_generic_trace_elem *elem)
{
	struct cs_branch branch = cs_branch_of_exception(s->source.unit, elem,
							 s->task.cpumode == PERF_RECORD_MISC_USER,
							 s->last_ip, s->last_end);

	if (s->begins) {
		add_branch(s, at, &s->task, 0, branch.ip, AUX_BRANCH | AUX_TRACE_BEGIN);
		s->begins = false;
	}
	resolve(s, at, elem->excep_ret_addr ? elem->en_addr : 0, 0);
	set_branch(s, &branch);
	/* The kernel is the target, which is not traced. The trace of other CPUs goes on meanwhile.
	 */
	if (!s->source.walk->setup.of->kernel)
		resolve(s, at, 0, AUX_TRACE_END);
	s->last_end = s->last_ip = 0;
}

static void context(struct cs_flow_source *s, const ocsd_pe_context *c)
{
	uint32_t tid = UINT32_MAX;

	s->el_known = c->el_valid;
	s->user = c->exception_level == ocsd_EL0;
	if (s->el_known)
		s->task.cpumode = s->user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	if (s->source.unit->tid_source == CS_TID_CONTEXT && c->ctxt_id_valid)
		tid = c->context_id;
	else if (s->source.unit->tid_source == CS_TID_VMID && c->vmid_valid)
		tid = c->vmid;
	set_task(s, tid);
}

static void missing(struct cs_flow_source *s, size_t at, uint64_t addr)
{
	enum aux_cause cause = s->refused ? AUX_CAUSE_TRACE : AUX_CAUSE_CODE;
	char text[160];

	resolve(s, at, addr, 0);
	if (s->refused && s->reads_max > READS_MIN)
		s->reads_max /= 2;
	if (s->refused)
		snprintf(text, sizeof(text), "no branch in the code before 0x%" PRIx64, addr);
	else if (*s->missing)
		snprintf(text, sizeof(text), "no code of %s at 0x%" PRIx64, s->missing, addr);
	else
		snprintf(text, sizeof(text), "no map at 0x%" PRIx64, addr);
	s->refused = false;
	add_error(flow_of(s), s, at, cause, text);
	s->last_end = s->last_ip = 0;
	s->begins = false;
	s->insns_known = false;
}

static void stamp(struct cs_flow_source *s, uint64_t value)
{
	uint64_t time = cs_setup_time(&s->source.walk->setup, s->source.unit, value);

	if (!time)
		return;
	s->time = time;
	set_task(s, s->packet_tid);
}

static void transaction(struct cs_flow_source *s, size_t at, trace_memtrans_t what)
{
	if (what == OCSD_MEM_TRANS_FAIL && s->last_ip)
		set_branch(s, &(struct cs_branch){.ip = s->last_ip,
						  .flags = AUX_BRANCH | AUX_TX_ABORT});
	(void)at;
	s->in_tx = what == OCSD_MEM_TRANS_TRACE_INIT || what == OCSD_MEM_TRANS_START;
}

static void trace_on(struct cs_flow_source *s, size_t at, trace_on_reason_t reason)
{
	discontinue(s, at);
	if (reason == TRACE_ON_OVERFLOW)
		add_of(s, AUX_EVENT_LOST, at);
	s->begins = true;
}

/* Behind the stretch only the branch that waits at its end is told. */
static void finish_branch(struct cs_flow_source *s, const ocsd_generic_trace_elem *elem)
{
	size_t at = s->source.walk->stretch->len;

	switch (elem->elem_type) {
	case OCSD_GEN_TRC_ELEM_TRACE_ON:
	case OCSD_GEN_TRC_ELEM_NO_SYNC: resolve(s, at, 0, AUX_TRACE_END); break;
	case OCSD_GEN_TRC_ELEM_EO_TRACE: resolve(s, at, 0, 0); break;
	case OCSD_GEN_TRC_ELEM_ADDR_NACC:
	case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
	case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH: resolve(s, at, elem->st_addr, 0); break;
	case OCSD_GEN_TRC_ELEM_EXCEPTION:
		resolve(s, at, elem->excep_ret_addr ? elem->en_addr : 0, 0);
		break;
	default: break;
	}
}

static bool waits(struct cs_walk *w)
{
	for (size_t i = 0; i < CS_IDS; i++)
		if (w->sources[i] && ((struct cs_flow_source *)w->sources[i])->branch.flags)
			return true;
	return false;
}

static void on_element(struct cs_source *source, size_t at, const ocsd_generic_trace_elem *elem)
{
	struct cs_flow_source *s = (struct cs_flow_source *)source;

	if (source->walk->beyond) {
		finish_branch(s, elem);
		return;
	}
	if (elem->has_cc)
		s->cycles += elem->cycle_count;
	switch (elem->elem_type) {
	case OCSD_GEN_TRC_ELEM_TRACE_ON: trace_on(s, at, elem->trace_on_reason); break;
	case OCSD_GEN_TRC_ELEM_NO_SYNC:
	case OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN: discontinue(s, at); break;
	case OCSD_GEN_TRC_ELEM_EO_TRACE: resolve(s, at, 0, 0); break;
	case OCSD_GEN_TRC_ELEM_PE_CONTEXT: context(s, &elem->context); break;
	case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
	case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH: range(s, at, elem); break;
	case OCSD_GEN_TRC_ELEM_ADDR_NACC: missing(s, at, elem->st_addr); break;
	case OCSD_GEN_TRC_ELEM_EXCEPTION: exception(s, at, elem); break;
	case OCSD_GEN_TRC_ELEM_TIMESTAMP: stamp(s, elem->timestamp); break;
	case OCSD_GEN_TRC_ELEM_MEMTRANS: transaction(s, at, elem->mem_trans); break;
	default: break;
	}
}

/* --- packets and code ----------------------------------------------------------------------------
 */

static void on_begin(struct cs_source *source)
{
	struct cs_flow_source *s = (struct cs_flow_source *)source;

	s->packet_tid = UINT32_MAX;
	s->reads_max = READS_MAX;
	s->task.cpumode = PERF_RECORD_MISC_USER;
	set_task(s, UINT32_MAX);
}

static void on_packet(struct cs_source *source, size_t at, size_t end, const void *packet,
		      size_t size)
{
	struct cs_flow_source *s = (struct cs_flow_source *)source;
	enum cs_packet_kind kind = cs_packet_kind(source->unit, packet);
	char name[96], text[160];

	(void)end;
	(void)size;
	if (source->walk->beyond && kind != CS_PACKET_CONTEXT)
		return;
	switch (kind) {
	case CS_PACKET_CONTEXT: cs_packet_tid(source->unit, packet, &s->packet_tid); break;
	case CS_PACKET_BAD:
		cs_packet_text(source->tree, packet, name, sizeof(name));
		snprintf(text, sizeof(text), "bad packet: %s", name);
		add_error(flow_of(s), s, at, AUX_CAUSE_TRACE, text);
		break;
	case CS_PACKET_UNSYNCED:
		if (!s->unsynced)
			add_error(flow_of(s), s, at, AUX_CAUSE_OTHER,
				  "trace before a synchronisation point");
		break;
	default: break;
	}
	s->unsynced = kind == CS_PACKET_BAD || kind == CS_PACKET_UNSYNCED;
}

static void on_fault(struct cs_walk *w, struct cs_source *source, size_t at, size_t end,
		     const char *text)
{
	(void)end;
	if (w->beyond)
		return;
	if (text)
		add_error(w->user, (struct cs_flow_source *)source, at, AUX_CAUSE_TRACE, text);
	else
		add(w->user, AUX_EVENT_LOST, at);
}

static uint32_t on_read(struct cs_source *source, uint64_t addr, uint32_t len, uint8_t *buf)
{
	struct cs_flow_source *s = (struct cs_flow_source *)source;
	const struct aux_code *code = flow_of(s)->code;
	struct aux_task task = s->task;
	const char *name = NULL;
	int n = -ENOENT;

	s->refused = ++s->reads > s->reads_max;
	if (s->refused)
		return 0;
	/* The context of these instructions may wait behind them to be delivered. */
	if (s->packet_tid != UINT32_MAX && s->packet_tid != task.tid)
		task = task_at(s, s->packet_tid);
	task.cpumode = addr & KERNEL_BIT ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	if (code)
		n = code->read(code->arg, &task, now(s), addr, buf, len, &name);
	if (n > 0)
		return (uint32_t)n;
	snprintf(s->missing, sizeof(s->missing), "%s", name ? name : "");
	return 0;
}

static const struct cs_walk_ops ops = {
	.source_size = sizeof(struct cs_flow_source),
	.waits = waits,
	.begin = on_begin,
	.packet = on_packet,
	.element = on_element,
	.read = on_read,
	.fault = on_fault,
};

/* --- the instance --------------------------------------------------------------------------------
 */

static void drop_queue(struct cs_flow *f)
{
	for (size_t i = f->taken; i < f->nr; i++)
		free(f->queue[i].text);
	f->nr = f->taken = 0;
}

static void flow_end(struct aux_decoder *d)
{
	struct cs_flow *f = (struct cs_flow *)d;

	cs_walk_release(&f->walk);
	drop_queue(f);
	free(f->queue);
	free(f);
}

int cs_flow_begin(const struct aux_setup *setup, const struct aux_stretch *stretch,
		  const struct aux_code *code, unsigned int want, struct aux_decoder **ret)
{
	struct cs_flow *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return -ENOMEM;
	f->instance.end = flow_end;
	f->code = code;
	f->want = want;
	rc = cs_walk_init(&f->walk, setup, stretch, &ops, f);
	if (rc)
		flow_end((struct aux_decoder *)f);
	else
		*ret = (struct aux_decoder *)f;
	return rc;
}

/* Returns the length of the instruction at @insn. */
static uint8_t insn_len(ocsd_isa isa, const uint8_t insn[4])
{
	uint16_t half = (uint16_t)(insn[0] | insn[1] << 8);

	return isa == ocsd_isa_thumb2 && half < THUMB_WIDE ? 2 : 4;
}

/* Takes the next instruction of the range in front. */
static void take_insn(struct cs_flow *f, const struct cs_pending_event *p, struct aux_event *ret)
{
	int n = -ENOENT;

	*ret = p->event;
	ret->kind = AUX_EVENT_INSN;
	ret->ip = f->insn_ip;
	ret->insns = 0;
	if (f->code)
		n = f->code->read(f->code->arg, &ret->task, p->time, ret->ip, ret->insn, 4, NULL);
	ret->insn_len = insn_len(p->isa, ret->insn);
	f->insn_ip += ret->insn_len;
	if (n < ret->insn_len)
		ret->insn_len = 0;
	f->insns_left--;
}

/* Takes the event in front. Returns false if the user does not want it. */
static bool take(struct cs_flow *f, struct aux_event *ret)
{
	struct cs_pending_event *p = &f->queue[f->taken++];

	*ret = p->event;
	if (p->text) {
		snprintf(ret->text, sizeof(ret->text), "%s", p->text);
		free(p->text);
		p->text = NULL;
	}
	if (ret->kind != AUX_EVENT_BLOCK)
		return true;
	if (f->want & AUX_WANT_INSNS) {
		f->insn_ip = ret->ip;
		f->insns_left = ret->insns;
	}
	return f->want & AUX_WANT_BLOCKS;
}

int cs_flow_next(struct aux_decoder *d, struct aux_event *ret)
{
	struct cs_flow *f = (struct cs_flow *)d;
	int rc;

	for (;;) {
		if (f->rc)
			return f->rc;
		if (f->insns_left) {
			take_insn(f, &f->queue[f->taken - 1], ret);
			return 1;
		}
		if (f->taken < f->nr) {
			if (take(f, ret))
				return 1;
			continue;
		}
		f->nr = f->taken = 0;
		rc = cs_walk_step(&f->walk);
		if (rc < 0 || (!rc && !f->nr))
			return rc;
	}
}
