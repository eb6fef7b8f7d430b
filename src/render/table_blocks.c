// SPDX-License-Identifier: Apache-2.0
/* The table of basic blocks by their cycles, in the manner of perf report --total-cycles. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "render/table_blocks.h"
#include "render/table_priv.h"

enum {
	CYCLES_PERCENT,
	CYCLES,
	AVERAGE_PERCENT,
	AVERAGE,
	RANGE,
	DSO,
	COLUMNS,
};

static const struct {
	const char *heading;
	bool right;
} columns[COLUMNS] = {
	{"Sampled Cycles%", true}, {"Sampled Cycles", true},  {"Avg Cycles%", true},
	{"Avg Cycles", true},	   {"[Program Block Range]"}, {"Shared Object"},
};

struct block_table {
	struct table *t;
	const struct blocks *blocks;
	uint64_t averages; /* the sum */
	size_t width[COLUMNS];
	struct buf text;
};

const char *block_line(const struct trace *t, const struct block *k, uint64_t addr)
{
	const struct inline_chain *lines =
		t->inlines && k->sym ? inlines_find(t->inlines, k->dso, addr) : NULL;

	return lines ? lines->frame[0].srcline : NULL;
}

uint64_t block_offset(const struct block *k, uint64_t addr)
{
	return addr - (k->sym ? k->sym->start : 0);
}

double block_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Thousands and millions, as perf writes them. */
static int put_cycles(struct buf *out, uint64_t cycles)
{
	if (cycles >= 1000000)
		return buf_printf(out, "%.1fM", (double)cycles / 1e6);
	if (cycles >= 1000)
		return buf_printf(out, "%.1fK", (double)cycles / 1e3);
	return buf_printf(out, "%" PRIu64, cycles);
}

/* The source line of an end, else its place in the function or in the file. */
static int put_end(struct block_table *b, const struct block *k, uint64_t addr)
{
	const char *line = block_line(b->t->r->trace, k, addr);

	if (line)
		return buf_printf(&b->text, "%s", line);
	if (k->sym)
		return buf_printf(&b->text, "%s+%" PRIu64, k->sym->name, block_offset(k, addr));
	return buf_printf(&b->text, "0x%" PRIx64, addr);
}

static int put_range(struct block_table *b, const struct block *k, struct buf *out)
{
	int rc;

	b->text.len = 0;
	rc = buf_printf(&b->text, "[");
	if (!rc)
		rc = k->has_start ? put_end(b, k, k->start) : buf_printf(&b->text, "?");
	if (!rc)
		rc = buf_printf(&b->text, " -> ") ?: put_end(b, k, k->end);
	if (!rc)
		rc = buf_printf(&b->text, "]");
	return rc ?: text_escape_len(out, (const char *)b->text.data, b->text.len);
}

/* Puts the text of a column into the table's cell. */
static int put_cell(struct block_table *b, const struct block *k, size_t column)
{
	const uint64_t average = block_average(&k->all);
	struct buf *out = &b->t->cell;

	out->len = 0;
	switch (column) {
	case CYCLES_PERCENT:
		return buf_printf(out, "%.2f%%", block_share(k->all.cycles, b->blocks->all.cycles));
	case CYCLES: return put_cycles(out, k->all.cycles);
	case AVERAGE_PERCENT: return buf_printf(out, "%.2f%%", block_share(average, b->averages));
	case AVERAGE: return put_cycles(out, average);
	case RANGE: return put_range(b, k, out);
	default: return text_escape(out, k->dso->short_name);
	}
}

static bool is_shown(const struct block_table *b, const struct block *k)
{
	return block_share(k->all.cycles, b->blocks->all.cycles) >= b->t->opts->percent_limit;
}

static int measure(struct block_table *b)
{
	for (size_t c = 0; c < COLUMNS; c++)
		b->width[c] = strlen(columns[c].heading);
	for (size_t i = 0; i < b->blocks->nr && is_shown(b, &b->blocks->block[i]); i++)
		for (size_t c = RANGE; c < COLUMNS; c++) {
			size_t n;

			if (put_cell(b, &b->blocks->block[i], c) < 0)
				return -ENOMEM;
			n = text_columns((const char *)b->t->cell.data, b->t->cell.len);
			b->width[c] = n > b->width[c] ? n : b->width[c];
		}
	return 0;
}

/* Appends the column to the line. */
static int add_cell(struct block_table *b, size_t column, const char *text, size_t len)
{
	struct table *t = b->t;
	size_t n = text_columns(text, len);
	size_t pad = n < b->width[column] ? b->width[column] - n : 0;
	int rc;

	if (t->opts->separator)
		return table_add_separated(t, text, len, column >= RANGE, !column);
	rc = buf_append(&t->line, "  ", 2);
	if (!rc && columns[column].right)
		rc = buf_fill(&t->line, ' ', pad);
	if (!rc && len)
		rc = buf_append(&t->line, text, len);
	if (!rc && !columns[column].right && column + 1 < COLUMNS)
		rc = buf_fill(&t->line, ' ', pad);
	return rc;
}

static int put_row(struct block_table *b, const struct block *k)
{
	struct table *t = b->t;
	int rc = 0;

	for (size_t c = 0; !rc && c < COLUMNS; c++) {
		const size_t from = t->line.len;

		rc = put_cell(b, k, c);
		if (!rc)
			rc = add_cell(b, c, (const char *)t->cell.data, t->cell.len);
		if (!rc && t->opts->colors && (c == CYCLES_PERCENT || c == AVERAGE_PERCENT)) {
			uint64_t part =
				c == CYCLES_PERCENT ? k->all.cycles : block_average(&k->all);
			uint64_t all = c == CYCLES_PERCENT ? b->blocks->all.cycles : b->averages;

			t->paint[t->nr_paints++] = (struct text_paint){
				from, t->line.len, text_share_color(block_share(part, all))};
		}
	}
	if (!rc)
		table_put_line(t, "");
	return rc;
}

static int put_heading(struct block_table *b)
{
	struct table *t = b->t;
	int rc = 0;

	fprintf(t->out, "# Sampled cycles: %" PRIu64 ", of %" PRIu64 " branches\n#\n",
		b->blocks->all.cycles, b->blocks->all.nr);
	for (size_t c = 0; !rc && c < COLUMNS; c++)
		rc = add_cell(b, c, columns[c].heading, strlen(columns[c].heading));
	if (rc)
		return rc;
	table_put_comment(t);
	for (size_t c = 0; !rc && c < COLUMNS && !t->opts->separator; c++)
		rc = table_add_dots(t, b->width[c]);
	if (rc || t->opts->separator)
		return rc;
	table_put_comment(t);
	fputs("#\n", t->out);
	return 0;
}

int table_put_blocks(struct table *t)
{
	struct block_table b = {.t = t, .blocks = &t->r->tables.blocks[t->event]};
	int rc = measure(&b);

	b.averages = blocks_averages(b.blocks);
	t->line_width = t->opts->separator ? 0 : t->opts->width;
	if (!rc && !t->opts->quiet)
		rc = put_heading(&b);
	for (size_t i = 0; !rc && i < b.blocks->nr && is_shown(&b, &b.blocks->block[i]); i++)
		rc = put_row(&b, &b.blocks->block[i]);
	buf_release(&b.text);
	return rc;
}
