// SPDX-License-Identifier: Apache-2.0
/* Counts the CPUs of a machine that may have more than fit in a cpu_set_t. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/kernel/cpus.h"

static size_t possible, allowed; /* of the made-up machine */

/* In place of libc's. The kernel takes no set that is smaller than what it may have. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
	if (size * 8 < possible) {
		errno = EINVAL;
		return -1;
	}
	memset(ret, 0, size);
	for (size_t i = 0; i < allowed; i++)
		CPU_SET_S(possible - 1 - i, size, ret);
	return 0;
}

static void all_are_counted(void **state)
{
	for (possible = 1; possible <= 16384; possible = possible * 3 / 2 + 1)
		for (allowed = 1; allowed <= possible; allowed = allowed * 5 + 1)
			assert_int_equal(cpus_allowed(), allowed);
	possible = CPUS_MAX * 2;
	assert_int_equal(cpus_allowed(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
