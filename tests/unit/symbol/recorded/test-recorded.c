// SPDX-License-Identifier: Apache-2.0
/* The resolver prefers the names that a recording carries; files name the rest. */
#include <errno.h>

#include "symbol-machine.h"

static void add_object(struct buf *table, const struct dso *dso, uint32_t pid, uint64_t start,
		       uint64_t size, const char *name)
{
	struct pd_symbols_function f = {start, size, name, strlen(name)};
	struct pd_symbols_object o;
	struct buf functions = {0};
	uint64_t last = 0;

	assert_true(recorded_symbols_object(dso, pid, &o));
	assert_int_equal(pd_symbols_put_function(&functions, &last, &f), 0);
	o.functions = functions.data;
	o.functions_len = functions.len;
	assert_int_equal(pd_symbols_put_object(table, &o), 0);
	buf_release(&functions);
}

static void test_before_files(void **state)
{
	const uint64_t start = 0x7000000000;
	struct place *p = *state;
	struct dso anon = {.name = "//anon", .kind = DSO_ANON, .index = 1},
		   gone = {.name = "/gone", .kind = DSO_ELF, .index = 2},
		   same_id = {.name = "/moved", .kind = DSO_ELF, .index = 3, .build_id_size = 1},
		   other_id = {.name = "/moved",
			       .kind = DSO_ELF,
			       .index = 4,
			       .build_id_size = 1,
			       .build_id = {2}};
	struct buf table = {0};
	uint64_t off = 0;

	fresh(p);
	while (!resolver_find(p->r, &p->dso, 1, off))
		off += 16;
	assert_int_equal(pd_symbols_begin(&table, 3), 0);
	add_object(&table, &p->dso, 0, start, 16, "_ZN3foo3barEv@plt");
	add_object(&table, &p->dso, 0, start, 16, "ignored");
	add_object(&table, &anon, 42, 0x1000, 16, "jitted");
	add_object(&table, &gone, 0, 0x1000, 16, "hot");
	same_id.name = "/before";
	add_object(&table, &same_id, 0, 0x1000, 16, "hot");
	same_id.name = "/moved";
	assert_int_equal(recorded_symbols_new(table.data, table.len, &p->opts.recorded), 0);
	assert_int_equal(recorded_symbols_left_out(p->opts.recorded), 3);
	assert_false(recorded_symbols_damaged(p->opts.recorded));
	fresh(p);
	assert_symbol(p, &p->dso, 1, start + 15, "foo::bar()@plt");
	assert_int_equal(resolver_recorded(p->r, &p->dso), 1);
	assert_false(resolver_was_asked(p->r, &p->dso));
	assert_non_null(resolver_find(p->r, &p->dso, 1, off)); /* the file has this one */
	assert_true(resolver_was_asked(p->r, &p->dso));
	assert_symbol(p, &anon, 42, 0x1008, "jitted");
	assert_symbol(p, &anon, 43, 0x1008, NULL);
	assert_symbol(p, &gone, 1, 0x1008, "hot");
	assert_symbol(p, &gone, 1, 0x1010, NULL);
	assert_symbol(p, &same_id, 1, 0x1008, "hot");
	assert_symbol(p, &other_id, 1, 0x1008, NULL);
	resolver_free(p->r);
	p->r = NULL;
	recorded_symbols_free(p->opts.recorded);
	p->opts.recorded = NULL;
	buf_release(&table);
}

static void test_damage(void **state)
{
	struct dso dso = {.name = "/gone", .kind = DSO_ELF};
	struct recorded_symbols *rs = NULL;
	struct buf table = {0};
	struct symtab *t;

	assert_int_equal(recorded_symbols_new((const uint8_t *)"RTSYMS00", 8, &rs), -EBADMSG);
	assert_int_equal(pd_symbols_begin(&table, 0), 0);
	add_object(&table, &dso, 0, 0x1000, 16, "hot");
	assert_int_equal(buf_append(&table, "\x7f", 1), 0);
	assert_int_equal(recorded_symbols_new(table.data, table.len, &rs), 0);
	assert_true(recorded_symbols_damaged(rs));
	t = recorded_symbols_table(rs, &dso, 0);
	assert_non_null(t);
	assert_string_equal(symtab_find(t, 0x1000, true)->name, "hot");
	recorded_symbols_free(rs);
	buf_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_before_files),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
