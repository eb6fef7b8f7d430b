// SPDX-License-Identifier: Apache-2.0
/* Copies the code of a made-up kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/initial/kcore.h"
#include "symbol/elf/elf_image.h"
#include "tree.h"

#define TEXT	0xffffffff81000000ULL
#define MODULES 0xffffffffc0000000ULL
#define BPF	0xffffc90000000000ULL
#define MB	(1ULL << 20)

/* The segments of the kernel's file: text, modules, and other memory, which is not copied. */
static const struct {
	uint64_t addr, size, offset;
} segments[] = {
	{TEXT, 2 * MB, 4096},
	{MODULES, 64 * MB, 4096 + 2 * MB},
	{0xffff888000000000, MB, 4096 + 66 * MB},
	{BPF, 2048 * MB, 4096 + 67 * MB},
};
#define NR (sizeof(segments) / sizeof(segments[0]))

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000123 t function\n"
			       "ffffffff81012345 T _etext\n"
			       "ffff888000000000 D data\n"
			       "ffffffffc0002040 t in_module\t[module]\n"
			       "ffffffffc2000040 t far_away\t[other]\n"
			       "ffffffffc3000000 d variable\t[other]\n"
			       "ffffffffc3fff000 t bpf_prog_1\t[bpf]\n";
static const char modules[] = "module 16384 0 - Live 0xffffffffc0002000\n";

/* The byte of the kernel's memory at @addr. */
static uint8_t byte_at(uint64_t addr)
{
	return (uint8_t)(addr * 7 + (addr >> 12) * 31 + 1);
}

/* Only some pages of the file have contents. */
static void make_page(FILE *f, uint64_t addr)
{
	for (size_t i = 0; i < NR; i++) {
		if (addr - segments[i].addr >= segments[i].size)
			continue;
		fseek(f, (long)(segments[i].offset + (addr - segments[i].addr)), SEEK_SET);
		for (uint64_t at = addr; at < addr + 4096; at++)
			fputc(byte_at(at), f);
	}
}

static void make_kcore(const struct tree *t, size_t nr)
{
	const Elf64_Ehdr ehdr = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(ehdr),
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)nr,
	};
	char path[PATH_MAX];
	FILE *f;

	tree_path(t, "kcore", path);
	f = fopen(path, "w");
	assert_non_null(f);
	fwrite(&ehdr, sizeof(ehdr), 1, f);
	for (size_t i = 0; i < nr; i++) {
		const Elf64_Phdr ph = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_W | PF_X,
			.p_vaddr = segments[i].addr,
			.p_offset = segments[i].offset,
			.p_filesz = segments[i].size,
			.p_memsz = segments[i].size,
		};

		fwrite(&ph, sizeof(ph), 1, f);
	}
	for (uint64_t addr = TEXT; addr < TEXT + 0x14000; addr += 4096)
		make_page(f, addr);
	make_page(f, MODULES + 0x2000);
	make_page(f, MODULES + 0x3000);
	make_page(f, MODULES + 0x2000000);
	make_page(f, MODULES + 0x3fff000);
	make_page(f, 0xffff888000000000);
	fseek(f, (long)(segments[NR - 1].offset + segments[NR - 1].size - 1), SEEK_SET);
	fputc(0, f);
	assert_int_equal(fclose(f), 0);
}

static void check_text(const struct tree *t, const char *name, const char *text)
{
	char path[PATH_MAX], read[4096];
	size_t n;
	FILE *f;

	tree_path(t, name, path);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(read, 1, sizeof(read), f);
	fclose(f);
	assert_int_equal(n, strlen(text));
	assert_memory_equal(read, text, n);
}

/* Whether the copy has the page at @addr, with its bytes. */
static bool has_page(const struct elf_image *img, uint64_t addr)
{
	struct elf_space space = {0};
	uint8_t page[4096];
	uint64_t offset;
	bool has;

	assert_int_equal(elf_space_file(img, &space, NULL), 0);
	has = elf_space_map(&space, 0, addr, &offset);
	elf_space_release(&space);
	if (!has)
		return false;
	assert_int_equal(elf_image_read(img, offset, page, sizeof(page)), sizeof(page));
	for (size_t i = 0; i < sizeof(page); i++)
		if (page[i] != byte_at(addr + i))
			return false;
	return true;
}

