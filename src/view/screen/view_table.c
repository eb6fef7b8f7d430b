// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/table_fit.h"
#include "render/table.h"
#include "render/text.h"
#include "view/screen/view_priv.h"

#define MEASURED 4096 /* rows whose texts say how wide columns are */
#define HOT	 5.0  /* percent */
#define WARM	 0.5

static const char *heading_of(const struct view_state *v, const struct column *c)
{
	if (c->key)
		return c->key->header;
	if (v->table->opts.children && !strcmp(c->field->name, "overhead"))
		return "Self";
	return c->field->header;
}

void view_table_measure(struct view_state *v)
{
	struct rows *r = &v->rows;

	for (size_t i = 0; i < r->columns.nr_shown; i++) {
		const struct column *c = &r->columns.shown[i];
		size_t widest = strlen(heading_of(v, c));

		if (c->field && c->field->width > widest)
			widest = c->field->width;
		for (size_t k = 0; c->key && k < r->hist->nr && k < MEASURED; k++) {
			size_t n;

			v->text.len = 0;
			if (rows_cell(r, &r->hist->entry[k], c, false, &v->text))
				break;
			n = text_columns((const char *)v->text.data, v->text.len);
			widest = n > widest ? n : widest;
		}
		v->width[i] = widest > 4096 ? 4096 : (unsigned int)widest;
	}
}

/* Fits the columns into the screen. */
static void fit(const struct view_state *v, unsigned int *ret)
{
	const struct columns *c = &v->rows.columns;
	struct fit_column fitted[COLUMNS_MAX];

	for (size_t i = 0; i < c->nr_shown; i++)
		fitted[i] = (struct fit_column){
			c->shown[i].key ? fit_kind_of(c->shown[i].key) : FIT_NUMBER, v->width[i]};
	fit_columns(fitted, c->nr_shown, (size_t)v->screen.width);
	for (size_t i = 0; i < c->nr_shown; i++)
		ret[i] = (unsigned int)fitted[i].width;
}

static void draw_heading(struct view_state *v, int y, const unsigned int *width)
{
	struct screen *s = &v->screen;
	int x = 2;

	screen_put(s, y, 0, s->width, "", 0, STYLE_HEADING, true);
	for (size_t i = 0; i < v->rows.columns.nr_shown; i++) {
		const struct column *c = &v->rows.columns.shown[i];
		const char *text = heading_of(v, c);
		int pad = c->field ? (int)width[i] - (int)strlen(text) : 0;

		screen_put(s, y, x + (pad > 0 ? pad : 0), (int)width[i], text, strlen(text),
			   STYLE_HEADING, false);
		x += (int)width[i] + FIT_GAP;
	}
}

static enum screen_style heat_style(double percent)
{
	return percent >= HOT ? STYLE_HOT : percent >= WARM ? STYLE_WARM : STYLE_PLAIN;
}

static double percent_of(const struct view_state *v, uint64_t weight)
{
	uint64_t all = rows_whole(&v->rows, v->relative);

	return all ? 100.0 * (double)weight / (double)all : 0;
}

static void draw_row(struct view_state *v, int y, const struct rows_line *line, bool here,
		     const unsigned int *width)
{
	struct screen *s = &v->screen;
	int x = 2;

	screen_printf(s, y, 0, 2, here ? STYLE_CURSOR : STYLE_PLAIN, true, "%s",
		      !line->can_open ? " "
		      : line->is_open ? "-"
				      : "+");
	for (size_t i = 0; i < v->rows.columns.nr_shown && x < s->width; i++) {
		const struct column *c = &v->rows.columns.shown[i];
		enum screen_style style = STYLE_PLAIN;
		int pad, room = s->width - x;

		v->text.len = 0;
		if (rows_cell(&v->rows, line->entry, c, v->relative, &v->text))
			return;
		if (c->field && c->field->kind == FIELD_PERCENT)
			style = heat_style(
				percent_of(v, c->field->value(v->rows.hist, line->entry)));
		pad = c->field || c->key->right ? (int)width[i] - (int)v->text.len : 0;
		if (here)
			style = STYLE_CURSOR;
		room = i + 1 < v->rows.columns.nr_shown ? (int)width[i] : room;
		if (pad > 0)
			screen_put(s, y, x, pad, "", 0, style, true);
		screen_put(s, y, x + (pad > 0 ? pad : 0), room - (pad > 0 ? pad : 0),
			   (const char *)v->text.data, v->text.len, style, here);
		if (here)
			screen_put(s, y, x + room, FIT_GAP, "", 0, style, true);
		x += (int)width[i] + FIT_GAP;
	}
}

