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
	assert_int_equal(kallsyms_table(&text, NULL, 0, &t), 0);
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
	assert_int_equal(kallsyms_table(&text, "snd-pcm", 0, &t), 0);
	assert_name(t, 0x1f, NULL);
	assert_name(t, 0x20, "snd_open");
	assert_name(t, 0x150, "snd_close");
	symtab_free(t);
	assert_int_equal(kallsyms_table(&text, "snd", 0, &t), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
