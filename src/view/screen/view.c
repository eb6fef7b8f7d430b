// SPDX-License-Identifier: Apache-2.0
#include "view/screen/view.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "render/text.h"
#include "view/screen/view_priv.h"

#define PROGRESS_MS   100 /* between two drawings of the bar */
#define LEAVE_MS      500 /* that a stopped job gets to end */
#define SMALLEST_COLS 20
#define SMALLEST_ROWS 5

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void view_say(struct view_state *v, bool error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->message, sizeof(v->message), fmt, ap);
	va_end(ap);
	v->message_is_error = error;
}

bool view_move(enum view_action action, uint64_t nr, unsigned int height, uint64_t *at,
	       uint64_t *top)
{
	const uint64_t page = height > 1 ? height - 1 : 1, last = nr ? nr - 1 : 0;
	uint64_t to = *at;

	switch (action) {
	case ACTION_UP: to -= to > 0; break;
	case ACTION_DOWN: to++; break;
	case ACTION_PAGE_UP: to -= to < page ? to : page; break;
	case ACTION_PAGE_DOWN: to += page; break;
	case ACTION_FIRST: to = 0; break;
	case ACTION_LAST: to = last; break;
	case ACTION_TOP: to = *top; break;
	case ACTION_MIDDLE: to = *top + page / 2; break;
	case ACTION_BOTTOM: to = *top + page; break;
	default: return false;
	}
	*at = to > last ? last : to;
	if (action == ACTION_PAGE_UP)
		*top -= *top < page ? *top : page;
	if (action == ACTION_PAGE_DOWN && *top + page <= last)
		*top += page;
	return true;
}

/* --- the table -----------------------------------------------------------------------------------
 */

void view_choose(struct view_state *v)
{
	view_want_strip(v);
	rows_choose(&v->rows, v->selection.zooms, v->selection.nr_zooms, &v->match);
	v->scanning = true;
	v->at = v->top = 0;
}

/* Returns the first event with samples, from @event on. */
static size_t event_with_samples(const struct report *r, size_t event)
{
	for (size_t i = 0; i < r->tables.nr; i++) {
		size_t e = (event + i) % r->tables.nr;

		if (r->tables.hists[e].samples)
			return e;
	}
	return event < r->tables.nr ? event : 0;
}

/* Returns how many of the first @nr events have samples. */
static size_t events_with_samples(const struct report *r, size_t nr)
{
	size_t n = 0;

	for (size_t i = 0; i < r->tables.nr && i < nr; i++)
		n += r->tables.hists[i].samples > 0;
	return n;
}

static int show_event(struct view_state *v, size_t event)
{
	rows_release(&v->rows);
	v->event = event;
	if (rows_init(&v->rows, v->table->report, event, v->opts->percent_limit))
		return -ENOMEM;
	view_table_measure(v);
	view_choose(v);
	return 0;
}

static void drop_table(struct view_state *v)
{
	rows_release(&v->rows);
	flame_release(&v->flame);
	view_code_drop(v);
	view_drop_strip(v);
	job_table_free(v->table);
	v->table = NULL;
}

/* Live: nothing moves under a user who types or chooses, or looks at something that is frozen. */
static bool is_live_now(const struct view_state *v)
{
	return v->opts->refresh_ms && !v->frozen && v->place != VIEW_CODE && !v->typing &&
	       !v->marking && v->popup != POPUP_MENU && !selection_span(&v->selection);
}

/* Starts to count with the selection as it is; a live view also takes a new snapshot, unless it is
 * frozen. */
static int start_count(struct view_state *v)
{
	const struct selection_span *span = selection_span(&v->selection);
	struct view_job *j = &v->job;

	j->load = !v->trace || is_live_now(v) ? v->opts->load : NULL;
	j->arg = v->opts->arg;
	j->trace = v->trace;
	j->code_of = (struct code_wanted){0};
	j->opts = *v->opts->report;
	j->opts.graph = v->graph;
	if (span) {
		j->opts.filter.start = span->first;
		j->opts.filter.stop = span->last;
	}
	v->again = false;
	return job_start(j);
}

