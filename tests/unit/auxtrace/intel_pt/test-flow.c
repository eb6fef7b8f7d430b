// SPDX-License-Identifier: Apache-2.0
/* Events of Intel PT that is written here, for a small program in memory. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "auxtrace/intel_pt/intel_pt.h"
#include "perfdata/aux_record.h"

#include "pt_trace.h"

/* ns are half of the ticks. */
static const uint64_t words[] = {8, 1, 1, 0, 1, 1 << 10, 1 << 11, 0, 0, 1, 1 << 9, 0xf << 14, 2, 2};
static const struct aux_setup setup = {
	.type = PD_AUXTRACE_INTEL_PT,
	.priv = words,
	.nr_priv = sizeof(words) / sizeof(*words),
	.user = true,
	.kernel = true,
};

/* --- the program ---------------------------------------------------------------------------------
 */

#define USER   0x401000ull
#define KERNEL 0xffffffff81000000ull

/* User code by its offset from USER. */
enum {
	MAIN = 0x00,
	CALL = 0x02,
	AFTER_CALL = 0x07,
	JCC = 0x0a,
	INDIRECT = 0x0c,
	TARGET = 0x20,
	SYSCALL = 0x22,
	AFTER_SYSCALL = 0x24,
	SPIN = 0x26,
	FUNCTION = 0x40,
	RETURN = 0x41,
};

static const uint8_t user_code[0x50] = {
	[MAIN] = 0x31,		0xc0,		  /* xor %eax,%eax */
	[CALL] = 0xe8,		0x39, 0,    0, 0, /* call FUNCTION */
	[AFTER_CALL] = 0x48,	0xff, 0xc0,	  /* inc %rax */
	[JCC] = 0x75,		0xf4,		  /* jne MAIN */
	[INDIRECT] = 0xff,	0xe1,		  /* jmp *%rcx */
	[TARGET] = 0x90,	0x90,		  /* nop */
	[SYSCALL] = 0x0f,	0x05,		  /* syscall */
	[AFTER_SYSCALL] = 0xeb, 0xda,		  /* jmp MAIN */
	[SPIN] = 0xeb,		0xfe,		  /* jmp SPIN */
	[FUNCTION] = 0x90,			  /* nop */
	[RETURN] = 0xc3,			  /* ret */
};

/* Another process has this at USER: nop; jmp to itself + 16; there an indirect call. */
static const uint8_t other_code[0x50] = {[MAIN] = 0x90, 0xeb, 0x0d, [0x10] = 0xff, 0xd0};

/* Kernel: entry: nop; sysret; at 0x10 an interrupt's: nop; iretq. At 0x20 mov %rax,%cr3; sysret. */
static const uint8_t kernel_code[0x50] = {[0x00] = 0x90, 0x48, 0x0f,	      0x07, [0x10] = 0x90,
					  0x48,		 0xcf, [0x20] = 0x0f, 0x22, 0xd8,
					  0x48,		 0x0f, 0x07};

/* At 0xc000: code of 32 bits: dec %eax; call *%eax; a far jump. In 64 bits the first is a REX. */
static const uint8_t old_code[0x10] = {0x48, 0xff, 0xd0};
#define OLD   0xc000ull
#define MOVES 0x601000

/* The process with this pid has user_code, any other one other_code. */
#define PID 100

struct machine {
	uint64_t switched; /* from then on, the other process runs */
	uint64_t patched;  /* from then on, the kernel returns at once */
	unsigned int reads;
	uint8_t moves[40 * 12]; /* code at MOVES */
};

static bool is_patched(const struct machine *m, uint64_t time)
{
	return m->patched && time >= m->patched;
}

