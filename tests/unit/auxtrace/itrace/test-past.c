// SPDX-License-Identifier: Apache-2.0
/* The past of threads: their last branches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auxtrace/itrace/past.h"

static void begin(struct itrace_past *p, uint32_t max)
{
	const struct itrace_opts o = {.last = true, .last_max = max, .chain_max = max};

	assert_int_equal(itrace_past_init(p, &o), 0);
}

/* Branches that follow one another: from @first to @first + @nr. */
static void take(struct itrace_past *p, uint32_t tid, uint32_t cpu, uint64_t first, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		const struct itrace_sample s = {
			.tid = tid, .cpu = cpu, .ip = first + i, .addr = first + i + 1};

		assert_int_equal(itrace_past_take(p, &s), 0);
	}
}

static void check(struct itrace_past *p, uint32_t tid, uint32_t cpu, uint64_t newest, size_t nr)
{
	const struct pd_branch *b;

	assert_int_equal(itrace_past_branches(p, tid, cpu, &b), nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(b[i].from, newest - i);
		assert_int_equal(b[i].to, newest - i + 1);
	}
}

static void test_newest_first(void **state)
{
	struct itrace_past p;

	(void)state;
	begin(&p, 5);
	check(&p, 7, 0, 0, 0);
	take(&p, 7, 0, 100, 3);
	check(&p, 7, 0, 102, 3);
	take(&p, 7, 0, 103, 2);
	check(&p, 7, 0, 104, 5);
	for (uint64_t next = 105; next < 130; next++) {
		take(&p, 7, 0, next, 1);
		check(&p, 7, 0, next, 5);
	}
	itrace_past_release(&p);
}

/* A thread takes its past to another CPU; the idle threads of two CPUs are two. */
static void test_threads(void **state)
{
	struct itrace_past p;

	(void)state;
	begin(&p, 4);
	for (uint32_t tid = 1; tid < 100; tid++)
		take(&p, tid, 0, 1000 * tid, 2);
	take(&p, 0, 1, 10, 1);
	take(&p, 0, 2, 20, 1);
	take(&p, UINT32_MAX, 2, 21, 1);
	take(&p, 5, 3, 5002, 1);
	check(&p, 5, 1, 5002, 3);
	check(&p, 6, 0, 6001, 2);
	check(&p, 0, 1, 10, 1);
	check(&p, 0, 2, 21, 2);
	itrace_past_release(&p);
}

static void test_gap(void **state)
{
	struct itrace_past p;

	(void)state;
	begin(&p, 2);
	take(&p, 1, 0, 10, 5);
	assert_int_equal(itrace_past_gap(&p, UINT32_MAX, 0), 0);
	check(&p, 1, 0, 0, 0);
	take(&p, 1, 0, 30, 1);
	check(&p, 1, 0, 30, 1);
	itrace_past_release(&p);
}

static void test_flags(void **state)
{
	const struct itrace_sample s = {.tid = 1, .flags = AUX_BRANCH | AUX_IN_TX | AUX_TX_ABORT};
	const struct pd_branch *b;
	struct itrace_past p;

	(void)state;
	begin(&p, 1);
	assert_int_equal(itrace_past_take(&p, &s), 0);
	assert_int_equal(itrace_past_branches(&p, 1, 0, &b), 1);
	assert_int_equal(b->flags, 4 | 8); /* in_tx, abort of struct perf_branch_entry */
	itrace_past_release(&p);
}

#define KERNEL (1ull << 63)

static void branch(struct itrace_past *p, uint32_t flags, uint64_t ip, uint64_t to)
{
	const struct itrace_sample s = {
		.tid = 1, .flags = AUX_BRANCH | flags, .ip = ip, .addr = to, .insn_len = 5};

	assert_int_equal(itrace_past_take(p, &s), 0);
}

static void check_chain(struct itrace_past *p, uint64_t ip, bool recorded, const uint64_t *wanted,
			size_t nr)
{
	const uint64_t *chain;

	assert_int_equal(itrace_past_chain(p, 1, 0, ip, recorded, &chain), nr);
	assert_memory_equal(chain, wanted, nr * sizeof(*chain));
}

#define CHAIN(p, ip, recorded, ...)                                                       \
	do {                                                                              \
		const uint64_t wanted[] = {__VA_ARGS__};                                  \
		check_chain(p, ip, recorded, wanted, sizeof(wanted) / sizeof(wanted[0])); \
	} while (0)

static void test_chain(void **state)
{
	const uint64_t user = PERF_CONTEXT_USER, kernel = PERF_CONTEXT_KERNEL;
	struct itrace_past p;

	(void)state;
	begin(&p, 6);
	CHAIN(&p, 100, false, user, 100);
	branch(&p, AUX_CALL, 100, 200);
	branch(&p, AUX_CALL, 210, 300);
	CHAIN(&p, 300, false, user, 300, 215, 105);
	/* No call had that return address: the code changed it. */
	branch(&p, AUX_RETURN, 300, 777);
	CHAIN(&p, 777, false, user, 777, 215, 105);
	branch(&p, AUX_CALL | AUX_SYSCALLRET, 310, KERNEL | 10);
	branch(&p, AUX_CALL, KERNEL | 20, KERNEL | 30);
	CHAIN(&p, KERNEL | 30, false, kernel, KERNEL | 30, KERNEL | 25, user, 315, 215, 105);
	/* The kernel's part came later than a recorded sample in user space. */
	CHAIN(&p, 310, true, user, 310, 315, 215, 105);
	CHAIN(&p, KERNEL | 30, true, kernel, KERNEL | 30, KERNEL | 25, user, 315, 215, 105);
	branch(&p, AUX_CALL, KERNEL | 40, KERNEL | 50);
	/* Too long: the outermost callers are left out. */
	CHAIN(&p, KERNEL | 50, false, kernel, KERNEL | 50, KERNEL | 45, KERNEL | 25, user, 315,
	      215);
	assert_int_equal(itrace_past_exec(&p, 2), 0);
	CHAIN(&p, 310, true, user, 310, 315, 215, 105);
	assert_int_equal(itrace_past_exec(&p, 1), 0);
	CHAIN(&p, 5, false, user, 5);
	branch(&p, AUX_CALL, 100, 200);
	CHAIN(&p, 200, false, user, 200, 105);
	assert_int_equal(itrace_past_gap(&p, UINT32_MAX, 0), 0);
	CHAIN(&p, 5, false, user, 5);
	itrace_past_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_first), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_gap),	     cmocka_unit_test(test_flags),
		cmocka_unit_test(test_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
