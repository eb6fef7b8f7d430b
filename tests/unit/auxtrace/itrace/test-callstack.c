// SPDX-License-Identifier: Apache-2.0
/* Call stacks of branches: what is kept, what ends, and that hostile sequences are bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/itrace/callstack.h"
#include "base/buf.h"

#define KERNEL	  0xffffffff80000000ull
#define BRANCH	  AUX_BRANCH
#define CALL	  AUX_CALL
#define RETURN	  AUX_RETURN
#define SYSCALL	  (CALL | AUX_SYSCALLRET)
#define SYSRET	  (RETURN | AUX_SYSCALLRET)
#define INTERRUPT (CALL | AUX_ASYNC | AUX_INTERRUPT)
#define IRET	  (RETURN | AUX_INTERRUPT)
#define BEGIN	  AUX_TRACE_BEGIN
#define END	  AUX_TRACE_END

/* Stacks, and a text of what happened to frames. */
struct world {
	struct callstacks c;
	char log[512];
	size_t len;
	uint64_t time;
};

static void note(struct world *w, char what, uint64_t entry, const char *tail)
{
	int n = snprintf(w->log + w->len, sizeof(w->log) - w->len, "%s%c%llx%s", w->len ? " " : "",
			 what, (unsigned long long)(entry & ~KERNEL), tail);

	if (n > 0 && w->len + (size_t)n < sizeof(w->log))
		w->len += (size_t)n;
}

/* Functions of the test begin at multiples of 0x1000. */
static enum callstack_target target(void *arg, const struct callstack_branch *b)
{
	(void)arg;
	if (b->to / 0x1000 == b->ip / 0x1000)
		return CALLSTACK_WITHIN;
	return b->to % 0x1000 ? CALLSTACK_ELSEWHERE : CALLSTACK_ENTERS;
}

static int entered(void *arg, const struct callstack *s, struct callstack_frame *frame)
{
	assert_ptr_equal(frame, &s->frames[s->nr - 1]);
	assert_int_equal(frame->user, 0);
	frame->user = frame->entry + 1;
	note(arg, '+', frame->entry, frame->flags & CALLSTACK_SIGNAL ? "s" : "");
	return 0;
}

static int left(void *arg, const struct callstack *s, const struct callstack_frame *frame,
		enum callstack_end how)
{
	static const char *const ends[] = {"", "!", "?"};

	assert_ptr_equal(frame, &s->frames[s->nr - 1]);
	assert_int_equal(frame->user, frame->entry + 1);
	note(arg, '-', frame->entry, ends[how]);
	return 0;
}

static const struct callstack_ops ops = {target, entered, left};

static struct world *world(void)
{
	static struct world w;

	callstacks_release(&w.c);
	w = (struct world){.c = {.ops = &ops, .arg = &w}};
	return &w;
}

static void on(struct world *w, uint32_t tid, uint32_t cpu, uint32_t flags, uint64_t ip,
	       uint64_t to)
{
	struct callstack_branch b = {
		.tid = tid,
		.cpu = cpu,
		.flags = flags,
		.insn_len = 5,
		.ip = ip,
		.to = to,
		.time = w->time += 10,
	};

	assert_int_equal(callstacks_take(&w->c, &b, NULL), 0);
}

static void take(struct world *w, uint32_t flags, uint64_t ip, uint64_t to)
{
	on(w, 7, 0, flags, ip, to);
}

static void check(struct world *w, const char *log)
{
	assert_string_equal(w->log, log);
	w->log[0] = '\0';
	w->len = 0;
}

static void test_calls(void **state)
{
	struct world *w = world();
	const struct callstack *s;
	uint64_t chain[4];

	(void)state;
	take(w, CALL, 0x1010, 0x2000);
	take(w, BRANCH | AUX_CONDITIONAL, 0x2004, 0x2040);
	take(w, CALL, 0x2050, 0x3000);
	take(w, CALL, 0x3050, 0x3055); /* the next instruction */
	s = callstacks_find(&w->c, 7, 0);
	assert_int_equal(callstack_chain(s, chain, 4), 2);
	assert_int_equal(chain[0], 0x2055);
	assert_int_equal(chain[1], 0x1015);
	assert_int_equal(callstack_chain(s, chain, 1), 1);
	assert_int_equal(s->frames[1].time - s->frames[0].time, 20);
	assert_int_equal(s->frames[1].branches - s->frames[0].branches, 2);
	take(w, RETURN, 0x3060, 0x2055);
	take(w, RETURN, 0x2060, 0x1015);
	take(w, RETURN, 0x1060, 0x9015); /* its call was not seen */
	check(w, "+2000 +3000 -3000 -2000");
}

