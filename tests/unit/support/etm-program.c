// SPDX-License-Identifier: Apache-2.0
#include "etm-program.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FAULT 12 /* data fault */
#define IRQ   14
#define CALL  2

#define VECTOR_SYNC 0
#define VECTOR_IRQ  8

enum op { NOP, B, BCOND, CBZ, TBNZ, BL, BLR, BR, RET, SVC, ERET, NONE };

struct insn {
	enum op op;
	int to; /* of direct branches: index in the same code */
};

/* Functions begin at multiples of 16. */
static const struct insn user[] = {
	[0] = {NOP},   [1] = {BL, 16}, [2] = {BCOND, 5}, [3] = {NOP},	     [4] = {CBZ, 2},
	[5] = {BLR},   [6] = {SVC},    [7] = {BR},	 [8] = {NOP},	     [9] = {TBNZ, 0},
	[10] = {NOP},  [11] = {B, 0},  [16] = {NOP},	 [17] = {BCOND, 19}, [18] = {NOP},
	[19] = {RET},  [32] = {NOP},   [33] = {BL, 16},	 [34] = {CBZ, 33},   [35] = {RET},
	[12] = {NONE}, [13] = {NONE},  [14] = {NONE},	 [15] = {NONE},	     [20 ... 31] = {NONE},
};
static const struct insn kernel[] = {
	[0] = {NOP},  [1] = {BL, 16}, [2] = {BCOND, 4},	    [3] = {NOP},  [4] = {ERET},
	[5] = {NONE}, [6] = {NONE},   [7] = {NONE},	    [8] = {NOP},  [9] = {CBZ, 8},
	[10] = {BLR}, [11] = {ERET},  [12 ... 15] = {NONE}, [16] = {NOP}, [17] = {RET},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static uint32_t encode(const struct insn *code, size_t at)
{
	uint32_t off = (uint32_t)(code[at].to - (int)at);

	switch (code[at].op) {
	case NOP: return 0xd503201f;
	case B: return 0x14000000 | (off & 0x3ffffff);
	case BCOND: return 0x54000000 | (off & 0x7ffff) << 5;
	case CBZ: return 0xb4000000 | (off & 0x7ffff) << 5;
	case TBNZ: return 0x37000000 | (off & 0x3fff) << 5;
	case BL: return 0x94000000 | (off & 0x3ffffff);
	case BLR: return 0xd63f0020;
	case BR: return 0xd61f0040;
	case RET: return 0xd65f03c0;
	case SVC: return 0xd4000001;
	case ERET: return 0xd69f03e0;
	case NONE: break;
	}
	return 0;
}

/* --- code for decoders ---------------------------------------------------------------------------
 */

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	bool in_kernel = addr >= ETM_KERNEL;
	uint64_t base = in_kernel ? ETM_KERNEL : ETM_USER;
	const struct insn *code = in_kernel ? kernel : user;
	size_t size = 4 * (in_kernel ? COUNT(kernel) : COUNT(user)), n = 0;

	(void)task;
	(void)time;
	if (ret_missing)
		*ret_missing = in_kernel && arg ? ETM_MISSING : NULL;
	if (addr < base || addr - base >= size || (in_kernel && arg))
		return -ENOENT;
	for (addr -= base; n < len && addr < size; n++, addr++) {
		uint32_t insn = encode(code, addr / 4);

		((uint8_t *)buf)[n] = (uint8_t)(insn >> 8 * (addr % 4));
	}
	return (int)n;
}

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	(void)arg;
	(void)cpu;
	(void)time;
	(void)ret;
	return false;
}

struct aux_code etm_program_code(void *kernel_missing)
{
	return (struct aux_code){read_code, task_on, kernel_missing};
}

/* --- runs ----------------------------------------------------------------------------------------
 */

struct simulation {
	const struct etm_plan *plan;
	struct etm_run *run;
	uint32_t seed;
	uint64_t pc, elr;
	uint64_t block; /* where the packets so far lead to; from there to pc is not told yet */
	uint64_t stack[64];
	size_t depth;	  /* of calls in user space */
	size_t in_kernel; /* depth, as the exception came */
	uint64_t stamp;
};

static uint32_t draw(struct simulation *s, uint32_t below)
{
	s->seed = s->seed * 1664525u + 1013904223u;
	return (s->seed >> 8) % below;
}

static void tell(struct simulation *s, uint64_t ip, uint64_t to, uint32_t flags)
{
	struct etm_run *r = s->run;

	assert(!array_grow(&r->branches, &r->cap, r->nr + 1, sizeof(*r->branches)));
	r->branches[r->nr++] = (struct etm_true_branch){ip, to, AUX_BRANCH | flags};
}

static bool traced(const struct simulation *s)
{
	return !s->plan->user_only || s->pc < ETM_KERNEL;
}

