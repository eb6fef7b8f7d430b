// SPDX-License-Identifier: Apache-2.0
/*
 * flow.c: the branches of a real program, which is single-stepped here, are those that are decoded
 * from the packets that a CPU would have written. Arguments: another program, and its own.
 *
 * In the directory $PT_TRUTH_DIR, if that is set, it leaves the files trace, branches ("TID FROM TO
 * FLAGS"), switches ("TIME TID") and program (its path), for tests of the whole program.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "auxtrace/intel_pt/intel_pt.h"
#include "perfdata/aux_record.h"

#include "pt_trace.h"

#define TASKS	   8
#define QUANTUM	   97  /* steps until the other thread runs */
#define PSB_PERIOD 300 /* bytes */
#define DEPTH	   64  /* of the CPU's stack of returns */
#define CODE_PAGE  4096u

static char *const *program;

/* --- what was true -------------------------------------------------------------------------------
 */

struct true_branch {
	uint64_t from, to, insns;
	char flags[20];
	pid_t tid;
};

struct code_page {
	uint64_t addr;
	uint8_t bytes[CODE_PAGE];
};

struct task_switch {
	uint64_t time;
	pid_t tid;
};

struct stepped {
	struct pt_trace t;
	struct true_branch *branches;
	size_t nr, cap;
	uint64_t insns, all_insns, clock;

	uint64_t returns[DEPTH]; /* compressed */
	unsigned int depth;
	bool on; /* tracing is */
	size_t last_psb;

	struct task_switch *switches;
	size_t nr_switches;
	struct code_page *pages; /* outside of the program's file */
	size_t nr_pages;
	uint8_t *file;
	size_t file_size;

	pid_t pid, tasks[TASKS];
	unsigned int nr_tasks;
	int signals[TASKS]; /* to deliver */
};

static void add_branch(struct stepped *s, pid_t tid, uint64_t from, uint64_t to, const char *flags)
{
	if (s->nr == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->branches = realloc(s->branches, s->cap * sizeof(*s->branches));
		assert_non_null(s->branches);
	}
	s->branches[s->nr] =
		(struct true_branch){.from = from, .to = to, .insns = s->insns, .tid = tid};
	snprintf(s->branches[s->nr++].flags, sizeof(s->branches->flags), "%s", flags);
	s->insns = 0;
}

/* --- code ----------------------------------------------------------------------------------------
 */

static size_t read_file(const struct stepped *s, uint64_t addr, void *buf, size_t len)
{
	const Elf64_Ehdr *ehdr = (const void *)s->file;
	const Elf64_Phdr *phdr = (const void *)(s->file + ehdr->e_phoff);

	for (unsigned int i = 0; ehdr->e_type == ET_EXEC && i < ehdr->e_phnum; i++) {
		uint64_t at = addr - phdr[i].p_vaddr;

		if (phdr[i].p_type != PT_LOAD || at >= phdr[i].p_filesz)
			continue;
		len = len < phdr[i].p_filesz - at ? len : phdr[i].p_filesz - at;
		memcpy(buf, s->file + phdr[i].p_offset + at, len);
		return len;
	}
	return 0;
}

static struct code_page *find_page(const struct stepped *s, uint64_t addr)
{
	for (size_t i = s->nr_pages; i--;)
		if (s->pages[i].addr == (addr & ~(uint64_t)(CODE_PAGE - 1)))
			return &s->pages[i];
	return NULL;
}

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	const struct stepped *s = arg;
	size_t n = read_file(s, addr, buf, len);
	const struct code_page *page = n ? NULL : find_page(s, addr);

	if (page) {
		n = CODE_PAGE - addr % CODE_PAGE;
		n = n < len ? n : len;
		memcpy(buf, page->bytes + addr % CODE_PAGE, n);
	}
	*ret_missing = "nothing";
	return n ? (int)n : -ENOENT;
}

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	const struct stepped *s = arg;
	size_t i = s->nr_switches;

	while (i && s->switches[i - 1].time > time)
		i--;
	ret->pid = s->pid;
	ret->tid = i ? s->switches[i - 1].tid : (uint32_t)s->pid;
	return true;
}

/* What an instruction is; its bytes are from the process. Pages outside of the file are kept. */
static void fetch(struct stepped *s, uint64_t ip, uint8_t code[16])
{
	memset(code, 0, 16);
	for (size_t done = 0; done < 16;) {
		size_t n = read_file(s, ip + done, code + done, 16 - done);
		struct code_page *page = n ? NULL : find_page(s, ip + done);

		if (!n && !page) {
			struct iovec local, remote;

			s->pages = realloc(s->pages, (s->nr_pages + 1) * sizeof(*s->pages));
			assert_non_null(s->pages);
			page = &s->pages[s->nr_pages];
			page->addr = (ip + done) & ~(uint64_t)(CODE_PAGE - 1);
			local = (struct iovec){page->bytes, CODE_PAGE};
			remote = (struct iovec){(void *)(uintptr_t)page->addr, CODE_PAGE};
			if (process_vm_readv(s->pid, &local, 1, &remote, 1, 0) != CODE_PAGE)
				return;
			s->nr_pages++;
		}
		if (!n) {
			n = CODE_PAGE - (ip + done) % CODE_PAGE;
			n = n < 16 - done ? n : 16 - done;
			memcpy(code + done, page->bytes + (ip + done) % CODE_PAGE, n);
		}
		done += n;
	}
}