static void test_odd_returns(void **state)
{
	struct world *w = world();

	(void)state;
	take(w, CALL, 0x1010, 0x2000);
	take(w, CALL, 0x2010, 0x3000);
	take(w, CALL, 0x3010, 0x4000);
	take(w, RETURN, 0x4020, 0x1015); /* longjmp */
	check(w, "+2000 +3000 +4000 -4000! -3000! -2000");
	/* A retpoline: it replaces its return address, and so it jumps. */
	take(w, CALL, 0x1010, 0x2000);
	take(w, CALL, 0x2003, 0x2010);
	take(w, RETURN, 0x2014, 0x5000);
	take(w, RETURN, 0x5010, 0x1015);
	check(w, "+2000 +2010 -2010 +5000 -5000 -2000");
	/* It pushed the address itself. */
	take(w, CALL, 0x1010, 0x2000);
	take(w, RETURN, 0x2014, 0x2020);
	take(w, RETURN, 0x2030, 0x1015);
	check(w, "+2000 -2000");
	/* Another stack: nothing is certain. */
	take(w, CALL, 0x1010, 0x2000);
	take(w, CALL, 0x2010, 0x3000);
	take(w, RETURN, 0x3014, 0x7777);
	check(w, "+2000 +3000 -3000? -2000?");
}

static void test_tails(void **state)
{
	struct world *w = world();
	uint64_t chain[4];

	(void)state;
	take(w, CALL, 0x1010, 0x2000);
	take(w, BRANCH, 0x2010, 0x3000);
	take(w, BRANCH | AUX_CONDITIONAL, 0x3010, 0x4000);
	assert_int_equal(callstack_chain(callstacks_find(&w->c, 7, 0), chain, 4), 1);
	take(w, RETURN, 0x4010, 0x1015);
	check(w, "+2000 +3000 +4000 -4000 -3000 -2000");
	/* Two that jump to each other for ever. */
	take(w, CALL, 0x1010, 0x2000);
	for (int i = 0; i < 100000; i++) {
		take(w, BRANCH, 0x2010, 0x3000);
		take(w, BRANCH, 0x3010, 0x2000);
		if (i)
			w->len = 0;
	}
	assert_int_equal(callstacks_find(&w->c, 7, 0)->nr, 1);
	/* A long row of others: bounded. */
	for (uint64_t i = 3; i < 100000; i++) {
		take(w, BRANCH, i * 0x1000 + 0x10, (i + 1) * 0x1000);
		w->len = 0;
	}
	assert_true(callstacks_find(&w->c, 7, 0)->nr <= 66);
	take(w, RETURN, 0x5010, 0x1015);
	assert_int_equal(callstacks_find(&w->c, 7, 0)->nr, 0);
	/* Whoever jumped there is not known, but both ends are. */
	w->len = 0;
	take(w, BRANCH, 0x5010, 0x6000);
	take(w, RETURN, 0x6010, 0x1234);
	check(w, "+6000 -6000");
}

