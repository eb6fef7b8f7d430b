// SPDX-License-Identifier: Apache-2.0
/* Lines of this test's own program. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
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
	if (lines_open_image(&img, true, NULL, ret))
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

static void read_self(struct buf *ret)
{
	FILE *f = fopen("/proc/self/exe", "r");
	uint8_t part[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(part, 1, sizeof(part), f)))
		assert_int_equal(buf_append(ret, part, n), 0);
	fclose(f);
}

/* Returns this program with the end of a section of strings overwritten, or skips. */
static void damage_self(struct buf *ret, const char *section)
{
	struct elf_image img = ELF_IMAGE_INIT;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	read_self(ret);
	assert_int_equal(elf_image_open("/proc/self/exe", &img, NULL), 0);
	assert_int_equal(elf_getshdrstrndx(img.elf, &names), 0);
	while ((scn = elf_nextscn(img.elf, scn)) && gelf_getshdr(scn, &shdr))
		if (!strcmp(elf_strptr(img.elf, names, shdr.sh_name), section))
			break;
	if (scn)
		ret->data[shdr.sh_offset + shdr.sh_size - 1] = 'x';
	elf_image_close(&img);
	if (!scn || shdr.sh_flags & SHF_COMPRESSED) {
		buf_release(ret);
		skip();
	}
}

/* Strings that run beyond their section: the file is not read. */
static void test_strings_without_end(void **state)
{
	static const char *const section[] = {".debug_str", ".debug_line_str"};

	for (size_t i = 0; i < 2; i++) {
		struct elf_image img = ELF_IMAGE_INIT;
		struct buf mem = {0};
		struct source_lines *l;

		damage_self(&mem, section[i]);
		assert_int_equal(elf_image_memory(&mem, &img, NULL), 0);
		assert_int_equal(lines_open_image(&img, true, NULL, &l), -EBADMSG);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_strings_without_end),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
