// SPDX-License-Identifier: Apache-2.0
/* Uses of maps that an early state has given, against states that know more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "unwind/uses.h"

#define PID 42

static struct moment at(uint64_t time)
{
	return (struct moment){time, time};
}

static void map(struct state *s, uint64_t time, uint64_t addr, const char *name)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.mmap = (struct pd_mmap){.pid = PID,
				    .tid = PID,
				    .addr = addr,
				    .len = 0x10000,
				    .prot = PROT_READ | PROT_EXEC,
				    .filename = name};
	assert_int_equal(state_apply(s, &rec, at(time)), 0);
}

static void exec(struct state *s, uint64_t time)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_COMM,
					.misc = PERF_RECORD_MISC_COMM_EXEC};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.comm = (struct pd_comm){.pid = PID, .tid = PID, .comm = "next", .exec = true};
	assert_int_equal(state_apply(s, &rec, at(time)), 0);
}

/* The state that walks ask early: two files, from 10 on. */
static struct state *early_state(void)
{
	struct state *s = state_new();

	assert_non_null(s);
	map(s, 10, 0x100000, "/bin/one");
	map(s, 10, 0x200000, "/bin/two");
	return s;
}

static void ask(struct unwind_uses *u, const struct state *s, uint64_t time, uint64_t ip)
{
	struct state_view v = state_view(s, PID, at(time));
	struct location loc;

	state_view_find(&v, PERF_RECORD_MISC_USER, ip, &loc);
	unwind_uses_note(u, &v, ip, &loc);
}

/* How the whole state differs. */
enum change {
	NOTHING,
	LATER,	      /* the program maps another file elsewhere */
	AFTER,	      /* and executes another program, after all walks */
	BETWEEN,      /* it executes one between two walks */
	OTHER_FILE,   /* another file was mapped there */
	OTHER_PLACE,  /* or the file elsewhere */
	COVERED,      /* part of it was covered for a while */
	MAPPED_THERE, /* where nothing was mapped something was */
	CHANGES,
};

static struct state *whole_state(enum change change)
{
	struct state *s = state_new();

	assert_non_null(s);
	map(s, 10, change == OTHER_PLACE ? 0x101000 : 0x100000,
	    change == OTHER_FILE ? "/bin/1" : "/bin/one");
	map(s, 10, 0x200000, "/bin/two");
	if (change == MAPPED_THERE)
		map(s, 15, 0x300000, "/bin/three");
	if (change == LATER)
		map(s, 25, 0x400000, "/bin/four");
	if (change == COVERED) {
		map(s, 25, 0x108000, "/bin/five");
		map(s, 26, 0x100000, "/bin/one");
	}
	if (change == BETWEEN)
		exec(s, 25);
	if (change == AFTER)
		exec(s, 35);
	assert_int_equal(state_finish(s), 0);
	return s;
}

static void test_changes(void **state)
{
	struct state *early = early_state();
	struct unwind_uses u = {0};

	(void)state;
	ask(&u, early, 20, 0x101800);
	ask(&u, early, 20, 0x300000);
	ask(&u, early, 30, 0x200000);
	ask(&u, early, 30, 0x10f000);
	assert_int_equal(u.nr, 3);
	for (enum change change = 0; change < CHANGES; change++) {
		struct state *whole = whole_state(change);

		assert_int_equal(unwind_uses_hold(&u, whole), change <= AFTER);
		state_free(whole);
	}
	state_free(early);
}

/* A map that another one covers in its middle is two ranges, and these are as they were. */
static void test_ranges(void **state)
{
	struct state *early = state_new(), *whole = state_new();
	struct unwind_uses u = {0};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct state *s = i ? whole : early;

		map(s, 10, 0x100000, "/bin/one");
		map(s, 11, 0x0f8000, "/bin/two");
	}
	assert_int_equal(state_finish(whole), 0);
	ask(&u, early, 20, 0x107fff);
	ask(&u, early, 20, 0x108000);
	ask(&u, early, 21, 0x10ffff);
	assert_int_equal(u.nr, 2);
	assert_true(unwind_uses_hold(&u, whole));
	/* Before the second map the first one was there, too; so it is not steady. */
	ask(&u, early, 10, 0x100000);
	assert_int_equal(u.nr, 2);
	assert_false(unwind_uses_hold(&u, whole));
	state_free(early);
	state_free(whole);
}

static void test_full(void **state)
{
	struct state *s = early_state();
	struct unwind_uses u = {0};

	(void)state;
	for (uint64_t i = 0; i < UNWIND_USES_MAX; i++)
		ask(&u, s, 20, 0x500000 + i);
	assert_int_equal(state_finish(s), 0);
	assert_true(unwind_uses_hold(&u, s));
	ask(&u, s, 20, 0x500000);
	assert_true(unwind_uses_hold(&u, s));
	ask(&u, s, 20, 0x600000);
	assert_false(unwind_uses_hold(&u, s));
	state_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
