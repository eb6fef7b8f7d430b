// SPDX-License-Identifier: Apache-2.0
/* The memory limit of a cgroup, from trees as the kernel and containers show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sys/kernel/memory.h"
#include "tree.h"

#define CGROUP "proc/self/cgroup"
#define SYS    "sys/fs/cgroup"

static void test_none(void **state)
{
	struct tree t;

	(void)state;
	tree_make(&t);
	assert_true(memory_cgroup_limit(t.root) == UINT64_MAX);
	tree_file(&t, CGROUP, "garbage\n1:\n\n::\n0::\n2:memory:\n");
	assert_true(memory_cgroup_limit(t.root) == UINT64_MAX);
	tree_file(&t, CGROUP, "0::/a/b\n");
	tree_file(&t, SYS "/a/b/memory.max", "max\n");
	assert_true(memory_cgroup_limit(t.root) == UINT64_MAX);
	tree_remove(&t);
}

static void test_unified(void **state)
{
	struct tree t;

	(void)state;
	tree_make(&t);
	tree_file(&t, CGROUP, "0::/a/b/c\n");
	tree_file(&t, SYS "/a/b/c/memory.max", "max\n");
	tree_file(&t, SYS "/a/b/memory.max", "3000000\n");
	tree_file(&t, SYS "/a/memory.max", "7000000\n");
	assert_int_equal(memory_cgroup_limit(t.root), 3000000);
	tree_file(&t, SYS "/a/memory.max", "2000000\n");
	assert_int_equal(memory_cgroup_limit(t.root), 2000000);
	/* Beside controllers of version 1. */
	tree_file(&t, SYS "/unified/a/b/c/memory.max", "1000000\n");
	assert_int_equal(memory_cgroup_limit(t.root), 1000000);
	/* In a container with its own part of the tree, and its own name for it or not. */
	tree_file(&t, SYS "/memory.max", "500000\n");
	tree_file(&t, CGROUP, "0::/\n");
	assert_int_equal(memory_cgroup_limit(t.root), 500000);
	tree_file(&t, CGROUP, "0::/docker/1234\n");
	assert_int_equal(memory_cgroup_limit(t.root), 500000);
	tree_remove(&t);
}

static void test_version_1(void **state)
{
	struct tree t;

	(void)state;
	tree_make(&t);
	tree_file(&t, CGROUP, "9:cpu,memory:/x/y\n8:memoryless:/z\n1:name=systemd:/z\n0::/\n");
	tree_file(&t, SYS "/memory/memory.limit_in_bytes", "9223372036854771712\n");
	tree_file(&t, SYS "/memory/z/memory.limit_in_bytes", "5\n");
	assert_true(memory_cgroup_limit(t.root) >= INT64_MAX / 2);
	tree_file(&t, SYS "/memory/x/y/memory.limit_in_bytes", "67108864\n");
	assert_int_equal(memory_cgroup_limit(t.root), 67108864);
	tree_remove(&t);
}

static void test_this_machine(void **state)
{
	(void)state;
	assert_true(memory_total() > 0);
	assert_true(memory_total() <=
		    (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_unified),
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
