// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/text.h"
#include "view/screen/view_priv.h"

#define HOT		 10.0 /* percent of the function */
#define WARM		 1.0
#define SEARCHED_AT_ONCE 50000 /* lines, with each key; of more with Enter */

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
	v->text.len = 0;
	if ((percent > 0 ? buf_printf(&v->text, "%7.2f  ", percent)
			 : buf_printf(&v->text, "%9s", "")) ||
	    code_text(c, i, &v->text) || buf_append(&v->text, "", 1))
		return;
	v->text.len--;
	if (match_is_set(&v->code_match) && match_has(&v->code_match, (const char *)v->text.data))
		style = STYLE_MATCH;
	if (i == v->code_at)
		style = STYLE_CURSOR;
	screen_put(&v->screen, y, 0, v->screen.width, (const char *)v->text.data, v->text.len,
		   style, true);
}

void view_code_draw(struct view_state *v)
{
	const struct view_code *c = v->code;
	int first, height = view_body(v, &first);
	char left[256];

	view_draw_head(v);
	v->text.len = 0;
	if (buf_printf(&v->text, "Percent  ") || text_escape(&v->text, c->of.sym->name) ||
	    buf_printf(&v->text, "  ") || text_escape(&v->text, c->of.dso->name))
		return;
	screen_put(&v->screen, first - 1, 0, v->screen.width, (const char *)v->text.data,
		   v->text.len, STYLE_HEADING, true);
	if (v->code_at < v->code_top)
		v->code_top = v->code_at;
	if (height > 0 && v->code_at >= v->code_top + (size_t)height)
		v->code_top = v->code_at - (size_t)height + 1;
	for (int i = 0; i < height && v->code_top + (size_t)i < c->nr; i++)
		draw_line(v, first + i, v->code_top + (size_t)i);
	snprintf(left, sizeof(left), "%zu/%zu  %" PRIu64 " samples%s%.60s", v->code_at + 1, c->nr,
		 code_total(c).samples, match_is_set(&v->code_match) ? "  /" : "",
		 v->code_match.text);
	view_draw_status(v, left,
			 v->nr_trail ? "Esc: where you came from   ? help  q back"
				     : "Tab: hottest   Enter: follow   ? help  q back");
}

/* --- going around --------------------------------------------------------------------------------
 */

/* Frees the code of the oldest step, unless the next one has the same. */
static void forget_oldest(struct view_state *v)
{
	const struct view_code *next = v->nr_trail > 1 ? v->trail[1].code : v->code;

	if (v->trail[0].code != next)
		code_free(v->trail[0].code);
	v->nr_trail--;
	memmove(&v->trail[0], &v->trail[1], v->nr_trail * sizeof(v->trail[0]));
}

static void leave_a_step(struct view_state *v)
{
	if (v->nr_trail == VIEW_TRAIL)
		forget_oldest(v);
	v->trail[v->nr_trail++] = (struct view_step){v->code, v->code_at, v->code_top};
}

void view_code_drop(struct view_state *v)
{
	while (v->nr_trail)
		forget_oldest(v);
	code_free(v->code);
	v->code = NULL;
}

void view_code_take(struct view_state *v, struct view_code *c)
{
	if (v->place == VIEW_CODE)
		leave_a_step(v);
	else
		view_code_drop(v);
	v->code = c;
	v->code_at = code_next_hot(c, SIZE_MAX);
	v->code_top = v->code_at > 4 ? v->code_at - 4 : 0;
	v->place = VIEW_CODE;
}

/* Undoes the search, or the newest jump or call; then the code is left. */
static void go_back(struct view_state *v)
{
	struct view_step s;

	if (match_is_set(&v->code_match)) {
		match_set(&v->code_match, "", NULL);
	} else if (!v->nr_trail) {
		view_code_drop(v);
		v->place = v->code_from;
	} else {
		s = v->trail[--v->nr_trail];
		if (s.code != v->code)
			code_free(v->code);
		v->code = s.code;
		v->code_at = s.at;
		v->code_top = s.top;
	}
}

static void follow(struct view_state *v)
{
	struct view_code *c = v->code;
	struct annotate_target target;
	struct code_wanted w;
	size_t line;

	switch (code_follow(c, v->code_at, &line, &target)) {
	case CODE_NOWHERE: view_say(v, false, "Enter follows a jump or a call"); break;
	case CODE_AT_RUN:
		view_say(v, false,
			 "the target is in a register or in memory: it is known at run "
			 "time alone");
		break;
	case CODE_UNKNOWN: view_say(v, false, "the target is in no function that is known"); break;
	case CODE_IN_HERE:
		leave_a_step(v);
		v->code_at = line;
		break;
	case CODE_FUNCTION:
		w = (struct code_wanted){target.sym, target.dso,
					 target.dso == c->of.dso ? c->of.base : 0};
		view_load_code(v, &w);
		break;
	}
}

void view_code_search(struct view_state *v)
{
	v->code_at = v->code_find_from;
	if (match_is_set(&v->code_match) && (!v->typing || v->code->nr <= SEARCHED_AT_ONCE))
		v->code_at = code_find(v->code, v->code_at, &v->code_match, false);
}

static void find(struct view_state *v, bool back)
{
	size_t before = v->code_at;

	if (!match_is_set(&v->code_match)) {
		view_say(v, false, "type / and an expression first");
		return;
	}
	v->code_at = code_find(v->code, before, &v->code_match, back);
	if (v->code_at == before)
		view_say(v, false, "no other line matches");
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
	case ACTION_BACK: go_back(v); break;
	case ACTION_RIGHT:
	case ACTION_FOLLOW: follow(v); break;
	case ACTION_HOT: v->code_at = code_next_hot(c, v->code_at); break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS: find(v, action == ACTION_PREVIOUS); break;
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