static uint64_t version(void *arg, uint64_t time)
{
	return is_patched(arg, time);
}

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	struct machine *m = arg;
	const struct {
		uint64_t at;
		const uint8_t *code;
		size_t size;
	} maps[] = {
		{USER, task->pid == PID || task->pid == UINT32_MAX ? user_code : other_code,
		 sizeof(user_code)},
		{KERNEL, is_patched(m, time) ? kernel_code + 1 : kernel_code,
		 sizeof(kernel_code) - 1},
		{OLD, old_code, sizeof(old_code)},
		{MOVES, m->moves, sizeof(m->moves)},
	};

	m->reads++;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		uint64_t at = addr - maps[i].at;

		if (at >= maps[i].size)
			continue;
		assert_int_equal(task->cpumode, addr == KERNEL + at ? PERF_RECORD_MISC_KERNEL
								    : PERF_RECORD_MISC_USER);
		len = len < maps[i].size - at ? len : maps[i].size - at;
		memcpy(buf, maps[i].code + at, len);
		return len;
	}
	*ret_missing = addr >> 63 ? NULL : "/lib/gone.so";
	return -ENOENT;
}

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	struct machine *m = arg;

	assert_int_equal(cpu, 3);
	ret->pid = ret->tid = m->switched && time >= m->switched ? 2 * PID : PID;
	return true;
}

/* --- what is expected ----------------------------------------------------------------------------
 */

struct run {
	struct pt_trace t;
	struct machine machine;
	struct aux_stretch stretch;
	struct aux_code code;
	struct aux_decoder *d;
};

static void begin(struct run *r, size_t len, unsigned int want)
{
	r->stretch = (struct aux_stretch){
		.data = r->t.data, .len = len, .offset = 1000, .cpu = 3, .tid = UINT32_MAX};
	r->code = (struct aux_code){
		.read = read_code, .task_on = task_on, .version = version, .arg = &r->machine};
	assert_int_equal(aux_intel_pt_decoder.begin(&setup, &r->stretch, &r->code, want, &r->d), 0);
}

static int setup_run(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	*state = r;
	if (r)
		pt_trace_init(&r->t, 1 << 16);
	return r ? 0 : -1;
}

static int teardown_run(void **state)
{
	struct run *r = *state;

	aux_intel_pt_decoder.end(r->d);
	pt_trace_release(&r->t);
	free(r);
	return 0;
}

static struct aux_event next(struct run *r)
{
	struct aux_event e;
	int rc;

	memset(&e, 0xa5, sizeof(e)); /* nothing may depend on what was there */
	rc = aux_intel_pt_decoder.next(r->d, &e);
	if (rc != 1)
		fail_msg("%d, not an event", rc);
	return e;
}

static struct aux_event expect_branch(struct run *r, uint64_t ip, uint64_t to, const char *flags)
{
	struct aux_event e = next(r);
	char name[32], text[200];

	snprintf(text, sizeof(text), "%d %" PRIx64 " %" PRIx64 " %s", e.kind, e.ip, e.to,
		 aux_flags_name(e.flags, name, sizeof(name)));
	if (e.kind != AUX_EVENT_BRANCH || e.ip != ip || e.to != to || strcmp(name, flags))
		fail_msg("%s, not %" PRIx64 " %" PRIx64 " %s; text: %.100s", text, ip, to, flags,
			 e.kind == AUX_EVENT_ERROR ? e.text : "");
	assert_true(e.offset >= 1000 && e.offset <= 1000 + r->stretch.len);
	return e;
}

static void expect_text(struct run *r, enum aux_event_kind kind, uint64_t ip, const char *text)
{
	struct aux_event e = next(r);

	assert_int_equal(e.kind, kind);
	assert_string_equal(e.text, text);
	assert_int_equal(e.ip, ip);
}

static void expect_end(struct run *r)
{
	struct aux_event e;

	assert_int_equal(aux_intel_pt_decoder.next(r->d, &e), 0);
	assert_int_equal(aux_intel_pt_decoder.next(r->d, &e), 0);
}

/* --- tests ---------------------------------------------------------------------------------------
 */