static void draw_node(struct view_state *v, int y, const struct rows_line *line, bool here)
{
	const struct callgraph *g = view_graph(v);
	const struct callgraph_node *n = &g->node[line->node];
	bool found = match_is_set(&v->match) && rows_matches(&v->rows, line, &v->match);
	double percent = percent_of(v, n->total);
	enum screen_style style = here ? STYLE_CURSOR : found ? STYLE_MATCH : STYLE_PLAIN;
	int indent = 2 + 2 * (int)(line->depth < 200 ? line->depth : 200);
	int room = v->screen.width, x;

	/* Deep branches stay on the screen: they begin behind a mark. */
	x = indent < room / 2 ? indent : room / 2;
	v->text.len = 0;
	if (buf_printf(&v->text, "%*s%s%c %.2f%% ", x, "", indent > x ? "…" : "",
		       !line->can_open ? ' '
		       : line->is_open ? '-'
				       : '+',
		       percent) ||
	    graph_name(&v->text, g->by, n) ||
	    graph_branches(&v->text, callgraph_branches(g, line->node)) ||
	    (n->guessed && buf_printf(&v->text, " [guessed]")))
		return;
	screen_put(&v->screen, y, 0, room, (const char *)v->text.data, v->text.len, style, true);
}

static void draw_state(struct view_state *v)
{
	char left[256], right[192], whole[64] = "";
	const struct rows *r = &v->rows;

	if (v->scanning)
		snprintf(whole, sizeof(whole), "  searching %.0f%%",
			 r->hist->nr ? 100.0 * (double)r->scanned / (double)r->hist->nr : 100.0);
	snprintf(left, sizeof(left),
		 "%" PRIu64 "/%" PRIu64 "  %" PRIu64 " samples, %.2f%%%s%s%.60s",
		 rows_count(r) ? v->at + 1 : 0, rows_count(r), r->shown_samples,
		 r->hist->period ? 100.0 * (double)r->shown_self / (double)r->hist->period : 0,
		 whole, match_is_set(&v->match) ? "  /" : "", v->match.text);
	snprintf(right, sizeof(right), "%% of %s   ? help  q end",
		 v->relative ? "shown rows" : "all samples");
	view_draw_status(v, left, right);
}

void view_table_draw(struct view_state *v)
{
	unsigned int width[COLUMNS_MAX];
	struct rows_line line;
	uint64_t nr = rows_count(&v->rows);
	int first, height = view_body(v, &first);

	if (v->at >= nr)
		v->at = nr ? nr - 1 : 0;
	if (v->at < v->top)
		v->top = v->at;
	if (height > 0 && v->at >= v->top + (uint64_t)height)
		v->top = v->at - (uint64_t)height + 1;
	view_draw_head(v);
	fit(v, width);
	draw_heading(v, first - 1, width);
	for (int i = 0; i < height && rows_at(&v->rows, v->top + (uint64_t)i, &line); i++) {
		bool here = v->top + (uint64_t)i == v->at;

		if (line.node == CALLGRAPH_NONE)
			draw_row(v, first + i, &line, here, width);
		else
			draw_node(v, first + i, &line, here);
	}
	if (!nr && !v->scanning)
		screen_printf(&v->screen, first, 2, v->screen.width - 2, STYLE_DIM, false, "%s",
			      match_is_set(&v->match) ? "no function matches" : "no samples");
	draw_state(v);
}

void view_table_find(struct view_state *v, bool back)
{
	uint64_t nr = rows_count(&v->rows);
	struct rows_line line;

	if (!match_is_set(&v->match)) {
		view_say(v, false, "type / and an expression first");
		return;
	}
	for (uint64_t i = 1; i <= nr; i++) {
		uint64_t at = (back ? v->at + nr - i : v->at + i) % nr;

		if (rows_at(&v->rows, at, &line) && rows_matches(&v->rows, &line, &v->match)) {
			v->at = at;
			return;
		}
	}
	view_say(v, false, "no line matches");
}