void view_count(struct view_state *v)
{
	v->again = true;
	if (v->job.running)
		job_stop(&v->job);
}

void view_load_code(struct view_state *v, const struct code_wanted *w)
{
	const struct selection_span *span = selection_span(&v->selection);
	struct view_job *j = &v->job;

	if (j->running) {
		view_say(v, true, "still counting: try again");
		return;
	}
	j->load = NULL;
	j->trace = v->trace;
	j->code_of = *w;
	j->event = v->event;
	j->opts = *v->opts->report;
	if (span) {
		j->opts.filter.start = span->first;
		j->opts.filter.stop = span->last;
	}
	if (v->place != VIEW_CODE)
		v->code_from = v->place;
	if (job_start(j))
		view_say(v, true, "cannot start a thread");
}

/* Looks at all rows at once, and opens the trees of @names. */
static int reopen(struct view_state *v, const struct buf *names)
{
	int rc = rows_step(&v->rows, SIZE_MAX);

	v->scanning = false;
	return rc < 0 ? rc : rows_open_names(&v->rows, names);
}

/* Takes over a new table. The user stays at the line where he is, and open trees stay open. */
static int take_table(struct view_state *v)
{
	struct trace *before = v->trace;
	struct buf names = {0};
	int rc = v->table ? rows_opened_names(&v->rows, &names) : 0;
	uint64_t at = v->at, top = v->top;
	bool flame = v->place == VIEW_FLAME;

	if (v->place == VIEW_CODE)
		v->place = VIEW_TABLE;
	drop_table(v);
	v->table = v->job.table;
	v->job.table = NULL;
	v->trace = v->table->trace;
	if (v->opts->counted)
		v->opts->counted(v->opts->arg, v->table->report);
	if (before && before != v->trace && v->opts->drop)
		v->opts->drop(v->opts->arg, before);
	if (!rc)
		rc = show_event(v, event_with_samples(v->table->report, v->event));
	v->at = at;
	v->top = top;
	if (!rc && (names.len || flame))
		rc = reopen(v, &names);
	buf_release(&names);
	if (!rc && flame)
		view_open_flame(v);
	return rc;
}

/* Takes the result of a job that has ended. Returns 0, or a negative errno that ends the view. */
static int take_result(struct view_state *v, struct error *err)
{
	struct view_job *j = &v->job;

	bool strip = v->counts_strip;

	v->due_ms = now_ms() + v->opts->refresh_ms;
	v->counts_strip = false;
	if (j->rc == -ECANCELED)
		return 0;
	if (strip && !j->rc) {
		view_take_strip(v);
		return 0;
	}
	if (j->rc < 0 && !v->table && !v->opts->refresh_ms) {
		*err = j->err;
		return j->rc;
	}
	if (j->rc < 0) {
		view_say(v, true, "%s", j->err.text);
		return 0;
	}
	if (j->table && take_table(v))
		return error_set(err, -ENOMEM, "out of memory");
	if (j->code)
		view_code_take(v, j->code);
	j->code = NULL;
	return 0;
}

void view_open_flame(struct view_state *v)
{
	if (v->scanning)
		view_say(v, false, "still searching: try again");
	else if (flame_build(&v->flame, &v->rows) ||
		 flame_layout(&v->flame, (unsigned int)v->screen.width))
		view_say(v, true, "out of memory");
	else {
		v->place = VIEW_FLAME;
		v->flame_top = 0;
	}
}

/* --- drawing -------------------------------------------------------------------------------------
 */

int view_body(const struct view_state *v, int *ret_first)
{
	*ret_first = 2 + view_has_strip(v);
	return v->screen.height > *ret_first + 1 ? v->screen.height - *ret_first - 1 : 0;
}