/* Twice around the loop, out of it, a system call and back. */
static void put_loop(struct pt_trace *t)
{
	pt_trace_psb(t, 2000, USER);
	pt_trace_cond(t, true); /* the return */
	pt_trace_cond(t, true); /* jne */
	pt_trace_ip(t, ppt_tip, USER + AFTER_CALL);
	pt_trace_cond(t, false);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	pt_trace_ip(t, ppt_tip, KERNEL);
	pt_trace_tsc(t, 3000);
	pt_trace_ip(t, ppt_tip, USER + AFTER_SYSCALL);
	pt_trace_cond(t, true);
	pt_trace_flush(t);
}

static void test_branches(void **state)
{
	struct run *r = *state;
	struct aux_event e;

	put_loop(&r->t);
	begin(r, r->t.len, AUX_WANT_BRANCHES);
	e = expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	assert_int_equal(e.insns, 2);
	assert_int_equal(e.time, 1000);
	assert_int_equal(e.cpu_plus_1, 0);
	assert_int_equal(e.task.pid, PID);
	assert_int_equal(e.task.cpumode, PERF_RECORD_MISC_USER);
	assert_int_equal(e.insn_len, 5);
	assert_memory_equal(e.insn, user_code + CALL, 5);
	e = expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	assert_int_equal(e.insns, 2);
	e = expect_branch(r, USER + JCC, USER + MAIN, "jcc");
	assert_int_equal(e.insns, 2);
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	/* The branch that was not taken is none. */
	e = expect_branch(r, USER + INDIRECT, USER + TARGET, "jmp");
	assert_int_equal(e.insns, 3);
	expect_branch(r, USER + SYSCALL, KERNEL, "syscall");
	e = expect_branch(r, KERNEL + 1, USER + AFTER_SYSCALL, "sysret");
	assert_int_equal(e.task.cpumode, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(e.time, 1500);
	expect_branch(r, USER + AFTER_SYSCALL, USER + MAIN, "jmp");
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	/* Nothing is guessed behind the last packet. */
	expect_end(r);
}

static void test_insns_and_blocks(void **state)
{
	static const uint8_t at[] = {MAIN, CALL, FUNCTION, RETURN, AFTER_CALL, JCC};
	static const uint8_t len[] = {2, 5, 1, 1, 3, 2};
	struct run *r = *state;
	struct aux_event e;

	put_loop(&r->t);
	begin(r, r->t.len, AUX_WANT_INSNS);
	for (size_t i = 0; i < sizeof(at); i++) {
		e = next(r);
		assert_int_equal(e.kind, AUX_EVENT_INSN);
		assert_int_equal(e.ip, USER + at[i]);
		assert_int_equal(e.insn_len, len[i]);
		assert_memory_equal(e.insn, user_code + at[i], len[i]);
		assert_int_equal(e.flags & AUX_CALL, at[i] == CALL ? AUX_CALL : 0);
	}
	aux_intel_pt_decoder.end(r->d);
	begin(r, r->t.len, AUX_WANT_BLOCKS | AUX_WANT_BRANCHES);
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_BLOCK);
	assert_int_equal(e.ip, USER + MAIN);
	assert_int_equal(e.insns, 2);
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_BLOCK);
	assert_int_equal(e.ip, USER + FUNCTION);
	assert_int_equal(e.insns, 2);
}

static uint64_t mix(uint64_t sum, const struct aux_event *e)
{
	return (sum ^ e->ip ^ e->to << 7 ^ e->flags) * 0x9e3779b97f4a7c15ull;
}

