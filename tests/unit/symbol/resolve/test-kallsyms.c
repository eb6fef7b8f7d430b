// SPDX-License-Identifier: Apache-2.0
/* Reads lists of symbols of a kernel, and makes its table and those of its modules. */
#include <errno.h>

#include "symbol-machine.h"

static void assert_name(struct symtab *t, uint64_t addr, const char *name)
{
	const struct symbol *s = symtab_find(t, addr, true);

	if (!name)
		assert_null(s);
	else if (!s)
		fail_msg("nothing at 0x%llx, expected %s", (unsigned long long)addr, name);
	else
		assert_string_equal(s->name, name);
}

static void test_kallsyms_text(void **state)
{
	struct buf text = {(uint8_t *)(uintptr_t)kallsyms, sizeof(kallsyms) - 1, 0};
	struct kallsyms_line line;
	size_t pos = 0, n = 0;
	struct symtab *t;
	uint64_t addr;

	while (kallsyms_next(&text, &pos, &line))
		n++;
	assert_int_equal(n, 13);
	assert_false(kallsyms_hidden(&text));
	assert_true(kallsyms_address(&text, "_text", &addr));
	assert_int_equal(addr, TEXT);
	assert_false(kallsyms_address(&text, "snd_open", &addr));
	assert_int_equal(kallsyms_table(&text, NULL, 0, NULL, &t), 0);
	assert_name(t, TEXT + 5, "_text");
	assert_name(t, TEXT + 0x1ff, "local_fn");
	assert_name(t, TEXT + 0x200, "strong_fn");
	assert_name(t, TEXT + 0x3ff, "strong_fn"); /* data is no boundary */
	assert_name(t, TEXT + 0x400, "last_fn");
	assert_name(t, TEXT + (2 << 20), NULL); /* the gap to the modules stays empty */
	assert_name(t, 0xffffffffc0201004, "trampoline");
	assert_name(t, 0xffffffffc0300020, "trampoline");
	assert_name(t, 0xffffffffc0500004, "bpf_prog_abc");
	symtab_free(t);
	assert_int_equal(kallsyms_table(&text, "snd-pcm", 0, NULL, &t), 0);
	assert_name(t, 0x1f, NULL);
	assert_name(t, 0x20, "snd_open");
	assert_name(t, 0x150, "snd_close");
	symtab_free(t);
	assert_int_equal(kallsyms_table(&text, "snd", 0, NULL, &t), -ENOENT);
}

/* What kallsyms_read() must refuse, and kallsyms_check() too. */
static void test_what_is_no_list(void **state)
{
	static const char nul[] = "ffffffff81000000 T _text\n\0ffffffff81000100 T behind\n";
	struct place *p = *state;
	struct error why = ERROR_INIT;
	struct buf text = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/list", p->dir);
	assert_int_equal(kallsyms_read(path, &text, &why), -ENOENT);
	assert_int_equal(kallsyms_check(path, &why), -ENOENT);
	assert_int_equal(kallsyms_check(p->dir, &why), -EINVAL);
	put_file(p, "/list", nul, sizeof(nul) - 1);
	assert_int_equal(kallsyms_read(path, &text, &why), -EBADMSG);
	assert_int_equal(kallsyms_check(path, &why), -EBADMSG);
	assert_non_null(strstr(why.text, path));
	put_text(p, "/list", "");
	assert_int_equal(truncate(path, (off_t)KALLSYMS_MAX + 1), 0);
	assert_true(kallsyms_read(path, &text, &why) < 0);
	assert_true(kallsyms_check(path, &why) < 0);
	assert_null(text.data);
	put_text(p, "/list", kallsyms);
	assert_int_equal(kallsyms_check(path, &why), 0);
	assert_int_equal(kallsyms_read(path, &text, &why), 0);
	assert_int_equal(text.len, sizeof(kallsyms) - 1);
	buf_release(&text);
}

/* Lines that are none are passed over, wherever they are; each field ends where its line does. */
static void test_odd_lines(void **state)
{
	static const char lines[] = "\n"
				    "ffffffff81000000\n"
				    "ffffffff81000000 T\n"
				    "ffffffff81000000 T \n"
				    "xyz T name\n"
				    "1ffffffff81000000 T too_long\n"
				    "ffffffff81000010 t good\t[mod]\n"
				    "ffffffff81000020 t open\t[mod\n"
				    "ffffffff81000030 d last";
	struct buf text = {(uint8_t *)(uintptr_t)lines, sizeof(lines) - 1, 0};
	struct kallsyms_line line;
	size_t pos = 0, good = 0;

	(void)state;
	while (kallsyms_next(&text, &pos, &line)) {
		assert_true(line.name_len > 0);
		assert_null(memchr(line.name, '\n', line.name_len));
		assert_true(line.name + line.name_len <= lines + sizeof(lines) - 1);
		good += line.addr == 0xffffffff81000010 && line.module_len == 3;
	}
	assert_int_equal(good, 1);
	assert_int_equal(line.addr, 0xffffffff81000030);
	assert_false(kallsyms_is_code(&line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms_text),
		PLACE_TEST(test_what_is_no_list),
		cmocka_unit_test(test_odd_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
