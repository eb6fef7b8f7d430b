// SPDX-License-Identifier: Apache-2.0
/* The vdso of this process stands for the recorded one only if it is the same. */
#include "symbol-machine.h"

static void test_vdso(void **state)
{
	struct place *p = *state;
	struct dso vdso = {.name = "[vdso]", .kind = DSO_VDSO};
	uint64_t addr;
	int found = 0;

	fresh(p);
	if (resolver_why_not(p->r, &vdso))
		skip(); /* this kernel has none */
	for (addr = 0; addr < 0x4000; addr++) {
		const struct symbol *s = resolver_find(p->r, &vdso, 1, addr);

		found += s && strstr(s->name, "clock_gettime") && s->start == addr;
	}
	assert_true(found >= 1);
	vdso.build_id_size = 20;
	memcpy(vdso.build_id, id_a, 20);
	fresh(p);
	assert_why(p, &vdso, 0, "build-id");
	vdso.build_id_size = 0;
	p->opts.hostname = "elsewhere";
	fresh(p);
	assert_why(p, &vdso, 0, "from another machine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
