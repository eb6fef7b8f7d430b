// SPDX-License-Identifier: Apache-2.0
/* Rows of --hierarchy: a line for each level at which a row differs from the row before it. */
#include <string.h>

#include "render/table_priv.h"
#include "render/text.h"

#define INDENT 3 /* columns of a level */

static size_t levels(const struct table *t)
{
	return t->r->tables.nests[t->event].nr_levels;
}

/* Returns the columns that the levels below the first need. */
static int indents(const struct table *t)
{
	return t->opts->separator || !levels(t) ? 0 : (int)(levels(t) - 1) * INDENT;
}

/* Appends the headings of the keys as one: Command / Shared Object. */
static int add_nested_heading(struct table *t)
{
	int rc = 0;

	t->cell.len = 0;
	for (size_t i = 0; !rc && i < levels(t); i++) {
		const char *text = t->h->keys[i]->header;

		rc = buf_printf(&t->cell, "%s%s", i ? " / " : "", text + strspn(text, " "));
	}
	if (rc)
		return rc;
	if (t->opts->separator)
		return table_add_separated(t, (const char *)t->cell.data, t->cell.len, true, false);
	return buf_printf(&t->line, "  ") ?: buf_append(&t->line, t->cell.data, t->cell.len);
}

/* Returns the width of the column with all keys; t->cell has its heading. */
static size_t nested_width(const struct table *t)
{
	size_t width = text_columns((const char *)t->cell.data, t->cell.len), level = 0;

	for (size_t i = 0; i < t->columns->nr_shown; i++) {
		if (!t->columns->shown[i].key)
			continue;
		if (t->width[i] + level * INDENT > width)
			width = t->width[i] + level * INDENT;
		level++;
	}
	return width;
}

static int put_nested_heading(struct table *t)
{
	int rc = buf_printf(&t->line, "%*s", indents(t), "");
	size_t first;

	for (size_t i = 0; !rc && i < t->columns->nr_shown; i++) {
		const struct column *c = &t->columns->shown[i];

		if (c->field)
			rc = table_add_column(t, i, table_heading(t, c),
					      strlen(table_heading(t, c)));
	}
	rc = rc ?: add_nested_heading(t);
	if (rc < 0)
		return rc;
	table_put_comment(t);
	if (t->opts->separator)
		return 0;
	rc = buf_printf(&t->line, "%*s", indents(t), "");
	for (size_t i = 0; !rc && i < t->columns->nr_shown; i++)
		if (t->columns->shown[i].field)
			rc = table_add_dots(t, t->width[i]);
	first = t->line.len;
	rc = rc ?: table_add_dots(t, nested_width(t));
	if (rc < 0)
		return rc;
	memset(t->line.data + 2, '.', first - 2); /* as in perf, also between columns */
	table_put_comment(t);
	fputs("#\n", t->out);
	return 0;
}

/* Writes a row of @level, of which @e is one of the event's rows. */
static int put_nested_row(struct table *t, const struct hist_entry *e, size_t level)
{
	const struct hierarchy *y = &t->r->tables.nests[t->event];
	const struct hist *own = t->h;
	const struct hist_entry *row = hierarchy_row(y, e, level);
	const struct column key = {.key = own->keys[level]};
	size_t skip;
	int rc = 0;

	t->h = hierarchy_level(y, level);
	if (!t->opts->separator)
		rc = buf_printf(&t->line, "%*s", (int)level * INDENT, "");
	for (size_t i = 0; !rc && i < t->columns->nr_shown; i++) {
		if (!t->columns->shown[i].field)
			continue;
		rc = table_add_cell(t, row, i);
	}
	if (!t->opts->separator)
		rc = rc ?: buf_printf(&t->line, "%*s  ", indents(t), "");
	else
		rc = rc ?: buf_append(&t->line, &t->opts->separator, 1);
	rc = rc ?: table_cell_text(t, row, &key);
	t->h = own;
	if (rc < 0)
		return rc;
	for (skip = 0; skip < t->cell.len && t->cell.data[skip] == ' ';)
		skip++;
	if (t->cell.len > skip)
		rc = buf_append(&t->line, t->cell.data + skip, t->cell.len - skip);
	if (!rc)
		table_put_line(t, "");
	return rc;
}

/* Returns whether the row of @level to which @e belongs is within the limit. */
static bool is_nest_shown(struct table *t, const struct hist_entry *e, size_t level)
{
	const struct hierarchy *y = &t->r->tables.nests[t->event];
	const struct hist *own = t->h;
	bool shown;

	t->h = hierarchy_level(y, level);
	shown = table_is_shown(t, hierarchy_row(y, e, level));
	t->h = own;
	return shown;
}

/* Writes that the limit left out all rows below the row of @level, which begins at row @i. */
static int explain_empty_nest(struct table *t, size_t i, size_t level)
{
	const struct hierarchy *y = &t->r->tables.nests[t->event];
	const struct hist_entry *e = t->h->entry, *nest = hierarchy_row(y, &e[i], level);
	size_t column = 0;
	int rc;

	for (; i < t->h->nr && hierarchy_row(y, &e[i], level) == nest; i++)
		if (is_nest_shown(t, &e[i], level + 1))
			return 0;
	if (t->opts->separator)
		return 0;
	for (i = 0; i < t->columns->nr_shown; i++)
		if (t->columns->shown[i].field)
			column += 2 + t->width[i];
	column += (size_t)indents(t) + (level + 1) * INDENT + 2;
	rc = buf_printf(&t->line, "%*sno entry >= %.2f%%", (int)column, "", t->opts->percent_limit);
	if (!rc)
		table_put_line(t, "");
	return rc;
}

/* Writes the levels at which row @i differs from the row before it. */
static int put_nests_of(struct table *t, size_t i, size_t *shown_levels)
{
	const struct hierarchy *y = &t->r->tables.nests[t->event];
	const struct hist_entry *e = t->h->entry;
	size_t level = 0;
	int rc = 0;

	while (i && level < levels(t) &&
	       hierarchy_row(y, &e[i], level) == hierarchy_row(y, &e[i - 1], level))
		level++;
	if (*shown_levels < level)
		return 0; /* in a nest that the limit leaves out */
	for (; !rc && level < levels(t) && is_nest_shown(t, &e[i], level); level++) {
		rc = put_nested_row(t, &e[i], level);
		if (!rc && level + 1 < levels(t))
			rc = explain_empty_nest(t, i, level);
	}
	*shown_levels = level;
	if (!rc && level == levels(t) && !t->opts->separator)
		rc = table_put_graph(t, &e[i]);
	return rc;
}

int table_put_nested(struct table *t)
{
	size_t shown_levels = 0;
	int rc = 0;

	if (!t->opts->quiet)
		rc = put_nested_heading(t);
	for (size_t i = 0; !rc && i < t->h->nr; i++)
		rc = put_nests_of(t, i, &shown_levels);
	return rc;
}
