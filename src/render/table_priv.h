/* SPDX-License-Identifier: Apache-2.0 */
/* Inner parts of tables, which table.c (rows) and table_nested.c (nested rows) share. */
#ifndef RINGTAIL_RENDER_TABLE_PRIV_H
#define RINGTAIL_RENDER_TABLE_PRIV_H

#include "render/table.h"
#include "render/text.h"

/* A share as text. Most rows of a long table have a share that others have, too. */
struct share_text {
	uint64_t part, all; /* @all 0: none */
	int width;
	int len;
	char text[32];
};

#define SHARE_TEXTS 64 /* a power of two */

struct table {
	FILE *out;
	struct report *r;
	const struct hist *h; /* its rows: the event's, or those of a level */
	size_t event;
	const struct columns *columns;
	const struct table_opts *opts;
	size_t width[COLUMNS_MAX];
	unsigned int line_width; /* to which lines are cut; 0: none */
	struct buf line, cell;
	struct buf raw; /* of @cell: not escaped */
	struct share_text share[SHARE_TEXTS];
	struct text_paint paint[COLUMNS_MAX]; /* of @line */
	size_t nr_paints;
};

/* Returns whether the row has the share of --percent-limit in some member of its group. */
bool table_is_shown(const struct table *t, const struct hist_entry *e);

/* Puts the text of a row's column into t->cell: a sum for each member, or the text of a key. */
int table_cell_text(struct table *t, const struct hist_entry *e, const struct column *c);

/* Returns the heading of a column; beside Children the share is Self, unless the user chose. */
const char *table_heading(const struct table *t, const struct column *c);

/* Appends a column to t->line; as in perf, a separator in the text of a key becomes a point. */
int table_add_separated(struct table *t, const char *text, size_t len, bool is_key, bool first);

/* Appends column number @column with a text, which is cut to the column's width. */
int table_add_column(struct table *t, size_t column, const char *text, size_t len);

/* Appends column number @column of row @e. Returns 0 or -ENOMEM. */
int table_add_cell(struct table *t, const struct hist_entry *e, size_t column);

/* Appends dots under a heading, as wide as the column. */
int table_add_dots(struct table *t, size_t width);

/* Writes @start and t->line. */
void table_put_line(struct table *t, const char *start);

/* Writes a line of the heading; its "# " replaces the space before the first column. */
void table_put_comment(struct table *t);

/* Draws the call graph of a row. Returns 0, -ENOMEM or -E2BIG, as all of these. */
int table_put_graph(struct table *t, const struct hist_entry *e);

/* Writes the headings and rows of an event with a hierarchy. */
int table_put_nested(struct table *t);

/* Writes the headings and rows of an event's basic blocks. */
int table_put_blocks(struct table *t);

#endif
