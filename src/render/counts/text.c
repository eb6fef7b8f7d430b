// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "count/figures.h"
#include "render/counts/counts_priv.h"
#include "render/text.h"

#define COUNT_WIDTH  18
#define UNIT_WIDTH   4
#define NAME_WIDTH   24
#define FIGURE_WIDTH 24

static int name_width(const struct counts_view *view)
{
	size_t width = NAME_WIDTH;

	for (size_t i = 0; i < view->table->nr_events; i++) {
		size_t len = strlen(view->table->events[i].name);

		if (len > width)
			width = len;
	}
	return (int)width;
}

static int row_width(const struct counts_view *view)
{
	const struct count_rows *rows = &view->table->rows;
	size_t width = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		size_t len = text_columns(rows->rows[i].name, strlen(rows->rows[i].name));

		if (len > width)
			width = len;
	}
	return (int)width;
}

static void print_figure(FILE *out, const struct counts_view *view, size_t row, size_t event,
			 bool more)
{
	struct count_figure figure = count_figure(view->table, row, event);
	int used;

	if (!figure.unit && !more)
		return;
	if (!figure.unit) {
		fprintf(out, "%*s", FIGURE_WIDTH + 14, "");
		return;
	}
	used = fprintf(out, "  # %9.*f%s%s", figure.digits, figure.value,
		       *figure.unit == '%' ? "" : " ", figure.unit);
	if (more)
		fprintf(out, "%*s", used < FIGURE_WIDTH + 14 ? FIGURE_WIDTH + 14 - used : 1, "");
}

static void print_line(FILE *out, const struct counts_view *view, size_t row, size_t event)
{
	const struct count_cell *cell = count_table_cell(view->table, row, event);
	const struct count_event *e = &view->table->events[event];
	bool multiplexed = cell->running && cell->running < cell->enabled;
	bool spread = view->repeated && e->supported && cell->running;
	char text[COUNT_TEXT_SIZE];

	if (view->interval)
		fprintf(out, "%16.9f ", view->time);
	if (view->table->rows.by != COUNT_BY_ALL)
		text_put(out, view->table->rows.rows[row].name, -row_width(view));
	if (counts_have_cpus(view))
		fprintf(out, " %5u", view->table->rows.rows[row].nr_cpus);
	count_text(view, row, event, !view->plain_numbers, text);
	fprintf(out, " %*s %-*s ", COUNT_WIDTH, text, UNIT_WIDTH, e->unit);
	if (!multiplexed && !spread && !count_figure(view->table, row, event).unit)
		text_put(out, e->name, 0);
	else
		text_put(out, e->name, -name_width(view));
	print_figure(out, view, row, event, multiplexed || spread);
	if (spread)
		fprintf(out, "  ( +-%6.2f%% )", count_error(&cell->value));
	if (multiplexed)
		fprintf(out, "  (%.2f%%)", count_cell_running(cell));
	putc('\n', out);
}

void counts_text(FILE *out, const struct counts_view *view)
{
	const struct count_table *table = view->table;

	for (size_t row = 0; row < table->rows.nr; row++) {
		for (size_t event = 0; event < table->nr_events; event++)
			if (count_shown(view, row, event))
				print_line(out, view, row, event);
		if (row + 1 < table->rows.nr && table->nr_events > 1 && !view->interval)
			putc('\n', out);
	}
}

void counts_text_begin(FILE *out, const struct counts_view *view, const struct counts_frame *frame)
{
	if (view->interval) {
		fprintf(out, "#%15s %*s%s %*s %-*s events\n", "time", row_width(view), "",
			counts_have_cpus(view) ? "  cpus" : "", COUNT_WIDTH, "counts", UNIT_WIDTH,
			"unit");
		return;
	}
	fputs("\n Performance counter stats for ", out);
	text_put(out, frame->title, 0);
	if (frame->runs > 1)
		fprintf(out, " (%u runs)", frame->runs);
	fputs(":\n\n", out);
}

void counts_text_end(FILE *out, const struct counts_view *view, const struct counts_frame *frame)
{
	const struct spread *elapsed = &view->table->elapsed;
	double seconds = elapsed->mean / 1e9;

	if (view->interval)
		return;
	if (frame->runs > 1)
		fprintf(out, "\n%18.9f +- %.9f seconds time elapsed  ( +-%6.2f%% )\n\n", seconds,
			spread_error(elapsed) / 1e9, count_error(elapsed));
	else
		fprintf(out, "\n%18.9f seconds time elapsed\n\n", seconds);
	if (frame->command && frame->runs <= 1)
		fprintf(out, "%18.9f seconds user\n%18.9f seconds sys\n\n", frame->user,
			frame->system);
}
