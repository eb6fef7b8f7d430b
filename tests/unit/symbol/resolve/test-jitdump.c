// SPDX-License-Identifier: Apache-2.0
/* Reads jitdumps: both byte orders, moved code, damaged files, and the symbols of a JIT. */
#include <errno.h>

#include "jitdump-writer.h"
#include "symbol-machine.h"

#define PID  JITDUMP_PID
#define PATH "/tmp/jit-42.dump"

struct seen {
	struct jitdump_code code[8];
	char name[8][16];
	size_t nr;
};

static int see(void *arg, const struct jitdump_code *code)
{
	struct seen *s = arg;

	if (s->nr < 8) {
		s->code[s->nr] = *code;
		snprintf(s->name[s->nr], 16, "%.*s", (int)code->name_len, code->name);
	}
	s->nr++;
	return 0;
}

/* Reads the dump from a file of its own. */
static int read_dump(const struct jitdump_writer *d, size_t len, struct jitdump_info *info,
		     struct seen *s)
{
	FILE *f = tmpfile();
	int rc;

	assert_non_null(f);
	assert_int_equal(fwrite(d->b.data, 1, len, f), len);
	fflush(f);
	*s = (struct seen){0};
	rc = jitdump_read(fileno(f), info, see, s, NULL);
	fclose(f);
	return rc;
}

static void make(struct jitdump_writer *d, size_t at[3])
{
	jitw_header(d, d->swap);
	jitw_record(d, 2, 16 + 5, 90); /* debug information */
	assert_int_equal(buf_append(&d->b, "lines", 5), 0);
	at[0] = jitw_load(d, 100, 0x1000, 1, "first", "\x90\x90\xc3");
	at[1] = jitw_load(d, 200, 0x2000, 2, "second", "\x0f\x1f\xc3");
	jitw_move(d, 300, 0x1000, 0x3000, 3, 1);
	at[2] = jitw_load(d, 400, 0x1000, 3, "third", "\xcc\xcc");
}

static void test_both_byte_orders(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct jitdump_writer d = {.swap = swap};
		struct jitdump_info info;
		struct seen s;
		size_t at[3];

		make(&d, at);
		jitw_record(&d, 3, 16, 500); /* the end, whatever is behind it */
		jitw_load(&d, 600, 0x9000, 9, "behind", "\xc3");
		assert_int_equal(read_dump(&d, d.b.len, &info, &s), 0);
		assert_int_equal(info.cpu_clock, swap);
		assert_int_equal(s.nr, 4);
		assert_string_equal(s.name[0], "first");
		assert_int_equal(s.code[0].time, 100);
		assert_int_equal(s.code[0].addr, 0x1000);
		assert_int_equal(s.code[0].size, 3);
		assert_int_equal(s.code[0].offset, at[0]);
		assert_memory_equal(d.b.data + s.code[1].offset, "\x0f\x1f\xc3", 3);
		assert_true(s.code[2].moved);
		assert_int_equal(s.code[2].addr, 0x3000);
		assert_int_equal(s.code[2].index, 1);
		assert_string_equal(s.name[3], "third");
		buf_release(&d.b);
	}
}

/* Wherever a file ends, the code before is read, and nothing behind. */
static void test_every_length(void **state)
{
	struct jitdump_writer d = {0};
	struct jitdump_info info;
	struct seen s;
	size_t at[3], before = 0;

	(void)state;
	make(&d, at);
	for (size_t len = 0; len <= d.b.len; len++) {
		int rc = read_dump(&d, len, &info, &s);

		assert_int_equal(rc, len < 40 ? -EBADMSG : 0);
		assert_true(s.nr >= before && s.nr <= before + 1);
		for (size_t i = 0; i < s.nr; i++)
			assert_true(s.code[i].offset + (s.code[i].moved ? 0 : s.code[i].size) <=
				    len);
		before = s.nr;
	}
	assert_int_equal(before, 4);
	buf_release(&d.b);
}

static void test_any_bytes(void **state)
{
	struct jitdump_writer d = {0};
	struct jitdump_info info;
	struct seen s;
	size_t at[3], len;

	(void)state;
	make(&d, at);
	len = d.b.len;
	srand(3);
	for (int i = 0; i < 20000; i++) {
		size_t where = 40 + (size_t)rand() % (len - 40);
		uint8_t was = d.b.data[where];

		d.b.data[where] = (uint8_t)rand();
		assert_int_equal(read_dump(&d, len, &info, &s), 0);
		assert_true(s.nr <= 5);
		for (size_t n = 0; n < s.nr; n++)
			assert_true(s.code[n].moved || (s.code[n].offset < len &&
							s.code[n].size <= len - s.code[n].offset));
		d.b.data[where] = was;
	}
	buf_release(&d.b);
}

static void test_symbols(void **state)
{
	struct place *p = *state;
	struct dso dump = {.name = PATH, .kind = DSO_JIT, .pids = {PID}};
	struct elf_image img = ELF_IMAGE_INIT;
	struct jitdump_writer d = {0};
	char code[3];
	size_t at[3];

	make(&d, at);
	put_file(p, PATH, d.b.data, d.b.len);
	fresh(p);
	assert_symbol(p, &dump, PID, at[0], "first");
	assert_symbol(p, &dump, PID, at[1] + 2, "second");
	assert_symbol(p, &dump, PID, at[2] + 1, "third");
	assert_symbol(p, &dump, PID, at[2] + 2, NULL);
	assert_int_equal(resolver_open_code(p->r, &dump, &img), 0);
	assert_int_equal(pread(img.fd, code, 3, (off_t)at[1]), 3);
	assert_memory_equal(code, "\x0f\x1f\xc3", 3);
	elf_image_close(&img);
	buf_release(&d.b);
}

static void test_no_jitdump(void **state)
{
	struct place *p = *state;
	struct dso dump = {.name = PATH, .kind = DSO_JIT, .pids = {PID}};

	fresh(p);
	assert_why(p, &dump, 0x1000, PATH);
	put_text(p, PATH, "this is no jitdump, but it is long enough to be one");
	fresh(p);
	assert_why(p, &dump, 0x1000, "not a jitdump");
	p->opts.hostname = "elsewhere";
	fresh(p);
	assert_why(p, &dump, 0x1000, "another machine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_symbols),
		PLACE_TEST(test_no_jitdump),
		cmocka_unit_test(test_both_byte_orders),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
