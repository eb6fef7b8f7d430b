// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/text.h"
#include "view/screen/view_priv.h"

#define HOT  10.0 /* percent of the function */
#define WARM 1.0

static void draw_line(struct view_state *v, int y, size_t i)
{
	struct view_code *c = v->code;
	const struct code_line *l = &c->line[i];
	double percent = l->line ? 0 : code_percent(c, l->insn);
	enum screen_style style = STYLE_PLAIN;

	if (percent > 0)
		style = percent >= HOT ? STYLE_HOT : percent >= WARM ? STYLE_WARM : STYLE_PLAIN;
	else if (l->line)
		style = STYLE_DIM;
	if (i == v->code_at)
		style = STYLE_CURSOR;
	v->text.len = 0;
	if ((percent > 0 ? buf_printf(&v->text, "%7.2f  ", percent)
			 : buf_printf(&v->text, "%9s", "")) ||
	    code_text(c, i, &v->text))
		return;
	screen_put(&v->screen, y, 0, v->screen.width, (const char *)v->text.data, v->text.len,
		   style, true);
}

void view_code_draw(struct view_state *v)
{
	const struct view_code *c = v->code;
	int first, height = view_body(v, &first);
	char left[128];

	view_draw_head(v);
	v->text.len = 0;
	if (buf_printf(&v->text, "Percent  ") || text_escape(&v->text, c->function->sym->name) ||
	    buf_printf(&v->text, "  ") || text_escape(&v->text, c->function->dso->name))
		return;
	screen_put(&v->screen, first - 1, 0, v->screen.width, (const char *)v->text.data,
		   v->text.len, STYLE_HEADING, true);
	if (v->code_at < v->code_top)
		v->code_top = v->code_at;
	if (height > 0 && v->code_at >= v->code_top + (size_t)height)
		v->code_top = v->code_at - (size_t)height + 1;
	for (int i = 0; i < height && v->code_top + (size_t)i < c->nr; i++)
		draw_line(v, first + i, v->code_top + (size_t)i);
	snprintf(left, sizeof(left), "%zu/%zu  %" PRIu64 " samples", v->code_at + 1, c->nr,
		 c->function->total[c->event].samples);
	view_draw_status(v, left, "Tab: hottest   ? help  q back");
}

static void leave(struct view_state *v)
{
	code_free(v->code);
	v->code = NULL;
	v->place = v->code_from;
}

void view_code_act(struct view_state *v, enum view_action action)
{
	struct view_code *c = v->code;
	uint64_t at = v->code_at, top = v->code_top;
	int first;

	if (view_move(action, c->nr, (unsigned int)view_body(v, &first), &at, &top)) {
		v->code_at = (size_t)at;
		v->code_top = (size_t)top;
		return;
	}
	switch (action) {
	case ACTION_LEFT:
	case ACTION_BACK: leave(v); break;
	case ACTION_HOT: v->code_at = code_next_hot(c, v->code_at); break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		if (match_is_set(&v->match))
			v->code_at = code_find(c, v->code_at, &v->match, action == ACTION_PREVIOUS);
		break;
	case ACTION_COPY:
	case ACTION_COPY_FILE:
		v->text.len = 0;
		if (code_text(c, v->code_at, &v->text) || buf_append(&v->text, "\n", 1))
			return;
		if (action == ACTION_COPY)
			copy_to_terminal(v);
		else
			copy_to_file(v);
		break;
	default: break;
	}
}