/* Branches are the same whether or not instructions are wanted. */
static void test_same_branches(void **state)
{
	struct run *r = *state;
	uint64_t sums[2] = {0}, insns[2] = {0};
	struct aux_event e;

	put_loop(&r->t);
	for (int i = 0; i < 2; i++) {
		begin(r, r->t.len, AUX_WANT_BRANCHES | AUX_WANT_BLOCKS | (i ? AUX_WANT_INSNS : 0));
		while (aux_intel_pt_decoder.next(r->d, &e) == 1) {
			if (e.kind == AUX_EVENT_BRANCH)
				sums[i] = mix(sums[i], &e);
			if (e.kind == AUX_EVENT_BLOCK)
				insns[i] += e.insns;
		}
		aux_intel_pt_decoder.end(r->d);
		r->d = NULL;
	}
	assert_true(sums[0] == sums[1]);
	assert_int_equal(insns[0], insns[1]);
}

static void test_interrupts(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	pt_trace_psb(t, 2000, USER);
	pt_trace_ip(t, ppt_fup, USER + FUNCTION); /* in front of the nop: the call is done */
	pt_trace_ip(t, ppt_tip, KERNEL + 0x10);
	pt_trace_ip(t, ppt_tip, USER + FUNCTION);
	pt_trace_ip(t, ppt_fup, USER + RETURN);
	pt_trace_ip(t, ppt_tip_pgd, 0);
	pt_trace_ip(t, ppt_tip_pge, USER + RETURN);
	pt_trace_cond(t, true); /* the call is on the stack of returns */
	pt_trace_cond(t, false);
	pt_trace_ip(t, ppt_tip_pgd, 0);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + FUNCTION, KERNEL + 0x10, "hw int");
	expect_branch(r, KERNEL + 0x11, USER + FUNCTION, "iret");
	expect_branch(r, USER + RETURN, 0, "tr end  async");
	expect_branch(r, 0, USER + RETURN, "tr strt");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	expect_branch(r, USER + INDIRECT, 0, "tr end");
	expect_end(r);
}

/* A run of long instructions: an interrupt is found behind 255 bytes of them, too. */
static void test_long_instructions(void **state)
{
	static const uint8_t mov[12] = {0x48, 0xc7, 0x84, 0x24}; /* movq $0, 0(%rsp) */
	struct run *r = *state;

	for (size_t i = 0; i < sizeof(r->machine.moves); i++)
		r->machine.moves[i] = mov[i % sizeof(mov)];
	pt_trace_psb(&r->t, 2000, MOVES);
	pt_trace_ip(&r->t, ppt_fup, MOVES + 25 * sizeof(mov));
	pt_trace_ip(&r->t, ppt_tip, KERNEL + 0x10);
	begin(r, r->t.len, AUX_WANT_BRANCHES | AUX_WANT_INSNS);
	for (size_t i = 0; i < 25; i++) {
		struct aux_event e = next(r);

		assert_int_equal(e.kind, AUX_EVENT_INSN);
		assert_int_equal(e.ip, MOVES + i * sizeof(mov));
		assert_int_equal(e.insn_len, sizeof(mov));
		assert_memory_equal(e.insn, mov, sizeof(mov));
	}
	expect_branch(r, MOVES + 25 * sizeof(mov), KERNEL + 0x10, "hw int");
}

/* A system call where the kernel is not traced. */
static void test_edges(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	pt_trace_psb(t, 2000, USER + TARGET);
	pt_trace_ip(t, ppt_tip_pgd, 0);
	pt_trace_ip(t, ppt_tip_pge, USER + AFTER_SYSCALL);
	pt_trace_ip(t, ppt_tip, USER + AFTER_CALL);
	pt_trace_ip(t, ppt_tip_pgd, USER + MAIN);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + SYSCALL, 0, "tr end  syscall");
	expect_branch(r, 0, USER + AFTER_SYSCALL, "tr strt");
	expect_branch(r, USER + AFTER_SYSCALL, USER + MAIN, "jmp");
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	expect_branch(r, USER + JCC, USER + MAIN, "tr end  jcc");
	expect_end(r);
}