/* --- what a CPU writes ---------------------------------------------------------------------------
 */

static void push_return(struct stepped *s, uint64_t ip)
{
	if (s->depth == DEPTH)
		memmove(s->returns, s->returns + 1, --s->depth * sizeof(*s->returns));
	s->returns[s->depth++] = ip;
}

static void trace_on(struct stepped *s, pid_t tid, uint64_t ip)
{
	if (s->on)
		return;
	s->on = true;
	pt_trace_exec(&s->t, ptem_64bit);
	pt_trace_ip(&s->t, ppt_tip_pge, ip);
	add_branch(s, tid, 0, ip, "tr strt");
}

static void trace_off(struct stepped *s, pid_t tid, uint64_t ip)
{
	if (!s->on)
		return;
	s->on = false;
	pt_trace_ip(&s->t, ppt_fup, ip);
	pt_trace_ip(&s->t, ppt_tip_pgd, 0);
	add_branch(s, tid, ip, 0, "tr end  async");
}

static void put_indirect(struct stepped *s, pid_t tid, uint64_t from, uint64_t to,
			 const char *flags)
{
	pt_trace_ip(&s->t, ppt_tip, to);
	add_branch(s, tid, from, to, flags);
}

static void put_return(struct stepped *s, pid_t tid, uint64_t from, uint64_t to)
{
	if (s->depth && s->returns[s->depth - 1] == to) {
		s->depth--;
		pt_trace_cond(&s->t, true);
		add_branch(s, tid, from, to, "return");
	} else {
		put_indirect(s, tid, from, to, "return");
	}
}

static void put_syscall(struct stepped *s, pid_t tid, uint64_t from)
{
	pt_trace_ip(&s->t, ppt_tip_pgd, 0);
	add_branch(s, tid, from, 0, "tr end  syscall");
	s->on = false;
}

/* A conditional branch of @len bytes, the last @size of which are the offset. */
static void put_cond(struct stepped *s, pid_t tid, uint64_t from, uint64_t to, size_t len,
		     int64_t offset)
{
	bool taken = to == from + len + offset;

	assert_true(taken || to == from + len);
	pt_trace_cond(&s->t, taken);
	if (taken)
		add_branch(s, tid, from, to, "jcc");
}

/* The instruction @code at @from led to @to. */
static void put_step(struct stepped *s, pid_t tid, const uint8_t code[16], uint64_t from,
		     uint64_t to)
{
	size_t at = 0;
	int32_t offset;

	while (code[at] == 0x66 || code[at] == 0x2e || code[at] == 0x3e || code[at] == 0xf2 ||
	       code[at] == 0xf3 || (code[at] & 0xf0) == 0x40)
		at++;
	memcpy(&offset, code + at + 1, sizeof(offset));
	switch (code[at]) {
	case 0xe8:
		if (offset)
			push_return(s, from + at + 5);
		add_branch(s, tid, from, to, "call");
		return;
	case 0xe9:
	case 0xeb: add_branch(s, tid, from, to, "jmp"); return;
	case 0xc2:
	case 0xc3: put_return(s, tid, from, to); return;
	case 0xff:
		if ((code[at + 1] >> 3 & 7) == 4) {
			put_indirect(s, tid, from, to, "jmp");
		} else if ((code[at + 1] >> 3 & 7) == 2) {
			/* The length of the operand is not needed: it returns to what is on the
			 * stack. */
			uint64_t sp, next;
			struct user_regs_struct regs;

			assert_int_equal(ptrace(PTRACE_GETREGS, tid, 0, &regs), 0);
			sp = regs.rsp;
			next = ptrace(PTRACE_PEEKDATA, tid, sp, 0);
			push_return(s, next);
			put_indirect(s, tid, from, to, "call");
		}
		return;
	case 0x0f:
		memcpy(&offset, code + at + 2, sizeof(offset));
		if (code[at + 1] == 0x05)
			put_syscall(s, tid, from);
		else if ((code[at + 1] & 0xf0) == 0x80)
			put_cond(s, tid, from, to, at + 6, offset);
		return;
	}
	if ((code[at] & 0xf0) == 0x70 || (code[at] & 0xfc) == 0xe0)
		put_cond(s, tid, from, to, at + 2, (int8_t)code[at + 1]);
}