static void test_code_is_copied(void **state)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct error err = ERROR_INIT;
	char path[PATH_MAX];
	struct stat st;
	struct tree t;
	GElf_Phdr ph;
	size_t n;

	(void)state;
	tree_make(&t);
	tree_file(&t, "kallsyms", kallsyms);
	tree_file(&t, "modules", modules);
	make_kcore(&t, NR);
	tree_path(&t, "out/data", path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(kcore_copy(t.root, path, &err), 0);
	check_text(&t, "out/kcore_dir/kallsyms", kallsyms);
	check_text(&t, "out/kcore_dir/modules", modules);

	tree_path(&t, "out/kcore_dir/kcore", path);
	assert_int_equal(elf_image_open(path, &img, &err), 0);
	assert_int_equal(img.ehdr.e_machine, EM_X86_64);
	assert_int_equal(img.ehdr.e_type, ET_CORE);
	for (uint64_t addr = TEXT; addr < TEXT + 0x13000; addr += 4096)
		assert_true(has_page(&img, addr));
	assert_false(has_page(&img, TEXT + 0x13000)); /* behind _etext */
	assert_false(has_page(&img, MODULES));	      /* before the first module */
	assert_true(has_page(&img, MODULES + 0x2000));
	assert_true(has_page(&img, MODULES + 0x3000)); /* a function has no size */
	assert_true(has_page(&img, MODULES + 0x2000000));
	assert_true(has_page(&img, MODULES + 0x3fff000)); /* where the segment ends */
	assert_false(has_page(&img, 0xffff888000000000));

	/* As perf reads it: by segments that are executable and lie in the file. */
	assert_int_equal(elf_getphdrnum(img.elf, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(stat(path, &st), 0);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(gelf_getphdr(img.elf, (int)i, &ph));
		assert_int_equal(ph.p_flags, PF_R | PF_X);
		assert_int_equal(ph.p_offset % 4096, 0);
		assert_true(ph.p_offset + ph.p_filesz <= (uint64_t)st.st_size);
	}
	assert_true(st.st_blocks * 512 < 1 << 20); /* what is not mapped takes no room */
	elf_image_close(&img);
	tree_remove(&t);
}

static int copy(const struct tree *t, struct error *err)
{
	char path[PATH_MAX];

	tree_path(t, "out/data", path);
	*strrchr(path, '/') = '\0';
	return kcore_copy(t->root, path, err);
}

/* Makes a list of 300 functions: between the first @near a page is left, behind each other @gap. */
static void make_scattered(const struct tree *t, unsigned int near, uint64_t gap)
{
	char text[32768];
	uint64_t addr = BPF;
	int n = snprintf(text, sizeof(text), "%llx T _stext\n%llx T _etext\n", TEXT, TEXT + 4096);

	for (unsigned int i = 0; i < 300; i++) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%llx t f\t[bpf]\n",
			      (unsigned long long)addr);
		addr += MB + (i < near ? 4096 : gap);
	}
	tree_file(t, "kallsyms", text);
}

static void test_bridges_the_smallest_gaps(void **state)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct error err = ERROR_INIT;
	uint64_t copied = 0;
	char path[PATH_MAX];
	struct tree t;
	GElf_Phdr ph;
	size_t n;

	(void)state;
	tree_make(&t);
	make_scattered(&t, 150, 3 * MB);
	make_kcore(&t, NR);
	assert_int_equal(copy(&t, &err), 0);
	tree_path(&t, "out/kcore_dir/kcore", path);
	assert_int_equal(elf_image_open(path, &img, &err), 0);
	assert_int_equal(elf_getphdrnum(img.elf, &n), 0);
	assert_int_equal(n, 200);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(gelf_getphdr(img.elf, (int)i, &ph));
		copied += ph.p_filesz;
	}
	/* A page of text, 300 functions, and a page for each of 101 bridges. */
	assert_int_equal(copied, 4096 + 300 * MB + 101 * 4096);
	elf_image_close(&img);
	tree_remove(&t);
}

static void test_bridges_are_bounded(void **state)
{
	struct error err = ERROR_INIT;
	struct tree t;

	(void)state;
	tree_make(&t);
	make_scattered(&t, 0, MB << 10);
	make_kcore(&t, NR);
	assert_int_equal(copy(&t, &err), -E2BIG); /* 101 GB */
	assert_non_null(strstr(err.text, "in 301 pieces too far apart"));
	make_scattered(&t, 0, (uint64_t)1 << 35);
	assert_int_equal(copy(&t, &err), -E2BIG);
	tree_remove(&t);
}

