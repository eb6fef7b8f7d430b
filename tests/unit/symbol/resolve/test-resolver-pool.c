// SPDX-License-Identifier: Apache-2.0
/* Tables that resolvers share: that the second has them of the first, and when a pool is renewed.
 */
#include "symbol-machine.h"

#include "symbol/resolve/resolver_pool.h"

#define MANY 1000000 /* symbols; more than the program has */

static void use_pool(struct place *p)
{
	p->opts.pool = resolver_pool_new(p->dir);
	assert_non_null(p->opts.pool);
}

/* The resolver that is left has the last reference. */
static void leave_pool(struct place *p)
{
	resolver_pool_put(p->opts.pool);
	p->opts.pool = NULL;
}

static void test_files_are_read_once(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	const struct symbol *s;

	use_pool(p);
	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	fresh(p);
	assert_ptr_equal(resolver_find(p->r, &p->dso, 1, off), s);
	leave_pool(p);
	assert_string_equal(s->name, "test_symbol_example");
}

/* Another file of the same name has a table of its own. */
static void test_changed_file_is_read(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	const struct symbol *s;
	char cmd[512];

	use_pool(p);
	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	snprintf(cmd, sizeof(cmd), "touch -d @1 \"$D\"%s", p->dso.name);
	assert_int_equal(sh(p, cmd), 0);
	fresh(p);
	assert_ptr_not_equal(resolver_find(p->r, &p->dso, 1, off), s);
	leave_pool(p);
}

static void test_kernel_is_read_once(void **state)
{
	struct place *p = *state;
	struct dso same = kernel_dso(id_a, TEXT), other = kernel_dso(id_b, TEXT);

	put_text(p, "/proc/kallsyms", kallsyms);
	put_notes(p, "/sys/kernel/notes", id_a);
	use_pool(p);
	fresh(p);
	assert_symbol(p, &same, 1, TEXT + 0x101, "local_fn");
	put_text(p, "/proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T later\n");
	fresh(p);
	assert_symbol(p, &same, 1, TEXT + 0x101, "local_fn");
	fresh(p);
	assert_why(p, &other, TEXT + 0x101, "build-id differs");
	leave_pool(p);
	fresh(p);
	assert_symbol(p, &same, 1, TEXT + 0x101, "later");
}

static void test_renewed_for_modules(void **state)
{
	struct place *p = *state;
	struct resolver_pool *before;

	put_text(p, "/proc/modules", "a 4096 1 - Live 0xffffffffc0000000\n");
	use_pool(p);
	before = p->opts.pool;
	resolver_pool_renew(&p->opts.pool, MANY);
	assert_ptr_equal(p->opts.pool, before);
	put_text(p, "/proc/modules", "a 4096 2 b, Live 0xffffffffc0000000\n");
	resolver_pool_renew(&p->opts.pool, MANY);
	assert_ptr_equal(p->opts.pool, before); /* the number of its users is another one */
	fresh(p);				/* its resolver keeps the first pool */
	put_text(p, "/proc/modules",
		 "b 4096 1 - Live 0xffffffffc0010000\na 4096 1 - Live 0xffffffffc0000000\n");
	resolver_pool_renew(&p->opts.pool, MANY);
	assert_ptr_not_equal(p->opts.pool, before);
	leave_pool(p);
}

static void test_renewed_when_full(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	struct resolver_pool *before;

	use_pool(p);
	fresh(p);
	before = p->opts.pool;
	resolver_pool_renew(&p->opts.pool, 0);
	assert_ptr_equal(p->opts.pool, before);
	assert_non_null(resolver_find(p->r, &p->dso, 1, off));
	resolver_pool_renew(&p->opts.pool, MANY);
	assert_ptr_equal(p->opts.pool, before);
	resolver_pool_renew(&p->opts.pool, 1);
	assert_ptr_not_equal(p->opts.pool, before);
	leave_pool(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_files_are_read_once), PROGRAM_TEST(test_changed_file_is_read),
		PLACE_TEST(test_kernel_is_read_once),	PLACE_TEST(test_renewed_for_modules),
		PROGRAM_TEST(test_renewed_when_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
