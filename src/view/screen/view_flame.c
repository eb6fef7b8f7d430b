// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/table.h"
#include "render/text.h"
#include "view/screen/view_priv.h"

static double percent(const struct view_state *v, uint64_t weight)
{
	const struct flame *f = &v->flame;
	uint64_t all = v->relative ? f->graph.node[f->zoom].total : v->rows.hist->period;

	return all ? 100.0 * (double)weight / (double)all : 0;
}

/* The same function has the same shade, beside whatever it is. */
static enum screen_style style_of(const struct view_state *v, uint32_t n)
{
	const struct callgraph_node *node = &v->flame.graph.node[n];
	unsigned int kind = node->cpumode == PERF_RECORD_MISC_KERNEL ? 1 : 0, shade = 0;

	if (node->sym && symbol_is_inlined(node->sym))
		kind = 2;
	for (const char *s = node->sym ? node->sym->name : ""; *s; s++)
		shade = shade * 31 + (unsigned char)*s;
	if (n == v->flame.at)
		return STYLE_FLAME_AT;
	if (match_is_set(&v->match) && node->sym && match_has(&v->match, node->sym->name))
		return STYLE_FLAME_MATCH;
	return STYLE_FLAME + kind * SCREEN_SHADES + shade % SCREEN_SHADES;
}

static int name_of(struct view_state *v, uint32_t n)
{
	v->text.len = 0;
	if (n == v->flame.root)
		return buf_printf(&v->text, "all");
	return graph_name(&v->text, v->flame.graph.by, &v->flame.graph.node[n]);
}

/* An edge tells a box from its neighbour, which may be of the same function. */
static void draw_box(struct view_state *v, int y, const struct flame_box *b)
{
	const char *edge = v->screen.utf8 && v->screen.colors ? "▏" : "|";
	enum screen_style style = style_of(v, b->node);

	if (name_of(v, b->node))
		return;
	screen_put(&v->screen, y, (int)b->x, 1, edge, strlen(edge), style, false);
	if (b->width > 1)
		screen_put(&v->screen, y, (int)b->x + 1, (int)b->width - 1,
			   (const char *)v->text.data, v->text.len, style, true);
}

static void draw_state(struct view_state *v)
{
	const struct callgraph_node *n = &v->flame.graph.node[v->flame.at];
	char left[512], right[128] = "? help  q back";

	if (name_of(v, v->flame.at))
		return;
	snprintf(left, sizeof(left), "%.*s  %.2f%%, %" PRIu64 " samples", (int)v->text.len,
		 (const char *)v->text.data, percent(v, n->total), n->samples);
	if (match_is_set(&v->match))
		snprintf(right, sizeof(right), "/%.40s: %.2f%%", v->match.text,
			 percent(v, flame_matched(&v->flame, &v->match)));
	view_draw_status(v, left, right);
}

void view_flame_draw(struct view_state *v)
{
	const struct flame_box *at;
	int first, height = view_body(v, &first);

	view_draw_head(v);
	screen_printf(&v->screen, first - 1, 0, v->screen.width, STYLE_HEADING, true, "  %s%s",
		      v->table->opts.graph == REPORT_GRAPH_CALLEE
			      ? "Functions, with their callers below"
			      : "Callers, with their callees below",
		      v->relative ? "; percentages of the zoomed box" : "");
	if (v->flame.width != (unsigned int)v->screen.width || !v->flame.nr) {
		if (flame_layout(&v->flame, (unsigned int)v->screen.width))
			return;
	}
	at = flame_box_of(&v->flame, v->flame.at);
	if (at && at->depth < v->flame_top)
		v->flame_top = at->depth;
	if (at && height > 0 && at->depth >= v->flame_top + (unsigned int)height)
		v->flame_top = at->depth - (unsigned int)height + 1;
	for (size_t i = 0; i < v->flame.nr; i++) {
		const struct flame_box *b = &v->flame.box[i];

		if (b->depth >= v->flame_top && b->depth < v->flame_top + (unsigned int)height)
			draw_box(v, first + (int)(b->depth - v->flame_top), b);
	}
	draw_state(v);
}

static void copy(struct view_state *v, bool to_file)
{
	const struct callgraph *g = &v->flame.graph;
	int rc = 0;

	v->text.len = 0;
	for (uint32_t n = v->flame.at; !rc && n != v->flame.root; n = g->node[n].parent) {
		rc = graph_name(&v->text, g->by, &g->node[n]);
		if (!rc)
			rc = buf_append(&v->text, "\n", 1);
	}
	if (rc)
		view_say(v, true, "out of memory");
	else if (to_file)
		copy_to_file(v);
	else
		copy_to_terminal(v);
}

static void zoom(struct view_state *v, uint32_t n)
{
	if (flame_zoom(&v->flame, n))
		view_say(v, true, "out of memory");
}

static void go_back(struct view_state *v)
{
	struct flame *f = &v->flame;

	if (match_is_set(&v->match)) {
		match_set(&v->match, "", NULL);
		view_choose(v);
	} else if (f->zoom != f->root)
		zoom(v, f->root);
	else
		v->place = VIEW_TABLE;
}

static void load_code(struct view_state *v)
{
	const struct callgraph *g = &v->flame.graph;
	const struct callgraph_node *n = &g->node[code_owner(g, v->flame.at, v->table->opts.graph)];
	const struct code_wanted w = {n->sym, n->dso, 0};

	if (w.sym)
		view_load_code(v, &w);
	else
		view_say(v, true, "the box has no known function");
}

void view_flame_act(struct view_state *v, enum view_action action)
{
	struct flame *f = &v->flame;
	int first, height = view_body(v, &first);

	switch (action) {
	case ACTION_UP: flame_go(f, FLAME_OUT); break;
	case ACTION_DOWN: flame_go(f, FLAME_IN); break;
	case ACTION_LEFT: flame_go(f, FLAME_LEFT); break;
	case ACTION_RIGHT: flame_go(f, FLAME_RIGHT); break;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		for (int i = 0; i < height; i++)
			flame_go(f, action == ACTION_PAGE_UP ? FLAME_OUT : FLAME_IN);
		break;
	case ACTION_FIRST: f->at = f->zoom; break;
	case ACTION_LAST:
		for (int i = 0; i < FRAMES_MAX; i++)
			flame_go(f, FLAME_IN);
		break;
	case ACTION_ZOOM: zoom(v, f->at); break;
	case ACTION_BACK: go_back(v); break;
	case ACTION_FLAME: v->place = VIEW_TABLE; break;
	case ACTION_CODE: load_code(v); break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		if (!match_is_set(&v->match) ||
		    !flame_find(f, &v->match, action == ACTION_PREVIOUS))
			view_say(v, false, "no box matches");
		break;
	case ACTION_COPY:
	case ACTION_COPY_FILE: copy(v, action == ACTION_COPY_FILE); break;
	default: break;
	}
}
