// SPDX-License-Identifier: Apache-2.0
/* A table of what is wanted answers as the table of all symbols does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "symbol/elf/wanted.h"

#define SPAN   4096
#define PIECES 40

static unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

/* Adds symbols, with and without sizes, some of them at one place. */
static void add_random(struct symtab_builder *b, unsigned int *seed)
{
	size_t n = next_random(seed) % 200;

	b->last_wins = next_random(seed) % 2;
	for (size_t i = 0; i < n; i++) {
		struct symtab_entry e = {.start = next_random(seed) % SPAN};
		char name[16];

		if (next_random(seed) % 3)
			e.size = 1 + next_random(seed) % (i % 16 ? 60 : SPAN);
		e.limit = e.start + 200;
		e.binding = (uint8_t)(next_random(seed) % 3);
		snprintf(name, sizeof(name), "%.*s%zu", (int)(next_random(seed) % 3), "__", i);
		assert_int_equal(symtab_name(b, name, strlen(name), &e.name), 0);
		assert_int_equal(symtab_add(b, &e), 0);
	}
}

static size_t choose_random(uint64_t *addr, unsigned int *seed)
{
	size_t n = 0;

	for (uint64_t at = next_random(seed) % 600; n < PIECES && at < SPAN + 300;
	     at += 16 * (1 + (uint64_t)next_random(seed) % 30))
		addr[n++] = at;
	return n;
}

static void assert_same(struct symtab *all, struct symtab *few, uint64_t addr)
{
	const struct symbol *a = symtab_find(all, addr, false), *b = symtab_find(few, addr, false);

	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
}

static void test_answers_are_the_same(void **state)
{
	unsigned int seed = 7;

	for (int round = 0; round < 2000; round++) {
		struct symtab_builder b = {0}, few = {0};
		uint64_t addr[PIECES];
		struct symtab_wanted w = {.addr = addr, .bytes = 16};
		struct symtab *all, *picked;

		add_random(&b, &seed);
		w.nr = choose_random(addr, &seed);
		assert_int_equal(symtab_pick(&b, &w, &few), 0);
		assert_true(few.count <= b.count);
		assert_int_equal(symtab_build(&few, &picked), 0);
		assert_int_equal(symtab_build(&b, &all), 0);
		for (size_t i = 0; i < w.nr; i++)
			for (uint64_t k = 0; k < w.bytes; k++)
				assert_same(all, picked, addr[i] + k);
		symtab_free(all);
		symtab_free(picked);
	}
}

static void test_few_are_picked(void **state)
{
	uint64_t addr[] = {5000 * 32ull};
	const struct symtab_wanted w = {addr, 1, 16};
	struct symtab_builder b = {.wanted = &w};
	struct symtab *t;

	for (uint64_t i = 0; i < 10000; i++) {
		struct symtab_entry e = {.start = i * 32, .size = 20};

		assert_int_equal(symtab_name(&b, "name", 4, &e.name), 0);
		assert_int_equal(symtab_add(&b, &e), 0);
	}
	assert_int_equal(symtab_build(&b, &t), 0);
	assert_true(symtab_count(t) <= 3);
	assert_int_equal(symtab_find(t, addr[0], false)->start, addr[0]);
	symtab_free(t);
}

static void test_wants(void **state)
{
	uint64_t addr[] = {0x100, 0x200};
	const struct symtab_wanted w = {addr, 2, 16};

	assert_false(symtab_wants(&w, 0, 0x100));
	assert_true(symtab_wants(&w, 0, 0x101));
	assert_true(symtab_wants(&w, 0x10f, 0x110));
	assert_false(symtab_wants(&w, 0x110, 0x200));
	assert_true(symtab_wants(&w, 0x110, 0x201));
	assert_false(symtab_wants(&w, 0x210, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_are_the_same),
		cmocka_unit_test(test_few_are_picked),
		cmocka_unit_test(test_wants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