static void test_kernel(void **state)
{
	struct world *w = world();

	(void)state;
	take(w, CALL, 0x1010, 0x2000);
	take(w, SYSCALL, 0x2010, KERNEL + 0x100);
	take(w, CALL, KERNEL + 0x200, KERNEL + 0x3000);
	take(w, INTERRUPT, KERNEL + 0x3010, KERNEL + 0x7000);
	take(w, RETURN, KERNEL + 0x7010, KERNEL + 0x205); /* not a handler's */
	take(w, IRET, KERNEL + 0x7010, KERNEL + 0x3010);
	take(w, RETURN, KERNEL + 0x3020, KERNEL + 0x205);
	take(w, SYSRET, KERNEL + 0x300, 0x2015);
	take(w, RETURN, 0x2020, 0x1015);
	check(w, "+2000 +100 +3000 +7000 -7000 -3000 -100 -2000");
	/* The thread's kernel stack is another one's for some branches. */
	take(w, CALL, 0x1010, 0x2000);
	take(w, SYSCALL, 0x2010, KERNEL + 0x100);
	take(w, CALL, KERNEL + 0x200, KERNEL + 0x3000);
	take(w, RETURN, KERNEL + 0x4010, KERNEL + 0x5321);
	take(w, SYSRET, KERNEL + 0x300, 0x2015);
	take(w, RETURN, 0x2020, 0x1015);
	check(w, "+2000 +100 +3000 -3000? -100 -2000");
	/* Back in the program, unseen. */
	take(w, CALL, 0x1010, 0x2000);
	take(w, INTERRUPT, 0x2010, KERNEL + 0x100);
	take(w, RETURN, 0x2020, 0x1015);
	check(w, "+2000 +100 -100? -2000");
}

static void test_signals(void **state)
{
	struct world *w = world();

	(void)state;
	take(w, CALL, 0x1010, 0x2000);
	take(w, INTERRUPT, 0x2010, KERNEL + 0x100);
	take(w, IRET, KERNEL + 0x300, 0x8000);
	take(w, CALL, 0x8010, 0x3000);
	take(w, RETURN, 0x3010, 0x8015);
	take(w, RETURN, 0x8020, 0x9004); /* the restorer */
	take(w, SYSCALL, 0x9008, KERNEL + 0x100);
	take(w, SYSRET, KERNEL + 0x300, 0x2010);
	take(w, RETURN, 0x2020, 0x1015);
	check(w, "+2000 +100 -100 +8000s +3000 -3000 +100 -100! -8000 -2000");
	/* The same where the kernel is not traced. */
	take(w, CALL, 0x1010, 0x2000);
	take(w, END | AUX_ASYNC, 0x2010, 0);
	take(w, BEGIN, 0, 0x8000);
	take(w, RETURN, 0x8020, 0x9004);
	take(w, SYSCALL | END, 0x9008, 0);
	take(w, BEGIN, 0, 0x2010);
	take(w, RETURN, 0x2020, 0x1015);
	check(w, "+2000 +0 -0 +8000s +0 -0! -8000 -2000");
}

static void test_outside(void **state)
{
	struct world *w = world();

	(void)state;
	/* Only one function is traced, and what it calls is not. */
	take(w, BEGIN, 0, 0x2000);
	take(w, CALL | END, 0x2010, 0);
	take(w, BEGIN, 0, 0x2015);
	take(w, RETURN | END, 0x2020, 0);
	check(w, "+2000 +0 -0 -2000");
	/* Called back from there. */
	take(w, BEGIN, 0, 0x2000);
	take(w, CALL | END, 0x2010, 0);
	take(w, BEGIN, 0, 0x6000);
	take(w, RETURN | END, 0x6020, 0);
	take(w, BEGIN, 0, 0x2015);
	check(w, "+2000 +0 +6000 -6000 -0");
	/* It ended, and began at another place. */
	take(w, END, 0x2020, 0);
	take(w, BEGIN, 0, 0x7010);
	check(w, "-2000?");
	/* The kernel alone. */
	take(w, BEGIN, 0, KERNEL + 0x1000);
	take(w, CALL, KERNEL + 0x1010, KERNEL + 0x3000);
	take(w, SYSRET | END, KERNEL + 0x3020, 0);
	check(w, "+1000 +3000 -3000! -1000");
	/* A system call that begins anew. */
	take(w, SYSCALL | END, 0x9008, 0);
	take(w, BEGIN, 0, 0x9008);
	check(w, "+0 -0");
}

