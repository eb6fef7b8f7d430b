// SPDX-License-Identifier: Apache-2.0
/* Symbols of programs, from each table that a file may have. */
#include "symbol-machine.h"

static void test_minidebug(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);

	if (sh(p,
	       "cd $D && objcopy -S --keep-symbol=test_symbol_example bin/prog mini && xz mini && "
	       "strip bin/prog && objcopy --add-section .gnu_debugdata=mini.xz bin/prog"))
		skip();
	assert_true(finds(p, off));
}

/* A program linked to a fixed address: offsets in the file are far from what the linker says. */
static void test_fixed_address(void **state)
{
	struct place *p = *state;
	unsigned long long addr, seg_off, seg_addr;
	char cmd[512];
	FILE *f;

	if (sh(p, "echo 'int test_symbol_example(int x) { return x * 3; } int main(void) "
		  "{ return test_symbol_example(1); }' | cc -no-pie -x c - -o $D/bin/prog && "
		  "nm --version && readelf --version"))
		skip();
	snprintf(cmd, sizeof(cmd),
		 "nm '%s/bin/prog' | awk '$3 == \"test_symbol_example\" { print \"0x\" $1 }'; "
		 "readelf -lW '%s/bin/prog' | awk '$1 == \"LOAD\" && / E / { print $2, $3; exit }'",
		 p->dir, p->dir);
	f = popen(cmd, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llx %llx %llx", &addr, &seg_off, &seg_addr), 3);
	pclose(f);
	assert_true(seg_addr != seg_off);
	assert_true(finds(p, addr - seg_addr + seg_off));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_minidebug),
		PROGRAM_TEST(test_fixed_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
