// SPDX-License-Identifier: Apache-2.0
/*
 * The recording's clock: a POSIX clock, the kernel's by the records that it writes for this thread,
 * and none where the event cannot be opened.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock_ns.h"
#include "record/plan/clock.h"
#include "sys/kernel/perf_event.h"

static int refusal;	/* the error of perf_event_open(), or 0 */
static int map_refusal; /* of perf_event_map() */

int __real_perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd);
int __wrap_perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd);
int __wrap_perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd)
{
	return refusal ?: __real_perf_event_open(attr, pid, cpu, group_fd);
}

int __real_perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret);
int __wrap_perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret);
int __wrap_perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret)
{
	return map_refusal ?: __real_perf_event_map(fd, data_size, access, ret);
}

static void test_posix(void **state)
{
	const struct sample_opts opts = {.use_clockid = true, .clockid = CLOCK_MONOTONIC};
	struct clock c;
	uint64_t before, now;

	(void)state;
	refusal = -EACCES; /* which nobody asks */
	clock_open(&c, &opts);
	before = now_ns(CLOCK_MONOTONIC);
	for (unsigned int i = 0; i < 10; i++) {
		now = clock_now(&c);
		assert_true(now >= before && now <= now_ns(CLOCK_MONOTONIC));
		before = now;
	}
	clock_close(&c);
	refusal = 0;
}

/* More times than the ring has room for, and samples are taken of. The thread keeps its name. */
static void test_kernels(void **state)
{
	const struct sample_opts opts = {0};
	char name[17] = "", after[17] = "";
	uint64_t last = 0, now;
	struct clock c;

	(void)state;
	prctl(PR_GET_NAME, name);
	clock_open(&c, &opts);
	if (c.fd < 0)
		skip(); /* no events may be opened here */
	for (unsigned int i = 0; i < 1000; i++) {
		now = clock_now(&c);
		assert_true(now > last);
		last = now;
	}
	clock_close(&c);
	prctl(PR_GET_NAME, after);
	assert_string_equal(name, after);
	assert_int_equal(clock_now(&c), 0);
}

/* Another recorder has no record of it. */
static void test_quiet(void **state)
{
	const struct sample_opts opts = {0};
	struct pd_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.flags = PD_ATTR_COMM | PD_ATTR_SAMPLE_ID_ALL | PD_ATTR_EXCLUDE_KERNEL |
			 PD_ATTR_EXCLUDE_HV,
	};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *other;
	struct clock c;
	void *memory = NULL;
	int fd;

	(void)state;
	clock_open(&c, &opts);
	fd = perf_event_open(&attr, 0, -1, -1);
	if (c.fd < 0 || fd < 0 || perf_event_map(fd, size, PERF_EVENT_CONSUME, &memory))
		skip(); /* no events may be opened here */
	other = memory;
	/* Long enough that what was sampled before is no reason to throttle. */
	for (unsigned int i = 0; i < 5; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		assert_true(clock_now(&c) > 0);
	}
	assert_int_equal(other->data_head, 0);
	prctl(PR_SET_NAME, "renamed");
	assert_true(other->data_head > 0);
	perf_event_unmap(memory, size);
	close(fd);
	clock_close(&c);
}

static void test_none(void **state)
{
	const struct sample_opts opts = {0};
	struct clock c = CLOCK_INIT;

	(void)state;
	clock_close(&c);
	refusal = -EACCES;
	clock_open(&c, &opts);
	assert_int_equal(clock_now(&c), 0);
	clock_close(&c);
	refusal = 0;
	map_refusal = -EPERM;
	clock_open(&c, &opts);
	assert_int_equal(c.fd, -1);
	assert_int_equal(clock_now(&c), 0);
	clock_close(&c);
	map_refusal = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_posix),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