void view_draw_head(struct view_state *v)
{
	const struct trace *t = v->trace;
	char state[160] = "";

	v->text.len = 0;
	if (buf_printf(&v->text, " ") || text_escape(&v->text, v->opts->title) ||
	    buf_printf(&v->text, "  ") ||
	    text_escape(&v->text, pd_evlist_at(t->evlist, v->event)->name) ||
	    (events_with_samples(v->table->report, SIZE_MAX) > 1 &&
	     buf_printf(&v->text, " (%zu of %zu)",
			events_with_samples(v->table->report, v->event + 1),
			events_with_samples(v->table->report, SIZE_MAX))) ||
	    selection_text(&v->selection, t->counts.first_time, &v->text))
		return;
	screen_put(&v->screen, 0, 0, v->screen.width, (const char *)v->text.data, v->text.len,
		   STYLE_TITLE, true);
	if (v->opts->describe)
		v->opts->describe(v->opts->arg, state, sizeof(state));
	if (v->frozen)
		snprintf(state, sizeof(state), "frozen: Space resumes");
	if (*state && (int)strlen(state) < v->screen.width)
		screen_printf(&v->screen, 0, v->screen.width - (int)strlen(state) - 1,
			      (int)strlen(state) + 1, STYLE_TITLE, true, "%s", state);
	if (view_has_strip(v))
		view_draw_strip(v);
}