static void put_psb(struct stepped *s, uint64_t ip)
{
	s->depth = 0;
	pt_trace_flush(&s->t);
	s->last_psb = s->t.len;
	pt_trace_psb(&s->t, s->clock, s->on ? ip : 0);
}

/* --- single steps --------------------------------------------------------------------------------
 */

static uint64_t ip_of(pid_t tid)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_GETREGS, tid, 0, &regs), 0);
	return regs.rip;
}

static void add_task(struct stepped *s, pid_t tid)
{
	int status;

	assert_true(s->nr_tasks < TASKS);
	assert_int_equal(waitpid(tid, &status, __WALL), tid);
	assert_true(WIFSTOPPED(status));
	s->signals[s->nr_tasks] = 0;
	s->tasks[s->nr_tasks++] = tid;
}

static void remove_task(struct stepped *s, unsigned int i)
{
	s->nr_tasks--;
	s->tasks[i] = s->tasks[s->nr_tasks];
	s->signals[i] = s->signals[s->nr_tasks];
}

/* Steps a thread. Returns false if it has ended. */
static bool step(struct stepped *s, unsigned int i)
{
	pid_t tid = s->tasks[i];
	uint64_t from = ip_of(tid), to;
	uint8_t code[16];
	int status;
	bool delivers = s->signals[i];

	if (s->on && s->t.len - s->last_psb > PSB_PERIOD)
		put_psb(s, from);
	fetch(s, from, code);
	for (;;) {
		unsigned long child;

		assert_int_equal(ptrace(PTRACE_SINGLESTEP, tid, 0, s->signals[i]), 0);
		s->signals[i] = 0;
		assert_int_equal(waitpid(tid, &status, __WALL), tid);
		if (!WIFSTOPPED(status)) {
			s->insns++;
			put_syscall(s, tid, from);
			return false;
		}
		if (status >> 16 != PTRACE_EVENT_CLONE)
			break;
		assert_int_equal(ptrace(PTRACE_GETEVENTMSG, tid, 0, &child), 0);
		add_task(s, child);
	}
	to = ip_of(tid);
	if (delivers) { /* the first instruction of the handler is next */
		trace_on(s, tid, to);
		return true;
	}
	if (WSTOPSIG(status) != SIGTRAP) {
		s->signals[i] = WSTOPSIG(status);
		if (to == from) {
			trace_off(s, tid, from);
			return true;
		}
	}
	s->insns += to != from || (code[0] & 0xfc) == 0xe0; /* not all of rep's */
	put_step(s, tid, code, from, to);
	if (!s->signals[i])
		trace_on(s, tid, to);
	return true;
}

static void switch_to(struct stepped *s, pid_t tid)
{
	s->clock += 1000;
	pt_trace_tsc(&s->t, s->clock);
	s->switches = realloc(s->switches, (s->nr_switches + 1) * sizeof(*s->switches));
	assert_non_null(s->switches);
	s->switches[s->nr_switches++] = (struct task_switch){s->clock, tid};
	trace_on(s, tid, ip_of(tid));
}

static void step_all(struct stepped *s)
{
	unsigned int current = 0, left = QUANTUM;

	put_psb(s, 0);
	switch_to(s, s->tasks[0]);
	while (s->nr_tasks) {
		bool alive = step(s, current);

		if (!alive)
			remove_task(s, current);
		if (!s->nr_tasks)
			break;
		if (alive && (s->nr_tasks == 1 || s->signals[current] || --left))
			continue;
		if (alive)
			trace_off(s, s->tasks[current], ip_of(s->tasks[current]));
		left = QUANTUM;
		current = (current + 1) % s->nr_tasks;
		switch_to(s, s->tasks[current]);
	}
	pt_trace_flush(&s->t);
}

static void load_file(struct stepped *s, const char *path)
{
	FILE *file = fopen(path, "rb");
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size > (long)sizeof(Elf64_Ehdr));
	rewind(file);
	s->file = malloc(size);
	assert_non_null(s->file);
	assert_int_equal(fread(s->file, 1, size, file), size);
	s->file_size = size;
	fclose(file);
}

static int trace_program(void **state)
{
	struct stepped *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*state = s;
	pt_trace_init(&s->t, 64 << 20);
	load_file(s, program[0]);
	s->clock = 1000;
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(program[0], program);
		_exit(127);
	}
	add_task(s, s->pid);
	assert_int_equal(
		ptrace(PTRACE_SETOPTIONS, s->pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), 0);
	step_all(s);
	return 0;
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	return f;
}

