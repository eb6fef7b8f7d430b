// SPDX-License-Identifier: Apache-2.0
/* Counts the CPUs of a machine that may have more than fit in a cpu_set_t. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

static void put(const char *dir, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "mkdir -p $(dirname %s/%s)", dir, path);
	assert_int_equal(system(full), 0);
	snprintf(full, sizeof(full), "%s/%s", dir, path);
	f = fopen(full, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void quotas_count(void **state)
{
	char dir[] = "/tmp/test-cpus-XXXXXX", command[64];

	assert_non_null(mkdtemp(dir));
	possible = 64;
	allowed = 16;
	assert_int_equal(cpus_usable(dir), 16);
	put(dir, "proc/self/cgroup", "4:memory:/x\n0::/a/b\n");
	assert_int_equal(cpus_usable(dir), 16);
	put(dir, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	assert_int_equal(cpus_usable(dir), 16);
	put(dir, "sys/fs/cgroup/a/cpu.max", "350000 100000\n");
	assert_int_equal(cpus_usable(dir), 4);
	put(dir, "sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
	assert_int_equal(cpus_usable(dir), 1);
	put(dir, "sys/fs/cgroup/a/b/cpu.max", "9900000 100000\n");
	assert_int_equal(cpus_usable(dir), 4);
	put(dir, "proc/self/cgroup", "0::/\n");
	assert_int_equal(cpus_usable(dir), 16);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_counted),
		cmocka_unit_test(quotas_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
