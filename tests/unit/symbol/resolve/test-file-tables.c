// SPDX-License-Identifier: Apache-2.0
/* A file is read once, whatever number of dsos is of it. */
#include "symbol-machine.h"

/* A file has one table, whatever number of dsos is of it. */
static void test_read_once(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	struct dso other, named;
	const struct symbol *s;

	fresh(p);
	other = named = p->dso;
	other.index = p->dso.index + 1;
	other.ino = p->dso.ino + 1;
	other.ino_generation = 7;
	named.index = p->dso.index + 2;
	named.build_id_size = 4; /* which the file does not have */
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	assert_ptr_equal(resolver_find(p->r, &other, 1, off), s);
	assert_null(resolver_find(p->r, &named, 1, off));
	assert_non_null(resolver_why_not(p->r, &named));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
