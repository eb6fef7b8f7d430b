/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the HTML page: data in <script> elements that are never run, as base64 of raw deflate
 * (RFC 4648, RFC 1951).
 *
 * Base64 has no character of markup, so no name in the data can end its element. A part holds text,
 * or a table. A table is columns of unsigned numbers. Its bytes: the number of rows and of columns,
 * then for each column 0 and the value of all its rows, or the number of its bytes plus one, and a
 * number for each row. All numbers are LEB128. One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_PART_H
#define RINGTAIL_EXPORT_HTML_PART_H

#include <stdbool.h>

#include "export/wire/out.h"
#include "export/wire/proto.h"

struct html_deflate;

/* All zero: no part has begun. Its failures are those of @out. */
struct html_part {
	struct out *out;
	struct html_deflate *deflate;
};

/* Begins the part @name, of letters. */
void html_part_begin(struct html_part *p, struct out *out, const char *name);
/* Adds bytes. */
void html_part_put(struct html_part *p, const void *s, size_t n);
/* Ends the part, and frees what it holds; accepts one that has not begun. Returns out->rc. */
int html_part_end(struct html_part *p);

#define HTML_COLUMNS 8

/* All zero but @nr_columns: no rows. */
struct html_table {
	size_t nr_columns, nr_rows;
	struct html_column {
		struct proto numbers;
		uint64_t first;
		bool varies;
	} column[HTML_COLUMNS];
};

/* Adds a row of t->nr_columns numbers. Returns 0 or -ENOMEM. */
int html_table_add(struct html_table *t, const uint64_t *row);
/*
 * Writes the rows as part @name, whose element has their number, too, and empties the table.
 * Returns 0, out->rc or -ENOMEM.
 */
int html_table_write(struct html_table *t, struct out *out, const char *name);
/* Frees the memory. */
void html_table_release(struct html_table *t);

/* Maps numbers with sign to numbers without: 0, -1, 1, -2 to 0, 1, 2, 3. */
static inline uint64_t html_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

#endif
