/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of a unit: its functions, inlined calls and lines by address, in one block of bytes.
 *
 * A block has no pointers, so that it can lie in a file and be mapped (unit_index.h). It is in this
 * machine's byte order. Names are as in the debug information, not demangled. Internal to
 * symbol/lines.
 */
#ifndef RINGTAIL_SYMBOL_LINES_UNIT_TABLE_H
#define RINGTAIL_SYMBOL_LINES_UNIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "symbol/lines/ranges.h"

#define TEXT_NONE UINT32_MAX

/* The first 8 bytes of a block are hash_bytes() of the others. */
#define TABLE_SUM_KEY 0x7461626c65ull /* fixed: other processes must find the same sum */

/* A function with code, or a call that was inlined. */
struct table_node {
	uint32_t name;	 /* position in the text; TEXT_NONE */
	uint32_t parent; /* around an inlined call, a smaller number; RANGE_NONE */
	uint32_t call_file, call_line;
	uint32_t inlined; /* 0 or 1 */
};

/* A row of the line table, up to the next. */
struct table_row {
	uint32_t file; /* position in the text; TEXT_NONE: no line is known here */
	uint32_t line;
};

/* A block, opened. The arrays lie in the block. */
struct unit_table {
	const uint64_t *segment_start, *row_start; /* rising */
	const uint32_t *segment_node;		   /* RANGE_NONE: no function */
	const struct table_row *rows;
	const struct table_node *nodes;
	const char *text;
	uint32_t nr_segments, nr_rows, nr_nodes, nr_text;
};

/* Opens the @len bytes at @block, aligned to 8. Returns 0, or -EBADMSG if they are damaged. */
int table_open(const void *block, size_t len, struct unit_table *ret);

/* Returns the innermost node at @addr, or RANGE_NONE. */
uint32_t table_node_at(const struct unit_table *t, uint64_t addr);
/* Returns the row for @addr, or NULL. */
const struct table_row *table_row_at(const struct unit_table *t, uint64_t addr);
/* Returns a text; NULL for TEXT_NONE. */
const char *table_text(const struct unit_table *t, uint32_t at);

/* What a table is made of. All zero: empty. One thread. */
struct table_maker {
	struct table_node *nodes;
	size_t nr_nodes, cap_nodes;
	uint64_t *row_start;
	struct table_row *rows;
	size_t nr_rows, cap_starts, cap_rows;
	struct buf text;
	struct hash_table by_source;
	struct table_source {	    /* of a text */
		const void *source; /* the address of the string, or of a DIE with that name */
		uint32_t at;
	} * sources;
	size_t nr_sources, cap_sources;
	size_t *text_left; /* bytes that the file's tables may still take; borrowed */
};

/*
 * Adds the string @s, which stays where it is until table_make(). *@ret becomes its position;
 * TEXT_NONE for NULL, and if the text would be too long. Returns 0 or -ENOMEM.
 */
int table_add_text(struct table_maker *m, const char *s, uint32_t *ret);

/*
 * Finds the text that was added for @source, any address in the debug information. Returns whether
 * there is one.
 */
bool table_find_source(const struct table_maker *m, const void *source, uint32_t *ret);
/* Notes that @source stands for the text at @at. Returns 0 or -ENOMEM. */
int table_add_source(struct table_maker *m, const void *source, uint32_t at);

/* Adds a row behind those before it. A later one for the same address replaces it. Returns 0 or
 * -ENOMEM. */
int table_add_row(struct table_maker *m, uint64_t addr, const struct table_row *row);

/* Appends the block to @out, for the functions in @ranges, whose values are nodes. Returns 0 or
 * -ENOMEM. */
int table_make(const struct table_maker *m, const struct range_set *ranges, struct buf *out);

/* Frees the arrays; accepts zeroes. */
void table_maker_release(struct table_maker *m);

#endif