static void test_tasks(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;

	r->machine.switched = 1200;
	pt_trace_psb(t, 2000, USER + TARGET);
	pt_trace_ip(t, ppt_tip, KERNEL + 0x20);
	pt_trace_tsc(t, 2500);
	pt_trace_pip(t, 0x5000);
	pt_trace_ip(t, ppt_tip, USER + MAIN);
	pt_trace_ip(t, ppt_tip, USER + MAIN);
	begin(r, t->len, AUX_WANT_BRANCHES);
	e = expect_branch(r, USER + SYSCALL, KERNEL + 0x20, "syscall");
	assert_int_equal(e.task.pid, PID);
	expect_branch(r, KERNEL + 0x23, USER + MAIN, "sysret");
	e = expect_branch(r, USER + 1, USER + 0x10, "jmp");
	assert_int_equal(e.task.pid, 2 * PID);
	expect_branch(r, USER + 0x10, USER + MAIN, "call");
	expect_end(r);
}

static void test_one_thread(void **state)
{
	struct run *r = *state;

	put_loop(&r->t);
	begin(r, r->t.len, AUX_WANT_BRANCHES);
	aux_intel_pt_decoder.end(r->d);
	r->stretch.cpu = UINT32_MAX;
	r->stretch.tid = 77;
	assert_int_equal(
		aux_intel_pt_decoder.begin(&setup, &r->stretch, &r->code, AUX_WANT_BRANCHES, &r->d),
		0);
	for (int i = 0; i < 11; i++) {
		struct aux_event e = next(r);

		assert_int_equal(e.kind, AUX_EVENT_BRANCH);
		assert_int_equal(e.task.tid, 77);
		assert_true(e.task.pid == UINT32_MAX);
	}
	expect_end(r);
}

static void test_overflow(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;

	pt_trace_psb(t, 2000, USER);
	pt_trace_cond(t, true);
	pt_trace_plain(t, ppt_ovf);
	pt_trace_ip(t, ppt_fup, USER + FUNCTION);
	pt_trace_ip(t, ppt_tip, USER + AFTER_CALL);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_LOST);
	assert_int_equal(e.ip, USER + FUNCTION);
	expect_branch(r, 0, USER + FUNCTION, "tr strt");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	expect_end(r);
}

static void test_transactions(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	pt_trace_psb(t, 2000, USER + FUNCTION);
	pt_trace_tsx(t, true, false);
	pt_trace_ip(t, ppt_fup, USER + FUNCTION);
	pt_trace_ip(t, ppt_tip, USER + AFTER_CALL);
	pt_trace_tsx(t, false, true);
	pt_trace_ip(t, ppt_fup, USER + JCC);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	pt_trace_ip(t, ppt_tip, KERNEL);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return (x)");
	expect_branch(r, USER + JCC, USER + TARGET, "tx abrt");
	expect_branch(r, USER + SYSCALL, KERNEL, "syscall");
	expect_end(r);
}

static void test_others(void **state)
{
	static const struct pt_packet packets[] = {
		{.type = ppt_cbr, .payload.cbr.ratio = 29},
		{.type = ppt_pwre, .payload.pwre = {.state = 6, .sub_state = 1}},
		{.type = ppt_pwrx, .payload.pwrx = {.last = 3, .deepest = 6, .interrupt = 1}},
		{.type = ppt_ptw, .payload.ptw = {.payload = 0xabc, .plc = 1, .ip = 1}},
	};
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;

	pt_trace_psb(t, 2000, USER);
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++)
		pt_trace_put(t, &packets[i]);
	pt_trace_ip(t, ppt_fup, USER + MAIN);
	pt_trace_cond(t, true);
	pt_trace_flush(t);
	begin(r, t->len, AUX_WANT_OTHERS);
	expect_text(r, AUX_EVENT_POWER, 0, "cbr: 29");
	expect_text(r, AUX_EVENT_POWER, 0, "pwre: hw: 0 cstate: 6 sub-cstate: 1");
	expect_text(r, AUX_EVENT_POWER, 0,
		    "pwrx: deepest cstate: 6 last cstate: 3 wake reason: interrupt");
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_PTWRITE);
	assert_int_equal(e.value, 0xabc);
	assert_int_equal(e.ip, USER + MAIN);
	expect_end(r);
	aux_intel_pt_decoder.end(r->d);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	expect_end(r);
}