static void test_errors_say_why(void **state)
{
	struct error err = ERROR_INIT;
	char path[PATH_MAX];
	struct tree t;

	(void)state;
	tree_make(&t);
	assert_int_equal(copy(&t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "kallsyms"));
	tree_file(&t, "kallsyms", "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	assert_int_equal(copy(&t, &err), -EACCES);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	tree_file(&t, "kallsyms", "ffffffff81000000 T _text\n");
	assert_int_equal(copy(&t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "_stext"));
	tree_path(&t, "out/kcore_dir", path);
	assert_int_equal(access(path, F_OK), -1);

	/* A list of modules may be missing. */
	tree_file(&t, "kallsyms", kallsyms);
	assert_int_equal(copy(&t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "--kcore: cannot read the kernel's code"));
	check_text(&t, "out/kcore_dir/modules", "");
	assert_int_equal(copy(&t, &err), -EEXIST);
	tree_remove(&t);

	/* The kernel may not show its text, or less than the headers say. */
	tree_make(&t);
	tree_file(&t, "kallsyms", kallsyms);
	make_kcore(&t, 0);
	assert_int_equal(copy(&t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "has no code of the kernel"));
	tree_remove(&t);
	tree_make(&t);
	tree_file(&t, "kallsyms", kallsyms);
	make_kcore(&t, NR);
	tree_path(&t, "kcore", path);
	assert_int_equal(truncate(path, 20000), 0);
	assert_int_equal(copy(&t, &err), -ENODATA);
	assert_non_null(strstr(err.text, "cannot copy the kernel's code at 0xffffffff81000000"));
	tree_remove(&t);
}

/* --- a full disk -------------------------------------------------------------------------------
 */

static size_t disk_left = SIZE_MAX;

ssize_t __real_pwrite(int fd, const void *p, size_t len, off_t at);
ssize_t __wrap_pwrite(int fd, const void *p, size_t len, off_t at);
ssize_t __real_pwrite64(int fd, const void *p, size_t len, off64_t at);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t len, off64_t at);

/* Writes what there is room for; returns false if there is none. */
static bool take_room(size_t *len)
{
	if (*len && !disk_left)
		return false;
	if (*len > disk_left)
		*len = disk_left;
	if (disk_left != SIZE_MAX)
		disk_left -= *len;
	return true;
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t len, off_t at)
{
	if (take_room(&len))
		return __real_pwrite(fd, p, len, at);
	errno = ENOSPC;
	return -1;
}

ssize_t __wrap_pwrite64(int fd, const void *p, size_t len, off64_t at)
{
	if (take_room(&len))
		return __real_pwrite64(fd, p, len, at);
	errno = ENOSPC;
	return -1;
}

/* The sentence names the file that the disk has no room for, wherever it becomes full. */
static void test_a_full_disk(void **state)
{
	const size_t texts = strlen(kallsyms) + strlen(modules);
	const struct {
		size_t room;
		const char *part;
	} cases[] = {
		{0, "kcore_dir/kallsyms: cannot write it: No space left on device"},
		{100, "kcore_dir/kallsyms: cannot write it: No space left on device"},
		{strlen(kallsyms), "kcore_dir/modules: cannot write it: No space left on device"},
		{texts, "code at 0xffffffff81000000: No space left on device"},
		{texts + 70000, "code at 0xffffffff81000000: No space left on device"},
		{texts + 90000, "code at 0xffffffffc0002000: No space left on device"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct tree t;
		int rc;

		tree_make(&t);
		tree_file(&t, "kallsyms", kallsyms);
		tree_file(&t, "modules", modules);
		make_kcore(&t, NR);
		disk_left = cases[i].room;
		rc = copy(&t, &err);
		disk_left = SIZE_MAX;
		assert_int_equal(rc, -ENOSPC);
		if (!strstr(err.text, cases[i].part))
			fail_msg("room for %zu bytes: %s", cases[i].room, err.text);
		tree_remove(&t);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_is_copied),
		cmocka_unit_test(test_bridges_the_smallest_gaps),
		cmocka_unit_test(test_bridges_are_bounded),
		cmocka_unit_test(test_errors_say_why),
		cmocka_unit_test(test_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