static void test_gaps(void **state)
{
	struct world *w = world();

	(void)state;
	on(w, 7, 0, CALL, 0x1010, 0x2000);
	on(w, 8, 1, CALL, 0x1010, 0x3000);
	on(w, 9, 2, CALL, 0x1010, 0x4000);
	assert_int_equal(callstacks_gap(&w->c, UINT32_MAX, 1), 0);
	check(w, "+2000 +3000 +4000");
	assert_null(callstacks_find(&w->c, 8, 1));
	assert_int_equal(callstacks_find(&w->c, 7, 0)->nr, 1);
	on(w, 7, 0, CALL, 0x2010, 0x5000); /* elsewhere */
	on(w, 8, 0, CALL, 0x3010, 0x5000); /* was there */
	on(w, 9, 1, CALL, 0x4010, 0x5000); /* is there now */
	check(w, "+5000 -3000? +5000 -4000? +5000");
	on(w, 9, 1, RETURN, 0x5010, 0x4015);
	assert_int_equal(callstacks_gap(&w->c, 7, UINT32_MAX), 0);
	check(w, "-5000 -5000? -2000?");
	/* The idle thread of each CPU has its own stack; so has an unknown one. */
	on(w, 0, 1, CALL, 0x1010, 0x6000);
	on(w, 0, 2, RETURN, 0x6010, 0x1015);
	on(w, UINT32_MAX, 3, CALL, 0x1010, 0x7000);
	on(w, UINT32_MAX, 2, RETURN, 0x7010, 0x1015);
	check(w, "+6000 +7000");
	assert_int_equal(callstacks_end(&w->c), 0);
	check(w, "-5000? -6000? -7000?");
}

/* Lengths of calls are unknown for some traces. */
static void test_unknown_length(void **state)
{
	struct world *w = world();
	struct callstack_branch b = {
		.tid = 7, .flags = CALL, .ip = 0x1010, .to = 0x2000, .time = 1};

	(void)state;
	assert_int_equal(callstacks_take(&w->c, &b, NULL), 0);
	take(w, RETURN, 0x2010, 0x1012);
	check(w, "+2000 -2000");
}

static void test_bounds(void **state)
{
	struct world *w = world();
	static const struct callstack_ops none;

	(void)state;
	w->c.ops = &none;
	for (uint64_t i = 0; i < 100000; i++) {
		on(w, 1, 0, CALL, 0x1010, 0x2000);
		assert_true(callstacks_find(&w->c, 1, 0)->nr <= CALLSTACK_DEPTH);
	}
	for (uint32_t tid = 1; tid < 70; tid++)
		for (uint32_t i = 0; i < CALLSTACK_DEPTH; i++)
			on(w, tid, 0, CALL, 0x1010, 0x2000);
	assert_true(w->c.frames <= 2 * CALLSTACK_FRAMES);
	for (uint32_t tid = 1; tid < 3 * CALLSTACK_THREADS; tid++)
		on(w, tid, 0, CALL, 0x1010, 0x2000);
	assert_true(id_table_count(&w->c.table) <= CALLSTACK_THREADS);
	callstacks_release(&w->c);
}

/* Any flags and addresses: under ASan nothing else is checked than bounds. */
static void test_random(void **state)
{
	struct world *w = world();

	(void)state;
	srandom(1);
	for (int i = 0; i < 500000; i++) {
		uint32_t flags = (uint32_t)random() & 0x1fff & (uint32_t)random();
		uint64_t ip = (uint64_t)(random() % 8) * 0x1000 + (uint64_t)(random() % 8) * 5;
		uint64_t to = (uint64_t)(random() % 8) * 0x1000 + (uint64_t)(random() % 8) * 5;

		if (random() % 4 == 0)
			ip += KERNEL;
		if (random() % 4 == 0)
			to += KERNEL;
		on(w, (uint32_t)random() % 4, (uint32_t)random() % 2, flags, ip, to);
		if (random() % 100 == 0)
			assert_int_equal(
				callstacks_gap(&w->c, (uint32_t)random() % 4,
					       random() % 2 ? UINT32_MAX : (uint32_t)random() % 2),
				0);
		w->len = 0;
	}
	assert_int_equal(callstacks_end(&w->c), 0);
	callstacks_release(&w->c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),	cmocka_unit_test(test_odd_returns),
		cmocka_unit_test(test_tails),	cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_outside),
		cmocka_unit_test(test_gaps),	cmocka_unit_test(test_unknown_length),
		cmocka_unit_test(test_bounds),	cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
