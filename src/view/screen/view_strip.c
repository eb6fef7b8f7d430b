// SPDX-License-Identifier: Apache-2.0
/* The time strip: what it shows, and the span of time that a user marks there. */
#include <stdlib.h>
#include <string.h>

#include "view/model/strip.h"
#include "view/screen/view_priv.h"

#define STRIP_HEIGHT 8	/* lines of a screen that has room for the strip */
#define LABEL	     12 /* columns of the time beside it */

bool view_has_strip(const struct view_state *v)
{
	return v->table && v->table->opts.slices.nr && v->screen.height >= STRIP_HEIGHT &&
	       v->screen.width > LABEL * 2;
}

void view_drop_strip(struct view_state *v)
{
	job_table_free(v->strip);
	v->strip = NULL;
	v->strip_due = false;
	v->strip_zooms.len = 0;
}

/* The strip shows the zoomed rows: counts their samples by time, if the zooms have changed. */
void view_want_strip(struct view_state *v)
{
	struct buf zooms = {0};

	for (size_t i = 0; i < v->selection.nr_zooms; i++)
		if (buf_printf(&zooms, "%s=%s\n", v->selection.zooms[i].key->name,
			       v->selection.zooms[i].text))
			break;
	if (zooms.len != v->strip_zooms.len ||
	    (zooms.len && memcmp(zooms.data, v->strip_zooms.data, zooms.len) != 0)) {
		view_drop_strip(v);
		if (v->counts_strip)
			job_stop(&v->job);
		buf_release(&v->strip_zooms);
		v->strip_zooms = zooms;
		v->strip_due = zooms.len && !v->opts->refresh_ms && v->table->opts.slices.nr;
	} else {
		buf_release(&zooms);
	}
}

/*
 * Sets the filter of a zoom. Returns false if the user's own filter is in its way, or if the name
 * has a comma, which separates names in filters.
 */
static bool filter_by(struct view_state *v, const char *key, const char *text, struct filter *f)
{
	if ((!strcmp(key, "comm") || !strcmp(key, "dso")) && strchr(text, ','))
		return false;
	if (!strcmp(key, "comm") && !f->comms)
		f->comms = text;
	else if (!strcmp(key, "dso") && !f->dsos)
		f->dsos = text;
	else if (strcmp(key, "comm") != 0 && strcmp(key, "dso") != 0 && !f->tids.nr) {
		v->strip_tid.first = v->strip_tid.last = strtoul(text, NULL, 10);
		f->tids = (struct filter_ranges){.r = &v->strip_tid, .nr = 1};
	} else {
		return false;
	}
	return true;
}

int view_start_strip(struct view_state *v)
{
	const struct selection_span *span = selection_span(&v->selection);
	struct view_job *j = &v->job;

	v->strip_due = false;
	j->load = NULL;
	j->trace = v->trace;
	j->code_of = (struct code_wanted){0};
	j->opts = *v->opts->report;
	j->opts.graph = REPORT_GRAPH_NONE;
	j->opts.children = false;
	if (span) {
		j->opts.filter.start = span->first;
		j->opts.filter.stop = span->last;
	}
	for (size_t i = 0; i < ROWS_ZOOMS_MAX; i++) {
		free(v->strip_text[i]);
		v->strip_text[i] = NULL;
	}
	for (size_t i = 0; i < v->selection.nr_zooms; i++) {
		v->strip_text[i] = strdup(v->selection.zooms[i].text);
		if (!v->strip_text[i] || !filter_by(v, v->selection.zooms[i].key->name,
						    v->strip_text[i], &j->opts.filter))
			return 0;
	}
	v->counts_strip = true;
	return job_start(j);
}

/* A strip of other zooms than those of now is not shown. */
void view_take_strip(struct view_state *v)
{
	struct job_table *t = v->job.table;

	v->job.table = NULL;
	if (v->strip_due || !v->strip_zooms.len) {
		job_table_free(t);
		return;
	}
	job_table_free(v->strip);
	v->strip = t;
}

void view_release_strip(struct view_state *v)
{
	view_drop_strip(v);
	buf_release(&v->strip_zooms);
	for (size_t i = 0; i < ROWS_ZOOMS_MAX; i++)
		free(v->strip_text[i]);
}

static unsigned int strip_width(const struct view_state *v)
{
	return (unsigned int)v->screen.width - LABEL;
}

static struct strip strip_of(const struct view_state *v)
{
	const struct job_table *t = v->strip ?: v->table;
	const struct report_slices *s = &t->opts.slices;

	return (struct strip){s->first, s->last, &t->report->tables.slices[v->event * s->nr],
			      s->nr};
}

void view_draw_strip(struct view_state *v)
{
	const struct strip strip = strip_of(v);
	const unsigned int width = strip_width(v);
	unsigned int from = v->mark_from < v->mark_to ? v->mark_from : v->mark_to;
	unsigned int to = v->mark_from < v->mark_to ? v->mark_to : v->mark_from;
	uint64_t first = strip.first, last = strip.last;
	uint8_t *level = malloc(width);

	if (!level)
		return;
	strip_levels(&strip, width, level);
	for (unsigned int i = 0; i < width; i++)
		screen_bar(&v->screen, 1, (int)i, level[i],
			   v->marking && i >= from && i <= to ? STYLE_MARKED : STYLE_STRIP);
	free(level);
	if (v->marking)
		strip_span(&strip, from, to, width, &first, &last);
	screen_printf(&v->screen, 1, (int)width, LABEL, v->marking ? STYLE_MARKED : STYLE_DIM, true,
		      " %9.3f s", (double)(last - first) / 1e9);
}

void view_begin_span(struct view_state *v)
{
	if (!view_has_strip(v)) {
		view_say(v, true, "the samples have no times, or the screen has no room");
		return;
	}
	v->marking = true;
	v->mark_from = v->mark_to = strip_width(v) / 2;
}

static void end_span(struct view_state *v)
{
	const struct strip strip = strip_of(v);
	unsigned int from = v->mark_from < v->mark_to ? v->mark_from : v->mark_to;
	unsigned int to = v->mark_from < v->mark_to ? v->mark_to : v->mark_from;
	uint64_t first, last;

	v->marking = false;
	strip_span(&strip, from, to, strip_width(v), &first, &last);
	if (last <= first || !selection_add_span(&v->selection, first, last))
		view_say(v, true, "no more zooms: Esc goes back");
	else
		view_count(v);
}

void view_span_key(struct view_state *v, int key)
{
	const unsigned int last = strip_width(v) - 1, page = strip_width(v) / 10 + 1;
	unsigned int *to = &v->mark_to;

	switch (key_action(key, VIEW_TABLE)) {
	case ACTION_LEFT: *to -= *to > 0; break;
	case ACTION_RIGHT: *to += *to < last; break;
	case ACTION_PAGE_UP: *to -= *to < page ? *to : page; break;
	case ACTION_PAGE_DOWN: *to = *to + page > last ? last : *to + page; break;
	case ACTION_FIRST: *to = 0; break;
	case ACTION_LAST: *to = last; break;
	case ACTION_SPAN_BEGIN: v->mark_from = *to; break;
	case ACTION_SPAN_END:
	case ACTION_MENU: end_span(v); break;
	case ACTION_BACK:
	case ACTION_QUIT: v->marking = false; break;
	default: break;
	}
}
