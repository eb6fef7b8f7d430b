// SPDX-License-Identifier: Apache-2.0
/* The index of this test's own program: used, damaged, of another file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"
#include "symbol/lines/lines.h"
#include "symbol/lines/unit_index.h"

#define FRAMES	  16
#define ADDRESSES 400

extern const char image_start[] __asm__("__executable_start");

struct place {
	char base[64], file[256];
};

int main(void);

static void open_self(struct elf_image *ret)
{
	*ret = (struct elf_image)ELF_IMAGE_INIT;
	assert_int_equal(elf_image_open("/proc/self/exe", ret, NULL), 0);
}

static uint64_t first_address(void)
{
	struct elf_image img;
	bool fixed;

	open_self(&img);
	fixed = img.ehdr.e_type == ET_EXEC;
	elf_image_close(&img);
	return (uintptr_t)main - (fixed ? 0 : (uintptr_t)image_start);
}

/* Appends all answers of @img, which it takes over. */
static void ask(struct elf_image *img, const char *cache, struct buf *ret)
{
	struct line_frame f[FRAMES];
	struct source_lines *l;
	uint64_t first = first_address();

	assert_int_equal(lines_open_image(img, true, cache, &l), 0);
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		size_t nr = lines_find(l, first + i, f, FRAMES);

		for (size_t k = 0; k < nr; k++)
			assert_int_equal(buf_printf(ret, "%d %s %s:%u %d\n", (int)i,
						    f[k].function ?: "??", f[k].file ?: "??",
						    f[k].line, f[k].inlined),
					 0);
	}
	lines_free(l);
}

static void ask_self(const char *cache, struct buf *ret)
{
	struct elf_image img;

	open_self(&img);
	ask(&img, cache, ret);
}

static int place_new(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	struct elf_image img;
	size_t n;

	strcpy(p->base, "/tmp/test-index-XXXXXX");
	*state = p;
	if (!mkdtemp(p->base))
		return 1;
	open_self(&img);
	n = (size_t)snprintf(p->file, sizeof(p->file), "%s/ringtail/lines-", p->base);
	for (size_t i = 0; i < img.build_id_size; i++)
		n += (size_t)snprintf(p->file + n, sizeof(p->file) - n, "%02x", img.build_id[i]);
	elf_image_close(&img);
	return 0;
}

static int place_free(void **state)
{
	struct place *p = *state;
	char dir[128];

	unlink(p->file);
	snprintf(dir, sizeof(dir), "%s/ringtail", p->base);
	rmdir(dir);
	rmdir(p->base);
	free(p);
	return 0;
}

static void read_file(const char *path, struct buf *ret)
{
	FILE *f = fopen(path, "r");
	uint8_t part[4096];
	size_t n;

	if (!f)
		skip(); /* a linker without build-id */
	while ((n = fread(part, 1, sizeof(part), f)))
		assert_int_equal(buf_append(ret, part, n), 0);
	fclose(f);
}

static void write_file(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
	fclose(f);
}

static void assert_same(struct buf *a, struct buf *b)
{
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->data, b->data, a->len);
	buf_release(b);
}

/* Overwrites the debug information itself, but not its size. */
static void spoil(struct buf *program)
{
	struct elf_image img;
	GElf_Shdr shdr;

	open_self(&img);
	assert_non_null(elf_section(&img, ".debug_info", &shdr));
	memset(program->data + shdr.sh_offset, 0xff, shdr.sh_size);
	elf_image_close(&img);
}

/* With an index the debug information is not needed. */
static void test_used(void **state)
{
	struct place *p = *state;
	struct buf plain = {0}, made = {0}, used = {0}, spoiled = {0}, index = {0};
	struct elf_image img = ELF_IMAGE_INIT;

	ask_self(NULL, &plain);
	assert_true(plain.len > 0);
	ask_self(p->base, &made);
	assert_same(&plain, &made);
	read_file(p->file, &index);
	read_file("/proc/self/exe", &spoiled);
	spoil(&spoiled);
	assert_int_equal(elf_image_memory(&spoiled, &img, NULL), 0);
	ask(&img, p->base, &used);
	assert_same(&plain, &used);
	buf_release(&plain);
	buf_release(&index);
}

/* Damaged anywhere, it is left alone and made again. */
static void test_damaged(void **state)
{
	struct place *p = *state;
	struct buf plain = {0}, got = {0}, index = {0}, after = {0};

	ask_self(p->base, &plain);
	read_file(p->file, &index);
	for (size_t i = 0; i < index.len; i += 1 + index.len / 40) {
		index.data[i] ^= 0x55;
		write_file(p->file, &index);
		ask_self(p->base, &got);
		assert_same(&plain, &got);
		index.data[i] ^= 0x55;
	}
	for (size_t len = 0; len < index.len; len += 1 + index.len / 20) {
		write_file(p->file, &(struct buf){index.data, len, 0});
		ask_self(p->base, &got);
		assert_same(&plain, &got);
	}
	read_file(p->file, &after);
	assert_same(&index, &after);
	buf_release(&plain);
	buf_release(&index);
}

/* Of another file, or another form of it: not used. */
static void test_other_key(void **state)
{
	struct place *p = *state;
	struct range_set ranges;
	struct unit_index x;
	struct unit *units;
	struct index_key key;
	struct elf_image img;
	struct buf text = {0};
	size_t nr;

	ask_self(p->base, &text);
	buf_release(&text);
	open_self(&img);
	assert_int_equal(index_key_of(&img, &key), 0);
	elf_image_close(&img);
	assert_int_equal(index_load(p->base, &key, &x, &ranges, &units, &nr), 0);
	assert_true(nr > 0);
	for (size_t i = 0; i < nr; i++)
		unit_release(&units[i]);
	free(units);
	range_set_release(&ranges);
	index_release(&x);
	key.debug_size++;
	assert_int_equal(index_load(p->base, &key, &x, &ranges, &units, &nr), -ESTALE);
	key.debug_size--;
	key.libdw++;
	assert_int_equal(index_load(p->base, &key, &x, &ranges, &units, &nr), -ESTALE);
	key.build_id[0]++;
	assert_int_equal(index_load(p->base, &key, &x, &ranges, &units, &nr), -ENOENT);
}

#define PLACE_TEST(f) cmocka_unit_test_setup_teardown(f, place_new, place_free)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		PLACE_TEST(test_used),
		PLACE_TEST(test_damaged),
		PLACE_TEST(test_other_key),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