/* Returns how much of @text, of @len bytes, a line of @width columns takes, without half words. */
static size_t line_length(const char *text, size_t len, size_t width)
{
	size_t n = len, word;

	while (n && text_columns(text, n) > width)
		for (n--; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
			;
	for (word = n; word && word < len && text[word] != ' '; word--)
		;
	return word ?: n;
}

/* Draws the message from the last line up, in as many lines as it needs. */
static void draw_message(struct view_state *v)
{
	struct screen *s = &v->screen;
	const enum screen_style style = v->message_is_error ? STYLE_ERROR : STYLE_STATUS;
	const size_t room = (size_t)s->width - 1, all = strlen(v->message);
	int lines = 0;

	for (size_t at = 0; at < all && lines < s->height - 1; lines++) {
		size_t n = line_length(v->message + at, all - at, room);

		if (!n)
			break;
		at += n;
		at += v->message[at] == ' ';
	}
	for (size_t at = 0, i = 0; i < (size_t)lines; i++) {
		size_t n = line_length(v->message + at, all - at, room);

		screen_printf(s, s->height - lines + (int)i, 0, s->width, style, true, " %.*s",
			      (int)n, v->message + at);
		at += n;
		at += v->message[at] == ' ';
	}
}

void view_draw_status(struct view_state *v, const char *left, const char *right)
{
	struct screen *s = &v->screen;
	int y = s->height - 1, used;
	uint64_t done = atomic_load(&v->job.done), total = atomic_load(&v->job.total);

	if (v->typing) {
		screen_printf(s, y, 0, s->width, v->message[0] ? STYLE_ERROR : STYLE_STATUS, true,
			      "/%s_  %s", v->typed, v->message);
		return;
	}
	if (v->message[0]) {
		draw_message(v);
		return;
	}
	if (v->marking)
		left = "span of time: arrows move its end, ] or Enter zooms, Esc leaves";
	used = screen_printf(s, y, 0, s->width, STYLE_STATUS, true, " %s", left);
	if (v->job.running && !v->opts->refresh_ms)
		screen_printf(s, y, used + 2, s->width, STYLE_STATUS, false, "counting %.0f%%",
			      total ? 100.0 * (double)done / (double)total : 0);
	else if (used + (int)strlen(right) + 3 < s->width)
		screen_printf(s, y, s->width - (int)strlen(right) - 1, (int)strlen(right),
			      STYLE_STATUS, false, "%s", right);
}

static void draw(struct view_state *v)
{
	struct screen *s = &v->screen;

	screen_clear(s);
	if (s->width < SMALLEST_COLS || s->height < SMALLEST_ROWS)
		screen_printf(s, 0, 0, s->width, STYLE_PLAIN, false, "too small");
	else if (!v->table && v->opts->refresh_ms)
		screen_printf(s, 0, 0, s->width, STYLE_PLAIN, false, " %s",
			      v->message[0] ? v->message
					    : "waiting for the first samples (q ends)");
	else if (!v->table)
		popup_progress(v);
	else if (v->place == VIEW_TABLE)
		view_table_draw(v);
	else if (v->place == VIEW_FLAME)
		view_flame_draw(v);
	else
		view_code_draw(v);
	popup_draw(v);
	screen_show(s);
}

/* --- keys ----------------------------------------------------------------------------------------
 */

/* The code of a function is searched by an expression of its own. */
static struct view_match *match_here(struct view_state *v)
{
	return v->place == VIEW_CODE ? &v->code_match : &v->match;
}

static void begin_typing(struct view_state *v)
{
	snprintf(v->before, sizeof(v->before), "%s", match_here(v)->text);
	v->code_find_from = v->code_at;
	v->typed[0] = '\0';
	v->typing = true;
}

/* Searches with what is typed so far; what is no expression yet is said. */
static void search(struct view_state *v, const char *text)
{
	struct error err = ERROR_INIT;

	v->message[0] = '\0';
	if (match_set(match_here(v), text, &err))
		view_say(v, true, "(%s)", err.text);
	else if (v->place == VIEW_CODE)
		view_code_search(v);
	else
		view_choose(v);
}

/* Appends a character as UTF-8. */
static void type(struct view_state *v, int c)
{
	size_t len = strlen(v->typed);
	char utf8[5] = {0};

	if (c < 0x80)
		utf8[0] = (char)c;
	else if (c < 0x800)
		snprintf(utf8, sizeof(utf8), "%c%c", 0xc0 | c >> 6, 0x80 | (c & 63));
	else if (c < 0x10000)
		snprintf(utf8, sizeof(utf8), "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 63),
			 0x80 | (c & 63));
	else
		return;
	if (len + strlen(utf8) < sizeof(v->typed))
		memcpy(v->typed + len, utf8, strlen(utf8) + 1);
}

static void typing_key(struct view_state *v, int key)
{
	size_t len = strlen(v->typed);

	switch (key) {
	case VIEW_KEY_ESCAPE:
		v->typing = false;
		search(v, v->before);
		if (v->place == VIEW_CODE)
			v->code_at = v->code_find_from;
		return;
	case VIEW_KEY_ENTER:
		v->typing = false;
		v->message[0] = '\0';
		if (v->place == VIEW_CODE && match_is_set(&v->code_match))
			view_code_search(v);
		if (v->place == VIEW_FLAME && match_is_set(&v->match))
			flame_find(&v->flame, &v->match, false);
		return;
	case VIEW_KEY_BACKSPACE:
		while (len && (v->typed[--len] & 0xc0) == 0x80)
			;
		v->typed[len] = '\0';
		break;
	case 'U' - '@': v->typed[0] = '\0'; break;
	default:
		if (key < ' ' || key >= VIEW_KEY_UP)
			return;
		type(v, key);
	}
	search(v, v->typed);
}

static void go_back(struct view_state *v)
{
	if (match_is_set(&v->match)) {
		match_set(&v->match, "", NULL);
		view_choose(v);
		return;
	}
	switch (selection_pop(&v->selection)) {
	case SELECTION_TIME: view_count(v); break;
	case SELECTION_KEY: view_choose(v); break;
	case SELECTION_NONE: view_say(v, false, "nothing to undo: q ends"); break;
	}
}

static void next_event(struct view_state *v, size_t step)
{
	size_t nr = v->table->report->tables.nr, e = v->event;

	do
		e = (e + step) % nr;
	while (e != v->event && !v->table->report->tables.hists[e].samples);
	if (e == v->event)
		view_say(v, false, "no other event has samples");
	else if (show_event(v, e))
		view_say(v, true, "out of memory");
	v->place = VIEW_TABLE;
}

static void turn_chains(struct view_state *v)
{
	if (v->graph == REPORT_GRAPH_NONE) {
		view_say(v, false, "the samples have no call chains");
		return;
	}
	v->graph = v->graph == REPORT_GRAPH_CALLER ? REPORT_GRAPH_CALLEE : REPORT_GRAPH_CALLER;
	view_count(v);
	view_say(v, false, "call chains begin at the %s",
		 v->graph == REPORT_GRAPH_CALLER ? "outermost caller" : "sampled function");
}

static void save(struct view_state *v)
{
	struct error err = ERROR_INIT;
	char text[400];

	if (v->opts->save(v->opts->arg, text, sizeof(text), &err))
		view_say(v, true, "%s", err.text);
	else
		view_say(v, false, "%s", text);
}

/* Actions that are the same everywhere. Returns whether it was one. */
static bool act_everywhere(struct view_state *v, enum view_action action)
{
	switch (action) {
	case ACTION_QUIT:
		if (v->place == VIEW_TABLE)
			v->done = true;
		else if (v->place == VIEW_FLAME)
			v->place = VIEW_TABLE;
		else {
			view_code_drop(v);
			v->place = v->code_from;
		}
		return true;
	case ACTION_HELP:
		v->popup = POPUP_HELP;
		v->popup_top = 0;
		return true;
	case ACTION_FIND: begin_typing(v); return true;
	case ACTION_PERCENT: v->relative = !v->relative; return true;
	case ACTION_ORDER: turn_chains(v); return true;
	case ACTION_SPAN_BEGIN: view_begin_span(v); return true;
	case ACTION_SPAN_END: view_say(v, false, "[ begins a span of time"); return true;
	case ACTION_EVENT: next_event(v, 1); return true;
	case ACTION_EVENT_BACK: next_event(v, v->table->report->tables.nr - 1); return true;
	case ACTION_FREEZE: v->frozen = !v->frozen; return true;
	case ACTION_LONGER:
	case ACTION_SHORTER:
		v->opts->window(v->opts->arg, action == ACTION_LONGER ? 1 : -1);
		return true;
	case ACTION_SAVE: save(v); return true;
	default: return false;
	}
}

static void act(struct view_state *v, enum view_action action)
{
	if (act_everywhere(v, action))
		return;
	if (v->place == VIEW_FLAME)
		view_flame_act(v, action);
	else if (v->place == VIEW_CODE)
		view_code_act(v, action);
	else if (action == ACTION_BACK)
		go_back(v);
	else
		view_table_act(v, action);
}

static void take_key(struct view_state *v, int key)
{
	unsigned int places = v->place;
	int first = v->first_key;

	if (v->opts->refresh_ms && v->place != VIEW_CODE)
		places |= VIEW_LIVE;
	v->first_key = 0;
	v->message[0] = '\0';
	if (key == VIEW_KEY_RESIZE)
		return;
	if (!v->table)
		v->done = key == 'q' || key == VIEW_KEY_ESCAPE;
	else if (v->typing)
		typing_key(v, key);
	else if (v->marking)
		view_span_key(v, key);
	else if (v->popup)
		act(v, popup_key(v, key));
	else if (key == 'g' && first != 'g')
		v->first_key = key;
	else if (v->opts->refresh_ms && v->place != VIEW_CODE && key_action(key, VIEW_LIVE) &&
		 (key == ' ' || key == '+' || key == '-' || key == 's'))
		act(v, key_action(key, VIEW_LIVE));
	else
		act(v, key_action(key, places & ~(unsigned int)VIEW_LIVE));
}

/* --- the loop ------------------------------------------------------------------------------------
 */

static void take_signal(struct view_state *v, int number)
{
	switch (number) {
	case SIGWINCH: break; /* the size is looked at before each drawing */
	case SIGCONT: screen_return(&v->screen); break;
	case SIGTSTP:
		screen_leave(&v->screen);
		v->opts->suspend(v->opts->arg);
		screen_return(&v->screen);
		break;
	case SIGINT: v->done = true; break;
	default: v->signal = number; v->done = true;
	}
}

/* Returns how long nothing is to be done, ms; -1: until a key comes. */
static int idle_ms(const struct view_state *v)
{
	uint64_t now = now_ms();

	if (v->scanning)
		return 0;
	if (v->job.running)
		return PROGRESS_MS;
	if (!is_live_now(v))
		return -1;
	return now < v->due_ms ? (int)(v->due_ms - now) : 0;
}

static bool is_due(const struct view_state *v)
{
	return is_live_now(v) && now_ms() >= v->due_ms;
}

/* Takes up what is not waiting for the user. Returns 0 or a negative errno that ends the view. */
static int go_on(struct view_state *v, struct error *err)
{
	int rc = 0;

	if (v->job.running && job_take(&v->job, 0))
		rc = take_result(v, err);
	if (!rc && !v->job.running && (v->again || is_due(v)) && start_count(v))
		rc = error_set(err, -EAGAIN, "cannot start a thread");
	if (!rc && !v->job.running && v->strip_due && view_start_strip(v))
		rc = error_set(err, -EAGAIN, "cannot start a thread");
	if (!rc && v->scanning) {
		rc = rows_step(&v->rows, VIEW_STEP);
		v->scanning = !rc;
		rc = rc < 0 ? error_set(err, rc, "out of memory") : 0;
	}
	return rc;
}

static int loop(struct view_state *v, struct error *err)
{
	int rc = 0;

	while (!rc && !v->done) {
		struct screen_wait w = {.fd = v->job.ended};
		int key;

		rc = go_on(v, err);
		if (rc)
			break;
		screen_resize(&v->screen);
		draw(v);
		w.timeout_ms = idle_ms(v);
		key = screen_wait(&v->screen, &w);
		if (w.signal)
			take_signal(v, w.signal);
		/* Keys that wait are taken before anything is drawn. */
		for (; key && !v->done; key = screen_key(&v->screen))
			take_key(v, key);
	}
	return rc;
}

static void release(struct view_state *v)
{
	const struct view_opts *opts = v->opts;

	/* A trace that a job loaded, and nobody took, is not ours to keep either. */
	if (opts->drop && v->job.trace && v->job.trace != v->trace)
		opts->drop(opts->arg, v->job.trace);
	job_release(&v->job);
	drop_table(v);
	if (opts->drop && v->trace)
		opts->drop(opts->arg, v->trace);
	selection_release(&v->selection);
	match_release(&v->match);
	match_release(&v->code_match);
	buf_release(&v->text);
	view_release_strip(v);
	free(v);
}

/* The state is on the heap: the thread of an abandoned job still uses it. */
int view_run(const struct view_opts *opts, int *ret_signal, struct error *err)
{
	struct view_state *v = malloc(sizeof(*v));
	int rc;

	if (!v)
		return error_set(err, -ENOMEM, "out of memory");
	*v = (struct view_state){
		.opts = opts,
		.place = VIEW_TABLE,
		.graph = opts->report->graph,
		.relative = opts->relative,
		.again = true,
	};
	rc = job_init(&v->job);
	if (rc) {
		free(v);
		return error_sys(err, rc, "cannot make an event descriptor");
	}
	rc = screen_open(&v->screen, opts->signals, opts->color, err);
	if (!rc)
		rc = loop(v, err);
	screen_close(&v->screen);
	*ret_signal = v->signal;
	job_stop(&v->job);
	if (!job_take(&v->job, LEAVE_MS))
		return VIEW_ABANDONED;
	release(v);
	return rc;
}