static void test_old_code(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	pt_trace_plain(t, ppt_psb);
	pt_trace_tsc(t, 2000);
	pt_trace_exec(t, ptem_32bit);
	pt_trace_ip(t, ppt_fup, OLD);
	pt_trace_plain(t, ppt_psbend);
	pt_trace_ip(t, ppt_tip, OLD);
	begin(r, t->len, AUX_WANT_BRANCHES);
	assert_int_equal(expect_branch(r, OLD + 1, OLD, "call").insns, 2);
	expect_end(r);
}

static void test_missing_code(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	pt_trace_psb(t, 2000, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, 0x7000);
	pt_trace_cond(t, true);
	pt_trace_psb(t, 3000, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, KERNEL + 0x8000);
	pt_trace_cond(t, true);
	pt_trace_psb(t, 4000, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + INDIRECT, 0x7000, "jmp");
	expect_text(r, AUX_EVENT_ERROR, 0x7000, "code at 0x7000 is missing: /lib/gone.so");
	expect_branch(r, 0, USER + INDIRECT, "tr strt");
	expect_branch(r, USER + INDIRECT, KERNEL + 0x8000, "jmp");
	expect_text(r, AUX_EVENT_ERROR, KERNEL + 0x8000, "code at 0xffffffff81008000 is in no map");
	expect_branch(r, 0, USER + INDIRECT, "tr strt");
	expect_branch(r, USER + INDIRECT, USER + TARGET, "jmp");
	expect_end(r);
}

/* Where code is missing, decoding goes on at the next packet with an address. */
static void test_after_missing_code(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;

	pt_trace_psb(t, 2000, USER + CALL);
	pt_trace_cond(t, true);
	pt_trace_cond(t, false);
	pt_trace_ip(t, ppt_tip, 0x7000);
	pt_trace_cond(t, true);
	pt_trace_ip(t, ppt_tip, 0x8000); /* no other error: nothing was decoded since */
	pt_trace_ip(t, ppt_tip, USER + FUNCTION);
	pt_trace_cond(t, true); /* a return, but the call is not known */
	pt_trace_ip(t, ppt_fup, USER + FUNCTION);
	pt_trace_ip(t, ppt_tip, KERNEL + 0x10);
	pt_trace_ip(t, ppt_tip, 0x9000);
	pt_trace_ip(t, ppt_tip_pgd, 0);
	pt_trace_ip(t, ppt_tip_pge, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + CALL, USER + FUNCTION, "call");
	expect_branch(r, USER + RETURN, USER + AFTER_CALL, "return");
	expect_branch(r, USER + INDIRECT, 0x7000, "jmp");
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_ERROR);
	assert_int_equal(e.cause, AUX_CAUSE_CODE);
	assert_int_equal(e.ip, 0x7000);
	expect_branch(r, 0, USER + FUNCTION, "tr strt");
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_ERROR);
	assert_int_equal(e.cause, AUX_CAUSE_CODE);
	assert_int_equal(e.ip, USER + RETURN);
	expect_branch(r, 0, USER + FUNCTION, "tr strt");
	expect_branch(r, USER + FUNCTION, KERNEL + 0x10, "hw int");
	expect_branch(r, KERNEL + 0x11, 0x9000, "iret");
	expect_text(r, AUX_EVENT_ERROR, 0x9000, "code at 0x9000 is missing: /lib/gone.so");
	expect_branch(r, 0, USER + INDIRECT, "tr strt");
	expect_branch(r, USER + INDIRECT, USER + TARGET, "jmp");
	expect_end(r);
}

