// SPDX-License-Identifier: Apache-2.0
/* Which files are read early, and how much memory their symbols may take. */
#include <fcntl.h>
#include <libelf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/initial/early_table.h"
#include "symbol/elf/elf_image.h"

static const struct build_id no_id;

/* Copies this program to @path. Returns its bytes, for munmap() with *@ret_size. */
static void *copy_self(char path[32], size_t *ret_size)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	struct stat st;
	void *bytes;

	strcpy(path, "/tmp/early-table-XXXXXX");
	to = mkstemp(path);
	assert_true(from >= 0 && to >= 0 && !fstat(from, &st));
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, from, 0);
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(write(to, bytes, (size_t)st.st_size), st.st_size);
	munmap(bytes, (size_t)st.st_size);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	assert_true(bytes != MAP_FAILED);
	close(from);
	close(to);
	*ret_size = (size_t)st.st_size;
	return bytes;
}

/* Returns the table of the whole file, without what is wanted. */
static struct symtab *table_of_file(const struct elf_image *img, const struct elf_space *space)
{
	struct symtab_builder b = {0};
	struct symtab *t = NULL;
	size_t nr = 0;

	assert_int_equal(elf_add_symbols(img, SHT_SYMTAB, space, &b, &nr), 0);
	assert_int_equal(elf_add_symbols(img, SHT_DYNSYM, space, &b, &nr), 0);
	assert_int_equal(elf_add_plt(img, space, &b, &nr), 0);
	assert_int_equal(symtab_build(&b, &t), 0);
	return t;
}

/* Checks that the copy has for pieces of @section the names that the file has. */
static void check_names(const struct early_table *early, const struct elf_image *img,
			const struct elf_space *space, const char *section)
{
	struct symtab *all = table_of_file(img, space), *few = NULL;
	uint64_t addr[64], bytes = 16, named = 0, start;
	struct symtab_wanted w = {.addr = addr, .bytes = bytes};
	GElf_Shdr shdr;
	bool stripped;

	assert_non_null(elf_section(img, section, &shdr));
	assert_true(elf_space_map(space, SHN_XINDEX, shdr.sh_addr, &start));
	for (; w.nr < 64 && (w.nr + 1) * bytes <= shdr.sh_size; w.nr++)
		addr[w.nr] = start + w.nr * bytes;
	assert_int_equal(early_table_symbols(early, &w, &few, &stripped), 0);
	assert_false(stripped);
	for (size_t i = 0; i < w.nr; i++) {
		const struct symbol *a = symtab_find(all, addr[i], false);
		const struct symbol *b = symtab_find(few, addr[i], false);

		named += b != NULL;
		assert_int_equal(!a, !b);
		if (a)
			assert_string_equal(a->name, b->name);
	}
	assert_true(named);
	symtab_free(few);
	symtab_free(all);
}

static void test_a_fresh_program(void **state)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	struct early_tables t = {0};
	char path[32];
	size_t size;
	void *bytes = copy_self(path, &size);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct early_table *table = early_table_make(&t, path, path, fd, &no_id);

	assert_non_null(table);
	assert_true(t.bytes > 0 && t.bytes < size);
	assert_int_equal(t.refused, 0);
	assert_int_equal(elf_image_open(path, &img, NULL), 0);
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	check_names(table, &img, &space, ".text");
	check_names(table, &img, &space, ".plt");
	elf_space_release(&space);
	elf_image_close(&img);
	close(fd);
	early_tables_release(&t);
	munmap(bytes, size);
	unlink(path);
}

/* The file that was checked is read, whatever has its name by now. */
static void test_another_file_of_that_name(void **state)
{
	struct early_tables t = {0};
	char path[32];
	size_t size;
	void *bytes = copy_self(path, &size);
	int fd = open(path, O_RDONLY | O_CLOEXEC), other;

	unlink(path);
	other = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && other >= 0);
	assert_non_null(early_table_make(&t, path, path, fd, &no_id));
	early_tables_release(&t);
	munmap(bytes, size);
	close(other);
	close(fd);
	unlink(path);
}

/* A table of names in a hole of the file would take much memory, whatever it is called. */
static void test_a_table_that_is_too_large(void **state)
{
	struct early_tables t = {0};
	char path[32];
	size_t size;
	uint8_t *bytes = copy_self(path, &size);
	const ElfW(Ehdr) *header = (const void *)bytes;
	ElfW(Shdr) *section = (void *)(bytes + header->e_shoff);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < header->e_shnum; i++) {
		ElfW(Shdr) *strings = &section[section[i].sh_link];

		if (section[i].sh_type != SHT_SYMTAB)
			continue;
		section[i].sh_name = strings->sh_name = 0;
		strings->sh_offset = size;
		strings->sh_size = 2 * EARLY_TABLES_MAX;
	}
	assert_int_equal(truncate(path, (off_t)size + 2 * EARLY_TABLES_MAX), 0);
	assert_null(early_table_make(&t, path, path, fd, &no_id));
	assert_int_equal(t.refused, 1);
	close(fd);
	early_tables_release(&t);
	munmap(bytes, size);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fresh_program),
		cmocka_unit_test(test_another_file_of_that_name),
		cmocka_unit_test(test_a_table_that_is_too_large),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
