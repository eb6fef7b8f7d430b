// SPDX-License-Identifier: Apache-2.0
/* Names of the entries of a PLT; objdump gives the expected results, if it is installed. */
#include "symbol-machine.h"

/* The head of .plt is code without a symbol, and no part of the function before it. */
static void assert_head(struct place *p, const struct elf_image *img, const struct elf_space *space)
{
	const struct symbol *s;
	GElf_Shdr shdr;
	uint64_t off;

	if (!elf_section(img, ".plt", &shdr))
		return;
	assert_true(elf_space_map(space, 0, shdr.sh_addr, &off));
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	assert_int_equal(s->start, off);
	assert_string_equal(s->name, ".plt");
	assert_true(s->end - s->start == 16 || s->end - s->start == 32);
}

/* objdump labels each entry of the PLT. */
static void test_plt(void **state)
{
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	char cmd[256], line[4096], name[2048], want[2100];
	unsigned long long addr;
	size_t n = 0;
	FILE *f;

	if (sh(p, "objdump --version"))
		skip();
	snprintf(cmd, sizeof(cmd), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(cmd, &img, NULL), 0);
	if (img.ehdr.e_machine != EM_X86_64 && img.ehdr.e_machine != EM_AARCH64)
		skip();
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	p->opts.no_demangle = true;
	fresh(p);
	snprintf(cmd, sizeof(cmd), "objdump -d '%s/bin/prog' | grep '@plt>:$'", p->dir);
	f = popen(cmd, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct symbol *s;
		uint64_t off;

		if (sscanf(line, "%llx <%2047[^>@]", &addr, name) != 2 || strchr(name, '*'))
			continue;
		assert_true(elf_space_map(&space, 0, addr, &off));
		snprintf(want, sizeof(want), "%s@plt", name);
		s = resolver_find(p->r, &p->dso, 1, off);
		if (!s)
			fail_msg("%s is not found", want);
		assert_string_equal(s->name, want);
		n++;
	}
	pclose(f);
	assert_true(n > 5);
	assert_head(p, &img, &space);
	elf_space_release(&space);
	elf_image_close(&img);
}

/* An entry whose relocation names no symbol, but the function that chooses among several. */
static void test_plt_of_chosen(void **state)
{
	static const char source[] = "rm $D/bin/prog; cc -x c -o $D/bin/prog - <<'EOF'\n"
				     "static int one(void) { return 1; }\n"
				     "static int (*pick(void))(void) { return one; }\n"
				     "__attribute__((ifunc(\"pick\"), visibility(\"hidden\")))\n"
				     "int chosen(void);\n"
				     "int main(void) { return chosen(); }\n"
				     "EOF\n"
				     "test -s $D/bin/prog";
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	const struct symbol *s;
	struct elf_space space;
	char text[256];
	unsigned long long addr;
	uint64_t off;
	FILE *f;

	if (sh(p, source) || sh(p, "objdump --version"))
		skip();
	fresh(p);
	snprintf(text, sizeof(text), "objdump -d '%s/bin/prog' | grep '\\*ABS\\*.*@plt>:$'",
		 p->dir);
	f = popen(text, "re");
	assert_non_null(f);
	if (!fgets(text, sizeof(text), f)) {
		pclose(f);
		skip(); /* this linker calls it without an entry, or objdump names it */
	}
	pclose(f);
	assert_int_equal(sscanf(text, "%llx", &addr), 1);
	snprintf(text, sizeof(text), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(text, &img, NULL), 0);
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	assert_true(elf_space_map(&space, 0, addr, &off));
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	assert_string_equal(s->name, "chosen@plt");
	elf_space_release(&space);
	elf_image_close(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_plt),
		PROGRAM_TEST(test_plt_of_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
