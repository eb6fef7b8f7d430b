// SPDX-License-Identifier: Apache-2.0
/* Names of the entries of a PLT; objdump gives the expected results, if it is installed. */
#include <fcntl.h>

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

/* Finds the slot of the only entry of .plt.got, and where the entry is in the file. */
static bool only_got_entry(const struct elf_image *img, uint64_t *ret_slot, uint64_t *ret_at)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(img, ".plt.got", &shdr);
	Elf_Data *data = scn ? elf_section_data(scn, &shdr) : NULL;
	const uint8_t *jump;
	int32_t disp;

	if (!data || data->d_size > 16)
		return false;
	jump = memmem(data->d_buf, data->d_size, "\xff\x25", 2);
	if (!jump || jump + 6 > (const uint8_t *)data->d_buf + data->d_size)
		return false;
	memcpy(&disp, jump + 2, sizeof(disp));
	*ret_at = shdr.sh_addr;
	*ret_slot = shdr.sh_addr + (uint64_t)(jump + 6 - (const uint8_t *)data->d_buf) +
		    (uint64_t)(int64_t)disp;
	return true;
}

/* Makes all relocations that are counted as relative name a symbol for @slot. */
static bool claim_slot(const char *path, const struct elf_image *img, uint64_t slot)
{
	const Elf64_Rela claim = {.r_offset = slot, .r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT)};
	GElf_Shdr dynamic, relocations;
	Elf_Scn *scn = elf_section(img, ".dynamic", &dynamic);
	Elf_Data *data = scn ? elf_section_data(scn, &dynamic) : NULL;
	uint64_t count = 0;
	GElf_Dyn dyn;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++)
		if (dyn.d_tag == DT_RELACOUNT)
			count = dyn.d_un.d_val;
	assert_true(fd >= 0);
	if (!elf_section(img, ".rela.dyn", &relocations))
		count = 0;
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(pwrite(fd, &claim, sizeof(claim),
					(off_t)(relocations.sh_offset + i * sizeof(claim))),
				 sizeof(claim));
	close(fd);
	return count;
}

/* Relative relocations are not read; the others of their section are. */
static void test_relative_are_skipped(void **state)
{
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	const struct symbol *s;
	uint64_t slot = 0, at = 0, off;
	char path[256], before[256];

	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(path, &img, NULL), 0);
	if (img.ehdr.e_machine != EM_X86_64 || !only_got_entry(&img, &slot, &at))
		skip();
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	assert_true(elf_space_map(&space, 0, at, &off));
	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	snprintf(before, sizeof(before), "%s", s->name);
	assert_non_null(strstr(before, "@plt"));
	if (!claim_slot(path, &img, slot))
		skip();
	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	assert_string_equal(s->name, before);
	elf_space_release(&space);
	elf_image_close(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_plt),
		PROGRAM_TEST(test_relative_are_skipped),
		PROGRAM_TEST(test_plt_of_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
