// SPDX-License-Identifier: Apache-2.0
/* Symbol tables: random ones against a linear scan, and the ends of symbols without a size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "symbol/elf/table.h"

struct model {
	uint64_t start, end;
	char name[16];
	uint8_t binding;
};

static unsigned int underscores(const char *s)
{
	return (unsigned int)strspn(s, "_");
}

/* Whether @a is preferred to @b, of which it is known that it came earlier. */
static bool preferred(const struct model *a, const struct model *b)
{
	if (a->start != b->start)
		return a->start > b->start;
	if ((a->binding == SYMTAB_WEAK) != (b->binding == SYMTAB_WEAK))
		return b->binding == SYMTAB_WEAK;
	if ((a->binding == SYMTAB_GLOBAL) != (b->binding == SYMTAB_GLOBAL))
		return a->binding == SYMTAB_GLOBAL;
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name);
	return strlen(a->name) >= strlen(b->name);
}

static const struct model *scan(const struct model *v, size_t n, uint64_t addr)
{
	const struct model *best = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (addr >= v[i].start && addr < v[i].end && (!best || !preferred(best, &v[i])))
			best = &v[i];
	}
	return best;
}

static unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static void test_table_like_scan(void **state)
{
	unsigned int seed = 42;
	int round;

	for (round = 0; round < 300; round++) {
		size_t n = next_random(&seed) % 60, i;
		struct symtab_builder b = {0};
		struct model v[60];
		struct symtab *t;
		uint64_t addr;

		for (i = 0; i < n; i++) {
			struct symtab_entry e = {0};

			v[i].start = 100 + next_random(&seed) % 150;
			v[i].end = v[i].start + 1 + next_random(&seed) % (round % 2 ? 60 : 8);
			v[i].binding = (uint8_t)(next_random(&seed) % 3);
			snprintf(v[i].name, sizeof(v[i].name), "%.*s%zu%.*s",
				 (int)(next_random(&seed) % 3), "__", i,
				 (int)(next_random(&seed) % 3), "xx");
			assert_int_equal(symtab_name(&b, v[i].name, strlen(v[i].name), &e.name), 0);
			e.start = v[i].start;
			e.size = v[i].end - v[i].start;
			e.binding = v[i].binding;
			assert_int_equal(symtab_add(&b, &e), 0);
		}
		assert_int_equal(symtab_build(&b, &t), 0);
		assert_true(symtab_count(t) <= n);
		for (addr = 90; addr < 330; addr++) {
			const struct model *want = scan(v, n, addr);
			const struct symbol *got = symtab_find(t, addr, false);

			assert_int_equal(!want, !got);
			if (!want)
				continue;
			assert_string_equal(got->name, want->name);
			assert_int_equal(got->start, want->start);
			assert_int_equal(got->end, want->end);
			assert_ptr_equal(got, symtab_find(t, addr, false));
		}
		symtab_free(t);
	}
}

static void add(struct symtab_builder *b, const char *name, uint64_t start, uint64_t size,
		uint64_t limit)
{
	struct symtab_entry e = {.start = start, .size = size, .limit = limit};

	assert_int_equal(symtab_name(b, name, strlen(name), &e.name), 0);
	assert_int_equal(symtab_add(b, &e), 0);
}

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

static void test_table_ends(void **state)
{
	struct symtab_builder b = {0};
	struct symtab *t;

	add(&b, "asm_b", 0x200, 0, 0x1000); /* to the next */
	add(&b, "asm_a", 0x100, 0, 0x180);  /* not beyond its section */
	add(&b, "c", 0x300, 0x80, 0);
	add(&b, "label_in_c", 0x340, 0, 0x1000);
	add(&b, "unsized_c", 0x300, 0, 0x1000);
	add(&b, "last", 0x400, 0, 0x410);
	add(&b, "wraps", UINT64_MAX - 4, 10, 0);
	add(&b, "", 0x500, 10, 0);
	add(&b, "_ZN1AC2ERKS_", 0x600, 1, 0);
	assert_int_equal(symtab_build(&b, &t), 0);
	assert_name(t, 0xff, NULL);
	assert_name(t, 0x100, "asm_a");
	assert_name(t, 0x17f, "asm_a");
	assert_name(t, 0x180, NULL);
	assert_name(t, 0x2ff, "asm_b");
	assert_name(t, 0x340, "c");
	assert_name(t, 0x37f, "c");
	assert_name(t, 0x380, NULL);
	assert_name(t, 0x40f, "last");
	assert_name(t, 0x410, NULL);
	assert_name(t, 0x500, NULL);
	assert_name(t, 0x600, "A::A(A const&)");
	assert_name(t, UINT64_MAX - 2, NULL);
	symtab_free(t);
	assert_int_equal(symtab_build(&b, &t), 0);
	assert_name(t, 0, NULL);
	symtab_free(t);
	symtab_free(NULL);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_like_scan),
		cmocka_unit_test(test_table_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
