// SPDX-License-Identifier: Apache-2.0
/* Events that a kernel refuses: older ones, without a PMU, for users, with a clock. */
#include "refusing-kernel.h"

#include "record/open/fallback.h"

static void test_kernel_that_overwrites_nothing(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.flags = ~(uint64_t)PD_ATTR_WRITE_BACKWARD;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock/overwrite/"), -EINVAL);
	assert_non_null(strstr(lab.err.text, "4.7"));
	lab_close(&lab);
}

static void test_older_kernel(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.flags = ~(PD_ATTR_BUILD_ID | PD_ATTR_CGROUP);
	k.read_format = ~(uint64_t)PERF_FORMAT_LOST;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), 0);
	assert_non_null(strstr(lab.said, "older than 6.0"));
	assert_non_null(strstr(lab.said, "older than 5.12"));
	assert_non_null(strstr(lab.said, "older than 5.7"));
	assert_null(strstr(lab.said, "5.1:")); /* what it has stays */
	assert_true(lab.plan->events[1].attr.flags & PD_ATTR_KSYMBOL);
	assert_false(lab.plan->events[1].attr.flags & PD_ATTR_BUILD_ID);
	assert_false(lab.plan->events[0].attr.read_format & PERF_FORMAT_LOST);
	lab_close(&lab);
}

static void test_precision_comes_down(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.precise = 1;
	assert_int_equal(lab_open(&lab, &k, NULL), 0);
	assert_int_equal(lab.plan->events[0].attr.flags & PD_ATTR_PRECISE_IP,
			 1ull << PD_ATTR_PRECISE_IP_SHIFT);
	lab_close(&lab);

	/* One that was asked for does not. */
	assert_int_equal(lab_open(&lab, &k, "cycles:pp"), -EOPNOTSUPP);
	assert_non_null(strstr(lab.err.text, "cycles:pp"));
	lab_close(&lab);
}

static void test_no_pmu(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.pmu = false;
	assert_int_equal(lab_open(&lab, &k, NULL), 0);
	assert_string_equal(lab.plan->events[0].name, "cpu-clock");
	assert_string_equal(lab.said,
			    "no event given: recording cpu-clock (no PMU here counts cycles)\n");
	lab_close(&lab);

	assert_int_equal(lab_open(&lab, &k, "instructions"), -ENOENT);
	assert_non_null(strstr(lab.err.text, "cpu-clock"));
	assert_string_equal(lab.said, "");
	lab_close(&lab);
}

static void test_user_only(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.user_only = true;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock,page-faults"), 0);
	assert_string_equal(lab.plan->events[0].name, "cpu-clock:u");
	assert_string_equal(lab.plan->events[1].name, "page-faults:u");
	assert_non_null(strstr(lab.said, "perf_event_paranoid is 2"));
	assert_null(strstr(lab.said, "counts nothing"));
	lab_close(&lab);

	/* What happens in the kernel alone counts nothing then, and :u by itself does the same. */
	assert_int_equal(lab_open(&lab, &k, "page-faults,context-switches,migrations"), 0);
	assert_non_null(strstr(lab.said, "event 'context-switches:u' counts nothing"));
	assert_non_null(strstr(lab.said, "event 'migrations:u' counts nothing"));
	assert_non_null(strstr(lab.said, "'sysctl kernel.perf_event_paranoid=1'"));
	assert_null(strstr(lab.said, "'page-faults"));
	lab_close(&lab);
	assert_int_equal(lab_open(&lab, &newest, "cs:u,cs:k,cs"), 0);
	assert_string_equal(lab.said, "event 'cs:u' counts nothing: it happens in the kernel, "
				      "which the options leave out\n");
	lab_close(&lab);

	/* A user who asks for the kernel gets nothing else. */
	assert_int_equal(lab_open(&lab, &k, "cpu-clock:k"), -EACCES);
	assert_non_null(strstr(lab.err.text, "perf_event_paranoid"));
	lab_close(&lab);
}

static void test_clock_is_blamed(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), 0);
	opened_close(lab.opened);
	lab.opened = NULL;
	for (size_t i = 0; i < lab.plan->nr; i++) {
		lab.plan->events[i].attr.flags |= PD_ATTR_USE_CLOCKID;
		lab.plan->events[i].attr.clockid = 99;
	}
	assert_int_equal(open_plan(lab.plan, &lab.limits, &(struct messages){hear, &lab},
				   &lab.opened, &lab.err),
			 -EINVAL);
	assert_non_null(strstr(lab.err.text, "clock 99"));
	assert_non_null(strstr(lab.err.text, "cpu-clock")); /* not the dummy */
	lab_close(&lab);
}

static void test_counts_but_cannot_sample(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.counts_only = true;
	assert_int_equal(lab_open(&lab, &k, "page-faults"), -EINVAL);
	assert_non_null(strstr(lab.err.text, "'page-faults' counts but cannot sample"));
	lab_close(&lab);
	assert_int_equal(lab_open(&lab, &k, "{cs,page-faults}:S"), 0);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_that_overwrites_nothing),
		cmocka_unit_test(test_older_kernel),
		cmocka_unit_test(test_precision_comes_down),
		cmocka_unit_test(test_no_pmu),
		cmocka_unit_test(test_user_only),
		cmocka_unit_test(test_clock_is_blamed),
		cmocka_unit_test(test_counts_but_cannot_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
