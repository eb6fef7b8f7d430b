/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables in parts of the HTML page: columns of unsigned numbers.
 *
 * A table's bytes: the number of rows and of columns, and for each column its first number and its
 * width, all as LEB128. The width is the number of bytes that the other numbers need; it is 0 where
 * all are the first one. Then come the lowest bytes of all other numbers, their next bytes, and so
 * on, width times. Bytes of one kind compress better together, and a browser needs no loop over the
 * bytes of each number. One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_TABLE_H
#define RINGTAIL_EXPORT_HTML_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/wire/out.h"

#define HTML_COLUMNS 8
#define HTML_BYTES   8 /* of a number */

/* All zero but @nr_columns: no rows. */
struct html_table {
	size_t nr_columns, nr_rows;
	struct html_column {
		uint64_t first;
		bool varies;
		unsigned int width;
		/* The bytes of the other numbers, the lowest first. */
		struct html_plane {
			uint8_t *byte;
			size_t cap;
		} plane[HTML_BYTES];
	} column[HTML_COLUMNS];
};

/* Adds a row of t->nr_columns numbers. Returns 0 or -ENOMEM. */
int html_table_add(struct html_table *t, const uint64_t *row);
/* Writes the rows as part @name, and empties the table. Returns 0, out->rc or -ENOMEM. */
int html_table_write(struct html_table *t, struct out *out, const char *name);
/* Frees the memory. */
void html_table_release(struct html_table *t);

/* Maps numbers with sign to numbers without: 0, -1, 1, -2 to 0, 1, 2, 3. */
static inline uint64_t html_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

#endif