/* Zooms into the value that the line's row has for the first of these keys. */
static void zoom(struct view_state *v, const struct rows_line *line, const char *const *names,
		 size_t nr)
{
	const struct sort_key *key = rows_key(&v->rows, names, nr);

	if (!key)
		view_say(v, true, "the table has no column for that: add it by --sort");
	else if (!selection_add_key(&v->selection, key, rows_key_text(&v->rows, line->entry, key)))
		view_say(v, true, "no more zooms: Esc goes back");
	else {
		v->at = v->top = 0;
		view_choose(v);
	}
}

static void go_left(struct view_state *v, const struct rows_line *line)
{
	uint64_t up = rows_parent_of(&v->rows, v->at);

	if (line->is_open)
		rows_open(&v->rows, v->at, false, false);
	else if (up != v->at)
		v->at = up;
	else if (v->selection.nr) {
		if (selection_pop(&v->selection) == SELECTION_TIME)
			view_count(v);
		else
			view_choose(v);
	}
}

static void open_menu(struct view_state *v, const struct rows_line *line)
{
	if (line->node != CALLGRAPH_NONE) {
		rows_open(&v->rows, v->at, !line->is_open, false);
		return;
	}
	v->popup = POPUP_MENU;
	v->popup_at = 0;
}

/* As in perf, a line that opens nothing closes the row that it hangs below. */
static void expand(struct view_state *v, const struct rows_line *line, bool all)
{
	if (line->can_open)
		rows_open(&v->rows, v->at, !line->is_open, all);
	else if (line->node != CALLGRAPH_NONE) {
		v->at = rows_line_of(&v->rows, line->at);
		rows_open(&v->rows, v->at, false, true);
	} else
		view_say(v, false, "the row has no call chains: 'ringtail record -g' records them");
}

static void load_code(struct view_state *v, const struct rows_line *line)
{
	struct code_wanted w = {.sym = rows_symbol(&v->rows, line)};

	if (line->node != CALLGRAPH_NONE) {
		const struct callgraph *g = view_graph(v);
		const struct callgraph_node *n =
			&g->node[code_owner(g, line->node, v->table->opts.graph)];

		w = (struct code_wanted){n->sym, n->dso, 0};
	}
	if (!w.sym)
		view_say(v, true, "the line has no known function");
	else
		view_load_code(v, &w);
}

static void copy(struct view_state *v, const struct rows_line *line, bool to_file)
{
	v->text.len = 0;
	if (rows_stack(&v->rows, line, &v->text))
		view_say(v, true, "out of memory");
	else if (to_file)
		copy_to_file(v);
	else
		copy_to_terminal(v);
}

void view_table_act(struct view_state *v, enum view_action action)
{
	static const char *const threads[] = {"tid", "pid", "comm"}, *const dsos[] = {"dso"};
	struct rows_line line;
	int first;

	if (view_move(action, rows_count(&v->rows), (unsigned int)view_body(v, &first), &v->at,
		      &v->top))
		return;
	switch (action) {
	case ACTION_EXPAND_ALL:
	case ACTION_COLLAPSE_ALL:
		if (rows_open_all(&v->rows, action == ACTION_EXPAND_ALL))
			view_say(v, true, "out of memory");
		return;
	case ACTION_FLAME: view_open_flame(v); return;
	case ACTION_NEXT:
	case ACTION_PREVIOUS: view_table_find(v, action == ACTION_PREVIOUS); return;
	default: break;
	}
	if (!rows_at(&v->rows, v->at, &line))
		return;
	switch (action) {
	case ACTION_RIGHT: rows_open(&v->rows, v->at, true, false); break;
	case ACTION_LEFT: go_left(v, &line); break;
	case ACTION_TOGGLE: expand(v, &line, false); break;
	case ACTION_EXPAND: expand(v, &line, true); break;
	case ACTION_MENU: open_menu(v, &line); break;
	case ACTION_CODE: load_code(v, &line); break;
	case ACTION_THREAD: zoom(v, &line, threads, 3); break;
	case ACTION_DSO: zoom(v, &line, dsos, 1); break;
	case ACTION_COPY:
	case ACTION_COPY_FILE: copy(v, &line, action == ACTION_COPY_FILE); break;
	default: break;
	}
}
