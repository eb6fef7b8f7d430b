// SPDX-License-Identifier: Apache-2.0
/* The index of the kernel's modules reads its files once. */
#include "symbol-machine.h"

/* However many modules there are: what was read once need not be there any more. */
static void test_modules_read_once(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffffc0400000 t b1\t[snd_b]\n"
				   "ffffffffc0300010 t a1\t[snd_a]\n"
				   "not a line\n"
				   "ffffffffc0300020 t a2\t[snd_a]\n"
				   "ffffffffc0400030 t b2\t[snd_b]\n"
				   "ffffffffc0300030 t a3\t[snd_a]";
	struct place *p = *state;
	struct dso kernel = kernel_dso(NULL, TEXT);
	char path[128];

	put_text(p, "/proc/kallsyms", text);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", p->dir);
	fresh(p);
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const names[] = {"[snd_a]", "[snd_b]", "[snd]",
						    "/lib/modules/6.1/snd-b.ko"};
		struct dso d = {.name = names[i], .kind = DSO_MODULE, .index = 1 + i};

		if (i == 2) {
			assert_why(p, &d, 0x20, "does not have the module");
			continue;
		}
		assert_symbol(p, &d, 1, 0x20, i ? "b1" : "a2");
		assert_symbol(p, &d, 1, 0x31, i ? "b2" : "a3");
		if (!i)
			assert_int_equal(unlink(path), 0);
	}
	kernel.index = 9;
	assert_symbol(p, &kernel, 1, TEXT + 1, "_text");
}

/* The file of a module by its name, in which dashes and underscores are equal. */
static void test_files(void **state)
{
	static const struct {
		const char *name, *file;
	} tests[] = {
		{"ext4", "kernel/fs/ext4/ext4.ko.xz"},
		{"snd_pcm", "kernel/sound/core/snd-pcm.ko"},
		{"snd-pcm", "kernel/sound/core/snd-pcm.ko"},
		{"snd", NULL},
		{"mbcache", "kernel/fs/mbcache.ko.zst"},
		{"last", "last.ko"},
		{"", NULL},
	};
	struct place *p = *state;
	struct module_list *l = module_list_new();
	char path[512], file[PATH_MAX];

	put_text(p, "/modules.dep",
		 "kernel/fs/ext4/ext4.ko.xz: kernel/fs/mbcache.ko.zst kernel/fs/jbd2.ko\n"
		 "no colon.ko\n"
		 "kernel/sound/core/snd-pcm.ko:\n"
		 "\n"
		 "kernel/fs/mbcache.ko.zst:\n"
		 "last.ko:");
	snprintf(path, sizeof(path), "%s/modules.dep", p->dir);
	for (unsigned int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
			bool found = module_list_file(l, path, tests[i].name, file);

			if (found != !!tests[i].file)
				fail_msg("\"%s\" is %s", tests[i].name, found ? "found" : "absent");
			if (found)
				assert_string_equal(file, tests[i].file);
		}
		assert_true(round || !unlink(path)); /* it was read */
	}
	module_list_free(l);
	l = module_list_new();
	assert_false(module_list_file(l, path, "ext4", file));
	module_list_free(l);
	module_list_free(NULL);
}

/* The text of kallsyms is handed out once, and read again for the next caller. */
static void test_text(void **state)
{
	struct place *p = *state;
	struct module_list *l = module_list_new();
	struct error why = ERROR_INIT;
	struct buf text = {0}, lines = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/kallsyms", p->dir);
	assert_true(module_list_text(l, path, &text, &why) < 0);
	assert_non_null(strstr(why.text, path));
	module_list_free(l);
	l = module_list_new();
	put_text(p, "/kallsyms", kallsyms);
	assert_int_equal(module_list_symbols(l, path, "snd_pcm", &lines, &why), 0);
	assert_true(lines.len > 0 && lines.len < sizeof(kallsyms) / 2);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(module_list_text(l, path, &text, &why), 0);
		/* the last line may have got its newline */
		assert_true(text.len >= sizeof(kallsyms) - 1);
		assert_memory_equal(text.data, kallsyms, sizeof(kallsyms) - 1);
		buf_release(&text);
	}
	module_list_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_modules_read_once),
		PLACE_TEST(test_files),
		PLACE_TEST(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
