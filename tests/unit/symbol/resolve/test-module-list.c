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

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_modules_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