/* Trace that does not fit the code is an error, and decoding goes on at the address. */
static void test_misfit(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;
	size_t at;

	pt_trace_psb(t, 2000, USER + JCC);
	at = t->len;
	pt_trace_ip(t, ppt_tip, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	begin(r, t->len, AUX_WANT_BRANCHES);
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_ERROR);
	assert_int_equal(e.cause, AUX_CAUSE_TRACE);
	assert_int_equal(e.offset, 1000 + at);
	expect_branch(r, 0, USER + INDIRECT, "tr strt");
	expect_branch(r, USER + INDIRECT, USER + TARGET, "jmp");
	expect_end(r);
}

/* A CPU may write the address of an indirect jump behind the conditional branches that follow. */
static void test_deferred(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	pt_trace_psb(t, 2000, USER + INDIRECT);
	pt_trace_cond(t, true);
	pt_trace_flush(t);
	pt_trace_tsc(t, 3000);
	pt_trace_ip(t, ppt_tip, USER + JCC);
	pt_trace_ip(t, ppt_fup, USER + CALL);
	pt_trace_ip(t, ppt_tip_pgd, 0);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + INDIRECT, USER + JCC, "jmp");
	expect_branch(r, USER + JCC, USER + MAIN, "jcc");
	expect_branch(r, USER + CALL, 0, "tr end  async");
	expect_end(r);
}

/* The blocks of one time may be one event; an instance may decode another stretch. */
static void test_counts_again(void **state)
{
	static const uint64_t insns[] = {2, 14, 2, 5};
	static const uint64_t times[] = {1000, 1000, 1500, 1500};
	struct run *r = *state;

	put_loop(&r->t);
	begin(r, r->t.len, AUX_WANT_BLOCKS | AUX_WANT_COUNTS);
	for (int n = 0; n < 2; n++) {
		unsigned int reads = r->machine.reads;

		for (size_t i = 0; i < 4; i++) {
			struct aux_event e = next(r);

			assert_int_equal(e.kind, AUX_EVENT_BLOCK);
			assert_int_equal(e.insns, insns[i]);
			assert_int_equal(e.time, times[i]);
		}
		expect_end(r);
		/* Code is read again: it may be another one. */
		assert_true(r->machine.reads > reads || !n);
		assert_int_equal(aux_intel_pt_decoder.again(r->d, &setup, &r->stretch), 0);
	}
}

/* Kernel code changes while it is traced. */
static void test_patched_code(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;

	r->machine.patched = 1500;
	pt_trace_psb(t, 2000, USER + TARGET);
	pt_trace_ip(t, ppt_tip, KERNEL);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	pt_trace_tsc(t, 3000);
	pt_trace_ip(t, ppt_tip, KERNEL);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + SYSCALL, KERNEL, "syscall");
	expect_branch(r, KERNEL + 1, USER + TARGET, "sysret");
	expect_branch(r, USER + SYSCALL, KERNEL, "syscall");
	expect_branch(r, KERNEL, USER + TARGET, "sysret");
	expect_end(r);
}

static void test_resync(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;
	size_t bad;

	pt_trace_bytes(t, "\x02\xff", 2);
	pt_trace_psb(t, 2000, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, USER + INDIRECT);
	bad = pt_trace_ip(t, ppt_tip, USER + INDIRECT);
	pt_trace_bytes(t, "\x02\xff", 2);
	pt_trace_psb(t, 3000, USER + INDIRECT);
	pt_trace_ip(t, ppt_tip, USER + TARGET);
	begin(r, t->len, AUX_WANT_BRANCHES);
	expect_branch(r, USER + INDIRECT, USER + INDIRECT, "jmp");
	expect_branch(r, USER + INDIRECT, USER + INDIRECT, "jmp");
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_ERROR);
	assert_int_equal(e.cause, AUX_CAUSE_TRACE);
	assert_int_equal(e.offset, 1000 + bad);
	expect_branch(r, 0, USER + INDIRECT, "tr strt");
	e = expect_branch(r, USER + INDIRECT, USER + TARGET, "jmp");
	assert_int_equal(e.time, 1500);
	expect_end(r);
}

