// SPDX-License-Identifier: Apache-2.0
/* Lines of this test's own program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/elf/elf_image.h"
#include "symbol/lines/lines.h"

extern const char image_start[] __asm__("__executable_start");

static volatile int sink;

/* Returns an address in the code of its caller. */
static __attribute__((noinline)) uintptr_t where(void)
{
	return (uintptr_t)__builtin_return_address(0) - 1;
}

static inline __attribute__((always_inline)) uintptr_t inner(int *ret_line)
{
	uintptr_t here;

	*ret_line = __LINE__ + 1;
	here = where();
	sink++;
	return here;
}

static __attribute__((noinline)) uintptr_t outer(int *ret_line, int *ret_call)
{
	*ret_call = __LINE__ + 1;
	return inner(ret_line);
}

static void open_self(struct source_lines **ret)
{
	struct elf_image img = ELF_IMAGE_INIT;

	*ret = NULL;
	assert_int_equal(elf_image_open("/proc/self/exe", &img, NULL), 0);
	if (lines_open_image(&img, true, ret))
		skip();
}

static uint64_t linked(uintptr_t addr)
{
	struct elf_image img = ELF_IMAGE_INIT;
	bool fixed;

	assert_int_equal(elf_image_open("/proc/self/exe", &img, NULL), 0);
	fixed = img.ehdr.e_type == ET_EXEC;
	elf_image_close(&img);
	return fixed ? addr : addr - (uintptr_t)image_start;
}

static void test_self(void **state)
{
	struct line_frame f[8];
	struct source_lines *l;
	size_t nr;
	int line, call;
	uintptr_t addr = outer(&line, &call);

	open_self(&l);
	nr = lines_find(l, linked(addr), f, 8);
	assert_int_equal(nr, 2);
	assert_string_equal(f[0].function, "inner");
	assert_true(f[0].inlined);
	assert_string_equal(strrchr(f[0].file, '/'), "/test-lines.c");
	assert_int_equal(f[0].line, line);
	assert_string_equal(f[1].function, "outer");
	assert_false(f[1].inlined);
	assert_int_equal(f[1].line, call);
	assert_string_equal(f[1].file, f[0].file);
	assert_int_equal(lines_find(l, linked(addr), f, 1), 1);
	assert_string_equal(f[0].function, "inner");
	lines_free(l);
}

static void test_nowhere(void **state)
{
	struct line_frame f[8];
	struct source_lines *l;

	open_self(&l);
	assert_int_equal(lines_find(l, 0, f, 8), 0);
	assert_int_equal(lines_find(l, UINT64_MAX, f, 8), 0);
	assert_int_equal(lines_find(l, linked((uintptr_t)&sink), f, 8), 0);
	lines_free(l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_nowhere),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