static void leave_files(const struct stepped *s, const char *dir)
{
	FILE *trace = create(dir, "trace"), *branches = create(dir, "branches");
	FILE *switches = create(dir, "switches"), *path = create(dir, "program");

	assert_int_equal(fwrite(s->t.data, 1, s->t.len, trace), s->t.len);
	for (size_t i = 0; i < s->nr; i++) {
		const struct true_branch *b = &s->branches[i];

		fprintf(branches, "%d %" PRIx64 " %" PRIx64 " %s\n", b->tid, b->from, b->to,
			b->flags);
	}
	for (size_t i = 0; i < s->nr_switches; i++)
		fprintf(switches, "%" PRIu64 " %d\n", s->switches[i].time, s->switches[i].tid);
	fputs(program[0], path);
	assert_int_equal(fclose(trace) | fclose(branches) | fclose(switches) | fclose(path), 0);
}

static int release(void **state)
{
	struct stepped *s = *state;

	if (getenv("PT_TRUTH_DIR"))
		leave_files(s, getenv("PT_TRUTH_DIR"));

	pt_trace_release(&s->t);
	free(s->branches);
	free(s->switches);
	free(s->pages);
	free(s->file);
	free(s);
	return 0;
}

/* --- what is decoded -----------------------------------------------------------------------------
 */

/* Times are the ticks themselves. */
static const uint64_t words[] = {8, 0, 1, 0, 1};
static const struct aux_setup setup = {
	.type = PD_AUXTRACE_INTEL_PT, .priv = words, .nr_priv = 5, .user = true};

/* The @first of a stretch knows less instructions in front of it. */
static void compare(const struct stepped *s, size_t i, const struct aux_event *e, bool first)
{
	const struct true_branch *b = &s->branches[i];
	char name[32];

	aux_flags_name(e->flags, name, sizeof(name));
	if (e->kind == AUX_EVENT_ERROR)
		fail_msg("branch %zu of %zu: %s", i, s->nr, e->text);
	if (i >= s->nr || e->kind != AUX_EVENT_BRANCH || e->ip != b->from || e->to != b->to ||
	    strcmp(name, b->flags) || (e->insns != b->insns && !first) || e->task.tid != b->tid)
		fail_msg("branch %zu of %zu: %" PRIx64 " %" PRIx64 " %s %" PRIu64
			 " of %u, not %" PRIx64 " %" PRIx64 " %s %" PRIu64 " of %d",
			 i, s->nr, e->ip, e->to, name, e->insns, e->task.tid, b->from, b->to,
			 b->flags, b->insns, b->tid);
}

/* Decodes bytes, the branches of which begin with number @i. Returns the number behind them. */
static size_t check(const struct stepped *s, size_t from, size_t to, size_t i, unsigned int want)
{
	const struct aux_stretch stretch = {.data = s->t.data + from,
					    .len = to - from,
					    .cpu = 0,
					    .tid = UINT32_MAX,
					    .more = s->t.len - to};
	const struct aux_code code = {
		.read = read_code, .task_on = task_on, .arg = (void *)(uintptr_t)s};
	struct aux_decoder *d;
	struct aux_event e;
	uint64_t time = 0;
	bool first = from;
	int rc;

	assert_int_equal(aux_intel_pt_decoder.begin(&setup, &stretch, &code, want, &d), 0);
	while ((rc = aux_intel_pt_decoder.next(d, &e)) == 1) {
		assert_true(e.time >= time);
		time = e.time;
		if (e.kind == AUX_EVENT_INSN)
			continue;
		compare(s, i++, &e, first);
		first = false;
	}
	assert_int_equal(rc, 0);
	aux_intel_pt_decoder.end(d);
	return i;
}

static void test_blocks(void **state)
{
	const struct stepped *s = *state;

	assert_true(s->nr > 1000);
	print_message("%zu branches, %zu bytes of trace\n", s->nr, s->t.len);
	assert_int_equal(check(s, 0, s->t.len, 0, AUX_WANT_BRANCHES), s->nr);
}

static void test_insns(void **state)
{
	const struct stepped *s = *state;

	assert_int_equal(check(s, 0, s->t.len, 0, AUX_WANT_BRANCHES | AUX_WANT_INSNS), s->nr);
}

/* Stretches that are cut at each PSB have the branches of the whole. */
static void test_stretches(void **state)
{
	const struct stepped *s = *state;
	size_t i = 0, n = 0;

	for (size_t from = 0, to; from < s->t.len; from = to) {
		to = aux_intel_pt_decoder.sync(&setup, s->t.data, s->t.len, from + 1);
		i = check(s, from, to, i, AUX_WANT_BRANCHES);
		n++;
	}
	assert_int_equal(i, s->nr);
	assert_true(n > 5);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_insns),
		cmocka_unit_test(test_stretches),
	};

	static char name[] = PROGRAM;
	static char *const own[] = {name, NULL};

	program = argc > 1 ? argv + 1 : own;
	return cmocka_run_group_tests(tests, trace_program, release);
}
