// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of a program. This test program is its own example; nm gives the expected results, if
 * it is installed.
 */
#include "symbol-machine.h"

/* Every function that nm knows must be found at its start, under one of its names. */
static void test_like_nm(void **state)
{
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	char cmd[256], line[4096], name[4096], type;
	unsigned long long addr;
	size_t n = 0, same = 0;
	FILE *f;

	if (sh(p, "nm --version"))
		skip();
	snprintf(cmd, sizeof(cmd), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(cmd, &img, NULL), 0);
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	p->opts.no_demangle = true;
	fresh(p);
	snprintf(cmd, sizeof(cmd), "nm --defined-only '%s/bin/prog'", p->dir);
	f = popen(cmd, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct symbol *s;
		uint64_t off;

		if (sscanf(line, "%llx %c %4095s", &addr, &type, name) != 3 || !strchr("Tti", type))
			continue;
		if (!elf_space_map(&space, 0, addr, &off))
			continue;
		s = resolver_find(p->r, &p->dso, 1, off);
		if (!s)
			fail_msg("%s at 0x%llx is not found", name, addr);
		/* marks without a size inside of functions or between them may differ */
		n++;
		same += s->start == off;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(n > 50);
	assert_true(same + 8 >= n);
	elf_space_release(&space);
	elf_image_close(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_like_nm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
