// SPDX-License-Identifier: Apache-2.0
/* Tables of units: look-ups, damage. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "symbol/lines/unit_table.h"

static const char file_a[] = "a.c", file_b[] = "b.c", outer[] = "outer", inner[] = "inner";

static void add_node(struct table_maker *m, const char *name, uint32_t parent)
{
	struct table_node *n = &m->nodes[m->nr_nodes++];

	*n = (struct table_node){.parent = parent, .inlined = parent != RANGE_NONE, .call_line = 7};
	assert_int_equal(table_add_text(m, name, &n->name), 0);
	assert_int_equal(table_add_text(m, parent == RANGE_NONE ? NULL : file_a, &n->call_file), 0);
}

/* Code at 100 to 200, in it an inlined call at 120 to 140; lines from 100, none from 200. */
static void make(size_t text, struct buf *ret)
{
	static const struct {
		uint64_t addr;
		const char *file;
		uint32_t line;
	} rows[] = {{100, file_a, 1}, {110, file_a, 1}, {120, file_b, 5},
		    {140, file_b, 5}, {140, file_a, 2}, {200, NULL, 0}};
	struct table_maker m = {.text_left = &text};
	struct range_set ranges = {0};

	m.nodes = calloc(2, sizeof(*m.nodes));
	add_node(&m, outer, RANGE_NONE);
	add_node(&m, inner, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct table_row row = {.line = rows[i].line};

		assert_int_equal(table_add_text(&m, rows[i].file, &row.file), 0);
		assert_int_equal(table_add_row(&m, rows[i].addr, &row), 0);
	}
	range_set_add(&ranges, &(struct range){100, 200, 0, 0});
	range_set_add(&ranges, &(struct range){120, 140, 1, 1});
	assert_int_equal(range_set_build(&ranges), 0);
	assert_int_equal(table_make(&m, &ranges, ret), 0);
	assert_int_equal(ret->len % 8, 0);
	table_maker_release(&m);
	range_set_release(&ranges);
}

static void test_look_up(void **state)
{
	struct buf block = {0};
	struct unit_table t;

	make(1000, &block);
	assert_int_equal(table_open(block.data, block.len, &t), 0);
	assert_int_equal(t.nr_rows, 4); /* equal neighbours are one */
	for (uint64_t addr = 90; addr < 210; addr++) {
		uint32_t node = addr < 100 || addr >= 200 ? RANGE_NONE : addr >= 120 && addr < 140;
		const struct table_row *row = table_row_at(&t, addr);

		assert_int_equal(table_node_at(&t, addr), node);
		if (addr < 100 || addr >= 200) {
			assert_null(row);
			continue;
		}
		assert_string_equal(table_text(&t, row->file), node ? file_b : file_a);
		assert_int_equal(row->line, addr < 120 ? 1 : node ? 5 : 2);
		assert_string_equal(table_text(&t, t.nodes[node].name), node ? inner : outer);
	}
	assert_null(table_text(&t, t.nodes[0].call_file));
	assert_string_equal(table_text(&t, t.nodes[1].call_file), file_a);
	buf_release(&block);
}

/* Names that exceed the bound are missing; all else is there. */
static void test_bounded_text(void **state)
{
	for (size_t text = 0; text < 24; text++) {
		struct buf block = {0};
		struct unit_table t;

		make(text, &block);
		assert_int_equal(table_open(block.data, block.len, &t), 0);
		assert_true(t.nr_text <= text);
		assert_int_equal(table_node_at(&t, 130), 1);
		buf_release(&block);
	}
}

/* Asks for everything; a sanitizer sees accesses beyond the block. */
static void ask(const struct unit_table *t)
{
	for (uint64_t addr = 0; addr < 300; addr++) {
		const struct table_row *row = table_row_at(t, addr);
		uint32_t node = table_node_at(t, addr);

		if (row)
			assert_true(strlen(table_text(t, row->file)) < 100);
		for (size_t i = 0; node != RANGE_NONE; i++) {
			assert_true(i < 100);
			table_text(t, t->nodes[node].call_file);
			node = t->nodes[node].parent;
		}
	}
}

/* A changed byte is found by the sum; with a new sum, nothing leads out of the block. */
static void test_damage(void **state)
{
	struct buf block = {0};
	struct unit_table t;

	make(1000, &block);
	for (size_t len = 0; len < block.len; len++)
		assert_int_equal(table_open(block.data, len, &t), -EBADMSG);
	for (size_t i = 0; i < block.len * 8; i++) {
		uint8_t *copy = malloc(block.len);
		uint64_t sum;

		memcpy(copy, block.data, block.len);
		copy[i / 8] ^= 1 << i % 8;
		assert_int_equal(table_open(copy, block.len, &t), -EBADMSG);
		sum = hash_bytes(TABLE_SUM_KEY, copy + sizeof(sum), block.len - sizeof(sum));
		memcpy(copy, &sum, sizeof(sum));
		if (!table_open(copy, block.len, &t))
			ask(&t);
		free(copy);
	}
	buf_release(&block);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_look_up),
		cmocka_unit_test(test_bounded_text),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
