// SPDX-License-Identifier: Apache-2.0
/* Basic blocks of one end are joined to the same, in whichever order they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/blocks/blocks.h"

static const struct dso first = {.index = 3}, second = {.index = 7};
static const struct symbol sym = {.start = 0x100, .end = 0x200, .name = "work"};
static const struct symbol other = {.start = 0x200, .end = 0x300, .name = "other"};

static void add(struct blocks *b, struct block k)
{
	const struct blocks one = {.block = &k, .nr = 1, .all = k.all};

	assert_int_equal(blocks_merge(b, &one), 0);
}

static struct block open_block(uint64_t end, uint64_t cycles)
{
	return (struct block){.sym = &sym, .dso = &second, .end = end, .all = {cycles, 1}};
}

static struct block whole_block(uint64_t start, uint64_t end, uint64_t cycles)
{
	struct block k = open_block(end, cycles);

	k.has_start = true;
	k.start = start;
	k.whole = k.all;
	return k;
}

static void check(const struct block *k, uint64_t start, uint64_t cycles, uint64_t nr,
		  uint64_t whole, uint64_t whole_nr)
{
	assert_true(k->has_start);
	assert_int_equal(k->start, start);
	assert_int_equal(k->all.cycles, cycles);
	assert_int_equal(k->all.nr, nr);
	assert_int_equal(k->whole.cycles, whole);
	assert_int_equal(k->whole.nr, whole_nr);
}

/* The lowest beginning counts, and a known one before one that is not. */
static void test_any_order(void **state)
{
	struct block of[5] = {
		whole_block(0x120, 0x140, 10), whole_block(0x110, 0x140, 20), open_block(0x140, 40),
		whole_block(0x110, 0x140, 5),  whole_block(0x140, 0x140, 3),
	};

	(void)state;
	of[3].dso = &first;
	of[0].base = of[1].base = of[2].base = of[3].base = of[4].base = 0x1000;
	for (unsigned int i = 0; i < 5 * 5 * 5 * 5 * 5; i++) {
		struct blocks b = {0};
		unsigned int seen = 0;

		for (unsigned int n = 0, at = i; n < 5; n++, at /= 5)
			seen |= 1u << at % 5;
		if (seen != 31)
			continue;
		for (unsigned int n = 0, at = i; n < 5; n++, at /= 5)
			add(&b, of[at % 5]);
		assert_int_equal(b.nr, 1);
		check(&b.block[0], 0x110, 78, 5, 25, 2);
		assert_ptr_equal(b.block[0].dso, &first);
		assert_int_equal(b.block[0].base, 0x1000);
		assert_int_equal(b.all.cycles, 78);
		blocks_release(&b);
	}
}

static void test_order_and_averages(void **state)
{
	struct blocks b = {0};
	struct block elsewhere = whole_block(0x220, 0x240, 30);

	(void)state;
	elsewhere.sym = &other;
	add(&b, whole_block(0x110, 0x120, 3));
	add(&b, whole_block(0x110, 0x120, 4)); /* an average of 3 */
	add(&b, whole_block(0x130, 0x150, 30));
	add(&b, elsewhere);
	b.all.cycles += 1000; /* in no block */
	blocks_sort(&b);
	assert_int_equal(b.nr, 3);
	assert_ptr_equal(b.block[0].sym, &other); /* of equal ones the first name */
	assert_int_equal(b.block[1].end, 0x150);
	assert_int_equal(b.block[2].end, 0x120);
	assert_int_equal(blocks_averages(&b), 30 + 30 + 3);
	assert_int_equal(b.all.cycles, 1067);
	blocks_make_relative(&b);
	assert_int_equal(b.all.cycles, 67);
	assert_int_equal(b.all.nr, 4);
	blocks_release(&b);
}

/* Without a function, addresses of a file are told apart by it. */
static void test_unknown_code(void **state)
{
	struct blocks b = {0};
	struct block k = whole_block(0x10, 0x20, 1);

	(void)state;
	k.sym = NULL;
	add(&b, k);
	add(&b, k);
	k.dso = &first;
	add(&b, k);
	assert_int_equal(b.nr, 2);
	blocks_sort(&b);
	assert_int_equal(b.block[0].all.cycles, 2);
	assert_ptr_equal(b.block[1].dso, &first);
	blocks_release(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_order_and_averages),
		cmocka_unit_test(test_unknown_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