static void take(struct simulation *s, unsigned int type, uint64_t ip, uint64_t back,
		 uint32_t flags)
{
	struct etm_writer *w = &s->run->writer;
	uint64_t vector = ETM_KERNEL + 4 * (type == IRQ ? VECTOR_IRQ : VECTOR_SYNC);

	etm_exception(w, type, back);
	s->elr = back;
	s->in_kernel = s->depth;
	s->pc = vector;
	if (s->plan->user_only) {
		tell(s, ip, 0, flags | AUX_TRACE_END);
		return;
	}
	tell(s, ip, vector, flags);
	etm_context(w, vector, 1, s->plan->tid);
}

static void eret(struct simulation *s)
{
	struct etm_writer *w = &s->run->writer;
	uint64_t ip = s->pc;
	bool syscall = s->elr > ETM_USER && user[(s->elr - ETM_USER) / 4 - 1].op == SVC;

	s->pc = s->elr;
	if (s->plan->user_only) {
		w->el = 0;
		etm_trace_on(w, s->pc);
		tell(s, 0, s->pc, AUX_TRACE_BEGIN);
		return;
	}
	etm_atom(w, true);
	etm_exception_return(w);
	etm_context(w, s->pc, 0, s->plan->tid);
	tell(s, ip, s->pc, AUX_RETURN | (syscall ? AUX_SYSCALLRET : AUX_INTERRUPT));
}

static void call(struct simulation *s, uint64_t to, bool indirect)
{
	uint64_t ip = s->pc;

	assert(s->depth < COUNT(s->stack));
	s->stack[s->depth++] = ip + 4;
	s->pc = to;
	if (!traced(s))
		return;
	etm_atom(&s->run->writer, true);
	if (indirect)
		etm_target(&s->run->writer, to);
	tell(s, ip, to, AUX_CALL);
}

static void jump(struct simulation *s, uint64_t to, bool indirect, uint32_t flags)
{
	uint64_t ip = s->pc;

	s->pc = to;
	if (!traced(s))
		return;
	etm_atom(&s->run->writer, true);
	if (indirect)
		etm_target(&s->run->writer, to);
	tell(s, ip, to, flags);
}

static void step(struct simulation *s)
{
	bool in_kernel = s->pc >= ETM_KERNEL;
	uint64_t base = in_kernel ? ETM_KERNEL : ETM_USER;
	const struct insn *insn = &(in_kernel ? kernel : user)[(s->pc - base) / 4];
	uint64_t to = base + 4 * (uint64_t)insn->to;

	if (!in_kernel && !draw(s, 50)) {
		take(s, IRQ, s->pc, s->pc, AUX_CALL | AUX_ASYNC | AUX_INTERRUPT);
		s->block = s->pc;
		return;
	}
	if (!in_kernel && !draw(s, 70)) {
		take(s, FAULT, s->pc, s->pc, AUX_CALL | AUX_INTERRUPT);
		s->block = s->pc;
		return;
	}
	s->run->insns += traced(s);
	switch (insn->op) {
	case NOP: s->pc += 4; return;
	case B: jump(s, to, false, 0); break;
	case BCOND:
	case CBZ:
	case TBNZ:
		if (draw(s, 2)) {
			jump(s, to, false, AUX_CONDITIONAL);
			break;
		}
		if (traced(s))
			etm_atom(&s->run->writer, false);
		s->pc += 4;
		break;
	case BL: call(s, to, false); break;
	case BLR: call(s, base + 4 * (in_kernel || draw(s, 2) ? 16 : 32), true); break;
	case BR: jump(s, base + 4 * (draw(s, 2) ? 0 : 9), true, 0); break;
	case RET:
		assert(s->depth);
		jump(s, s->stack[--s->depth], true, AUX_RETURN);
		break;
	case SVC: take(s, CALL, s->pc, s->pc + 4, AUX_CALL | AUX_SYSCALLRET); break;
	case ERET: eret(s); break;
	case NONE: assert(0);
	}
	s->block = s->pc;
}

void etm_run(const struct etm_plan *plan, struct etm_run *ret)
{
	struct simulation s = {.plan = plan,
			       .run = ret,
			       .seed = plan->seed,
			       .pc = ETM_USER,
			       .block = ETM_USER,
			       .stamp = ETM_STAMP};
	struct etm_writer *w = &ret->writer;

	memset(ret, 0, sizeof(*ret));
	w->tid = plan->tid;
	etm_sync(w, s.pc);
	etm_time(w, s.stamp++);
	etm_trace_on(w, s.pc);
	tell(&s, 0, s.pc, AUX_TRACE_BEGIN);
	for (size_t i = 1; i <= plan->steps; i++) {
		step(&s);
		if (plan->sync_every && i % plan->sync_every == 0 && traced(&s)) {
			etm_sync(w, s.block);
			etm_time(w, s.stamp++);
		} else if (!draw(&s, 40)) {
			etm_time(w, s.stamp++);
		}
	}
	etm_flush(w);
}

void etm_run_release(struct etm_run *r)
{
	buf_release(&r->writer.out);
	free(r->branches);
}
