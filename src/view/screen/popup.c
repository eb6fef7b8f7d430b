// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/text.h"
#include "view/screen/view_priv.h"

/* --- help ----------------------------------------------------------------------------------------
 */

/* Returns binding number @i of those that the help shows here. */
static const struct key_binding *help_at(const struct view_state *v, size_t i)
{
	const struct key_binding *b;

	for (size_t k = 0; (b = key_binding_at(k)); k++) {
		if (!b->help || (b->places == VIEW_LIVE && !v->opts->refresh_ms))
			continue;
		if (!i--)
			return b;
	}
	return NULL;
}

static size_t help_lines(const struct view_state *v)
{
	size_t n = 0;

	while (help_at(v, n))
		n++;
	return n;
}

static void draw_help(struct view_state *v)
{
	struct screen *s = &v->screen;
	int width = s->width < 78 ? s->width : 78, nr = (int)help_lines(v);
	int height = nr + 2 < s->height ? nr + 2 : s->height;
	int x = (s->width - width) / 2, y = (s->height - height) / 2;

	if ((int)v->popup_top > nr - (height - 2))
		v->popup_top = (size_t)(nr - (height - 2));
	screen_frame(s, y, x, height, width);
	screen_printf(s, y, x + 2, width - 4, STYLE_BOX, false, " Keys (q leaves%s) ",
		      nr > height - 2 ? ", j and k scroll" : "");
	for (int i = 0; i < height - 2; i++) {
		const struct key_binding *b = help_at(v, v->popup_top + (size_t)i);

		if (b)
			screen_printf(s, y + 1 + i, x + 2, width - 4, STYLE_BOX, false, "%-12s %s",
				      b->names, b->help);
	}
}

static void help_key(struct view_state *v, int key)
{
	switch (key_action(key, VIEW_TABLE)) {
	case ACTION_DOWN: v->popup_top++; break;
	case ACTION_UP: v->popup_top -= v->popup_top > 0; break;
	case ACTION_PAGE_DOWN: v->popup_top += 10; break;
	case ACTION_PAGE_UP: v->popup_top -= v->popup_top < 10 ? v->popup_top : 10; break;
	default: v->popup = POPUP_NONE; break;
	}
}

/* --- menu ----------------------------------------------------------------------------------------
 */

static const struct {
	enum view_action action;
	const char *text;
	bool of_function;
} items[] = {
	{ACTION_EXPAND, "open or close its call chains", false},
	{ACTION_CODE, "annotate", true},
	{ACTION_THREAD, "zoom into its thread", false},
	{ACTION_DSO, "zoom into its shared object", false},
	{ACTION_FLAME, "flame graph", false},
	{ACTION_COPY, "copy it", false},
	{ACTION_BACK, "zoom out", false},
};

#define NR_ITEMS (sizeof(items) / sizeof(*items))

static const char *key_names(enum view_action action)
{
	const struct key_binding *b;

	for (size_t i = 0; (b = key_binding_at(i)); i++)
		if (b->action == action && b->names)
			return b->names;
	return "";
}

static void draw_menu(struct view_state *v)
{
	struct screen *s = &v->screen;
	int width = s->width < 60 ? s->width : 60, height = (int)NR_ITEMS + 2;
	int x = (s->width - width) / 2, y = (s->height - height) / 2;
	const struct symbol *sym = NULL;
	struct rows_line line;

	y = y < 0 ? 0 : y;
	if (rows_at(&v->rows, v->at, &line))
		sym = rows_symbol(&v->rows, &line);
	screen_frame(s, y, x, height, width);
	for (size_t i = 0; i < NR_ITEMS; i++) {
		v->text.len = 0;
		if (buf_printf(&v->text, "%-4s %s ", key_names(items[i].action), items[i].text) ||
		    (items[i].of_function && sym && text_escape(&v->text, sym->name)))
			return;
		screen_put(s, y + 1 + (int)i, x + 1, width - 2, (const char *)v->text.data,
			   v->text.len, i == v->popup_at ? STYLE_CURSOR : STYLE_BOX, true);
	}
}

static enum view_action menu_key(struct view_state *v, int key)
{
	enum view_action action = key_action(key, VIEW_TABLE);

	switch (action) {
	case ACTION_DOWN: v->popup_at = (v->popup_at + 1) % NR_ITEMS; return ACTION_NONE;
	case ACTION_UP: v->popup_at = (v->popup_at + NR_ITEMS - 1) % NR_ITEMS; return ACTION_NONE;
	case ACTION_MENU: v->popup = POPUP_NONE; return items[v->popup_at].action;
	default: break;
	}
	v->popup = POPUP_NONE;
	for (size_t i = 0; i + 1 < NR_ITEMS; i++)
		if (items[i].action == action)
			return action;
	return ACTION_NONE;
}

void popup_draw(struct view_state *v)
{
	if (v->popup == POPUP_HELP)
		draw_help(v);
	if (v->popup == POPUP_MENU)
		draw_menu(v);
}

enum view_action popup_key(struct view_state *v, int key)
{
	if (v->popup == POPUP_MENU)
		return menu_key(v, key);
	help_key(v, key);
	return ACTION_NONE;
}

void popup_progress(struct view_state *v)
{
	struct screen *s = &v->screen;
	uint64_t done = atomic_load(&v->job.done), total = atomic_load(&v->job.total);
	unsigned int pass = atomic_load(&v->job.pass);
	int width = s->width < 60 ? s->width : 60, x = (s->width - width) / 2;
	int y = s->height / 2 - 1, bar = width - 4, full;

	full = total ? (int)((double)bar * (double)done / (double)total) : 0;
	full = full > bar ? bar : full;
	screen_frame(s, y - 1, x, 4, width);
	screen_printf(s, y, x + 2, bar, STYLE_BOX, false, "%s %s",
		      pass == 2 ? "Counting" : "Reading", "(q leaves)");
	for (int i = 0; i < bar; i++)
		screen_put(s, y + 1, x + 2 + i, 1, i < full ? "#" : ".", 1, STYLE_BOX, false);
}
