// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "count/figures.h"
#include "render/counts/counts_priv.h"
#include "render/text.h"

/* A text with a separator, a quote or a line end is quoted, as RFC 4180 has it. */
static void put(FILE *out, const char *text, const char *separator)
{
	if (!strstr(text, separator) && !strpbrk(text, "\"\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void print_row(FILE *out, const struct counts_view *view, size_t row, const char *separator)
{
	const struct count_row *r = &view->table->rows.rows[row];
	struct buf name = {0};

	if (view->table->rows.by == COUNT_BY_ALL)
		return;
	if (!text_escape(&name, r->name) && !buf_append(&name, "", 1))
		put(out, (const char *)name.data, separator);
	buf_release(&name);
	fputs(separator, out);
	if (counts_have_cpus(view))
		fprintf(out, "%u%s", r->nr_cpus, separator);
}

static void print_line(FILE *out, const struct counts_view *view, size_t row, size_t event,
		       const char *separator)
{
	const struct count_cell *cell = count_table_cell(view->table, row, event);
	const struct count_event *e = &view->table->events[event];
	struct count_figure figure = count_figure(view->table, row, event);
	char text[COUNT_TEXT_SIZE];

	if (view->interval)
		fprintf(out, "%16.9f%s", view->time, separator);
	print_row(out, view, row, separator);
	count_text(view, row, event, false, text);
	fprintf(out, "%s%s%s%s", text, separator, e->unit, separator);
	put(out, e->name, separator);
	if (view->repeated)
		fprintf(out, "%s%.2f%%", separator, count_error(&cell->value));
	fprintf(out, "%s%llu%s%.2f%s", separator, (unsigned long long)count_run_time(cell),
		separator, count_cell_running(cell), separator);
	if (figure.unit)
		fprintf(out, "%.*f%s%s", figure.digits, figure.value, separator,
			figure.unit + (*figure.unit == '%' ? 2 : 0));
	else
		fputs(separator, out);
	putc('\n', out);
}

void counts_separated(FILE *out, const struct counts_view *view, const char *separator)
{
	const struct count_table *table = view->table;

	for (size_t row = 0; row < table->rows.nr; row++)
		for (size_t event = 0; event < table->nr_events; event++)
			if (count_shown(view, row, event))
				print_line(out, view, row, event, separator);
}
