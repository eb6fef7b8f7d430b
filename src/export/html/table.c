// SPDX-License-Identifier: Apache-2.0
#include "export/html/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "export/html/part.h"
#include "export/wire/proto.h"

#define BYTE_BITS 8

/* Gives the column a byte more for each number; the numbers before @n have a zero there. */
static int widen(struct html_column *c, size_t n)
{
	struct html_plane *p = &c->plane[c->width];

	if (array_grow(&p->byte, &p->cap, n + 1, 1))
		return -ENOMEM;
	memset(p->byte, 0, n);
	c->width++;
	return 0;
}

/* Sets number @n after the first one; those before it are there. */
static int put_number(struct html_column *c, size_t n, uint64_t number)
{
	while (!c->width || (c->width < HTML_BYTES && number >> BYTE_BITS * c->width)) {
		if (widen(c, n))
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < c->width; i++) {
		struct html_plane *p = &c->plane[i];

		if (array_grow(&p->byte, &p->cap, n + 1, 1))
			return -ENOMEM;
		p->byte[n] = (uint8_t)(number >> BYTE_BITS * i);
	}
	c->varies |= number != c->first;
	return 0;
}

int html_table_add(struct html_table *t, const uint64_t *row)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->nr_columns; i++) {
		if (t->nr_rows)
			rc = put_number(&t->column[i], t->nr_rows - 1, row[i]);
		else
			t->column[i].first = row[i];
	}
	t->nr_rows += !rc;
	return rc;
}

static void write_column(struct html_part *p, const struct html_column *c, size_t nr_rows)
{
	for (unsigned int i = 0; c->varies && i < c->width; i++)
		html_part_put(p, c->plane[i].byte, nr_rows - 1);
}

int html_table_write(struct html_table *t, struct out *out, const char *name)
{
	struct proto head = {0};
	struct html_part p;
	int rc;

	html_part_begin_table(&p, out, name, t->nr_rows);
	proto_varint(&head, t->nr_rows);
	proto_varint(&head, t->nr_columns);
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct html_column *c = &t->column[i];

		proto_varint(&head, c->first);
		proto_varint(&head, c->varies ? c->width : 0);
	}
	html_part_put(&p, head.b.data, head.b.len);
	for (size_t i = 0; i < t->nr_columns; i++) {
		struct html_column *c = &t->column[i];

		write_column(&p, c, t->nr_rows);
		c->first = 0;
		c->width = 0;
		c->varies = false;
	}
	t->nr_rows = 0;
	rc = html_part_end(&p) ?: head.rc;
	proto_release(&head);
	return rc;
}

void html_table_release(struct html_table *t)
{
	for (size_t i = 0; i < t->nr_columns; i++) {
		for (size_t k = 0; k < HTML_BYTES; k++)
			free(t->column[i].plane[k].byte);
	}
}