/* A loop without trace cannot be left by a packet that does not fit. */
static void test_endless(void **state)
{
	struct run *r = *state;
	struct pt_trace *t = &r->t;
	struct aux_event e;

	pt_trace_psb(t, 2000, USER + SPIN);
	pt_trace_ip(t, ppt_fup, USER + RETURN);
	pt_trace_ip(t, ppt_tip, KERNEL);
	begin(r, t->len, 0);
	e = next(r);
	assert_int_equal(e.kind, AUX_EVENT_ERROR);
	assert_string_equal(e.text, "bad trace: code runs on without it");
	expect_end(r);
}

/* --- damage --------------------------------------------------------------------------------------
 */

static void put_much(struct pt_trace *t)
{
	put_loop(t);
	pt_trace_plain(t, ppt_ovf);
	pt_trace_ip(t, ppt_fup, USER + FUNCTION);
	pt_trace_ip(t, ppt_tip, USER + AFTER_CALL);
	pt_trace_pip(t, 0x1000);
	put_loop(t);
	pt_trace_ip(t, ppt_fup, USER + MAIN);
	pt_trace_ip(t, ppt_tip, KERNEL + 0x10);
	pt_trace_ip(t, ppt_tip, USER + MAIN);
	put_loop(t);
}

/* Decodes all; ASan and the assertions of the machine see what goes wrong. */
static size_t decode(struct run *r, const uint8_t *data, size_t len, unsigned int want)
{
	struct aux_event e;
	size_t n = 0;
	int rc;

	begin(r, len, want);
	aux_intel_pt_decoder.end(r->d);
	r->stretch.data = data;
	assert_int_equal(aux_intel_pt_decoder.begin(&setup, &r->stretch, &r->code, want, &r->d), 0);
	while ((rc = aux_intel_pt_decoder.next(r->d, &e)) == 1)
		n++;
	assert_int_equal(rc, 0);
	aux_intel_pt_decoder.end(r->d);
	r->d = NULL;
	return n;
}

static void test_cut(void **state)
{
	struct run *r = *state;

	put_much(&r->t);
	for (size_t len = 0; len <= r->t.len; len++) {
		uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy + 1, r->t.data, len);
		decode(r, copy + 1, len, ~0u);
		decode(r, copy + 1, len, ~AUX_WANT_INSNS);
		free(copy);
	}
}

static void test_flipped(void **state)
{
	struct run *r = *state;
	uint8_t *copy;

	put_much(&r->t);
	copy = malloc(r->t.len);
	assert_non_null(copy);
	srand(1);
	for (int i = 0; i < 10000; i++) {
		memcpy(copy, r->t.data, r->t.len);
		for (int n = 0; n < 1 + i % 4; n++)
			copy[rand() % r->t.len] ^= 1 << rand() % 8;
		decode(r, copy, r->t.len, i % 2 ? ~0u : ~AUX_WANT_INSNS);
	}
	free(copy);
}

#define RUN(test) cmocka_unit_test_setup_teardown(test, setup_run, teardown_run)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RUN(test_branches),
		RUN(test_insns_and_blocks),
		RUN(test_same_branches),
		RUN(test_interrupts),
		RUN(test_long_instructions),
		RUN(test_edges),
		RUN(test_tasks),
		RUN(test_one_thread),
		RUN(test_overflow),
		RUN(test_transactions),
		RUN(test_others),
		RUN(test_old_code),
		RUN(test_missing_code),
		RUN(test_resync),
		RUN(test_endless),
		RUN(test_after_missing_code),
		RUN(test_misfit),
		RUN(test_deferred),
		RUN(test_counts_again),
		RUN(test_patched_code),
		RUN(test_cut),
		RUN(test_flipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
