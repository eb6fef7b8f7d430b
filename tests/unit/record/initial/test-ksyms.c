// SPDX-License-Identifier: Apache-2.0
/* Reads made-up kallsyms: the kernel's text, and code that is in no file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata/abi.h"
#include "record/initial/ksyms.h"
#include "tree.h"

static void read_text(const char *text, struct kernel_symbols *ret)
{
	struct tree t;

	tree_make(&t);
	tree_file(&t, "kallsyms", text);
	*ret = (struct kernel_symbols){0};
	assert_int_equal(kernel_symbols_read(t.root, ret), 0);
	tree_remove(&t);
}

static void test_text_of_the_kernel(void **state)
{
	static const struct {
		const char *text, *name;
		uint64_t start, etext;
	} tests[] = {
		{"ffffffff81000000 T _stext\nffffffff81000040 T _text\nffffffff82000000 T _etext\n",
		 "_text", 0xffffffff81000040, 0xffffffff82000000},
		{"ffffffff81000040 T _text\nffffffff81000000 T _stext\n", "_text",
		 0xffffffff81000040, 0},
		{"ffff800080000000 T _stext\nffff800081000000 D _etext", "_stext",
		 0xffff800080000000, 0xffff800081000000},
		/* others that begin alike, and one of a module */
		{"ffffffff81000000 T _text_end\nffffffff81000000 T __stext\n"
		 "ffffffffc0000000 t _text\t[mod]\n",
		 NULL, 0, 0},
		/* hidden */
		{"0000000000000000 T _text\n0000000000000000 T _etext\n", "_text", 0, 0},
		{"", NULL, 0, 0},
		{"\n\nrubbish\nffffffff81000000\nffffffff81000000 T\n", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct kernel_symbols syms;

		read_text(tests[i].text, &syms);
		assert_int_equal(syms.seen, tests[i].name != NULL);
		if (tests[i].name)
			assert_string_equal(syms.start_name, tests[i].name);
		assert_int_equal(syms.start, tests[i].start);
		assert_int_equal(syms.etext, tests[i].etext);
		assert_int_equal(syms.count, 0);
		kernel_symbols_release(&syms);
	}
}

static void test_code_in_no_file(void **state)
{
	static const char text[] = "ffffffffc0000300 t bpf_prog_b\t[bpf]\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffffc0000100 t bpf_prog_a\t[bpf]\n"
				   "0000000000000000 t bpf_prog_hidden\t[bpf]\n"
				   "ffffffffc0000200 t ftrace_trampoline\t[__builtin__ftrace]\n"
				   "ffffffffc0000400 t kprobe_insn_slot\t[__builtin__kprobes]\n"
				   "ffffffffc0000500 t snd_open\t[snd_pcm]\n"
				   "ffffffffc0000600 t bpfilter\t[bpfilter]";
	static const struct {
		uint64_t addr;
		const char *name;
		uint16_t type;
	} want[] = {
		{0xffffffffc0000100, "bpf_prog_a", PERF_RECORD_KSYMBOL_TYPE_BPF},
		{0xffffffffc0000200, "ftrace_trampoline", PERF_RECORD_KSYMBOL_TYPE_OOL},
		{0xffffffffc0000300, "bpf_prog_b", PERF_RECORD_KSYMBOL_TYPE_BPF},
		{0xffffffffc0000400, "kprobe_insn_slot", PERF_RECORD_KSYMBOL_TYPE_OOL},
	};
	struct kernel_symbols syms;

	(void)state;
	read_text(text, &syms);
	assert_int_equal(syms.count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(syms.loose[i].addr, want[i].addr);
		assert_int_equal(syms.loose[i].type, want[i].type);
		assert_string_equal(kernel_symbols_name(&syms, want[i].addr), want[i].name);
		assert_null(kernel_symbols_name(&syms, want[i].addr + 1));
	}
	assert_null(kernel_symbols_name(&syms, 0xffffffffc0000500));
	kernel_symbols_release(&syms);
	assert_null(kernel_symbols_name(&syms, want[0].addr));
}

static void test_absent(void **state)
{
	struct kernel_symbols syms = {0};
	static char far[2 * PATH_MAX];

	(void)state;
	assert_int_equal(kernel_symbols_read("/nonexistent", &syms), -ENOENT);
	memset(far, '/', sizeof(far) - 1);
	assert_int_equal(kernel_symbols_read(far, &syms), -ENAMETOOLONG);
	kernel_symbols_release(&syms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_the_kernel),
		cmocka_unit_test(test_code_in_no_file),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
