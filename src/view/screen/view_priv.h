/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner state of a view, which view.c (loop and jobs), view_table.c, view_flame.c, view_code.c
 * (what is drawn, and the actions there) and popup.c share.
 */
#ifndef RINGTAIL_VIEW_SCREEN_VIEW_PRIV_H
#define RINGTAIL_VIEW_SCREEN_VIEW_PRIV_H

#include "view/model/flame.h"
#include "view/model/keys.h"
#include "view/model/selection.h"
#include "view/screen/screen.h"
#include "view/screen/view.h"

#define VIEW_STEP 20000 /* rows that are looked at between two looks at the keys */

#define VIEW_TRAIL 32 /* places in code that a user can go back to */

/* A place in code that the user left by a jump or a call. */
struct view_step {
	struct view_code *code; /* owned, unless the next step or the view has the same */
	size_t at, top;
};

enum view_popup { POPUP_NONE, POPUP_HELP, POPUP_MENU };

struct view_state {
	const struct view_opts *opts;
	struct screen screen;
	struct view_job job;
	struct job_table *table; /* NULL: none yet */
	struct trace *trace;	 /* of @table */
	struct job_table *strip; /* samples by time of the zoomed rows; NULL: those of @table */
	struct buf strip_zooms;	 /* text of the zooms that it is of, or will be */
	struct filter_range strip_tid;	  /* of its filter */
	char *strip_text[ROWS_ZOOMS_MAX]; /* likewise */
	bool strip_due, counts_strip;	  /* it is to be counted; the job does so */
	struct rows rows;
	bool scanning; /* rows_step() has more to do */
	size_t event;
	enum report_graph graph;
	struct selection selection;
	struct view_match match;
	bool again; /* make the table anew when the job has ended */
	bool relative;

	enum view_place place;
	uint64_t at, top; /* lines of the table: the user's, and the first one on the screen */
	unsigned int width[COLUMNS_MAX]; /* of the table's columns, as wide as their texts */
	struct flame flame;
	unsigned int flame_top; /* depth at the first line */
	struct view_code *code;
	enum view_place code_from; /* where it was asked for */
	size_t code_at, code_top;
	size_t code_find_from; /* where the user began to type an expression */
	struct view_match code_match;
	struct view_step trail[VIEW_TRAIL]; /* the oldest first */
	size_t nr_trail;

	bool marking;			 /* a span of time */
	unsigned int mark_from, mark_to; /* cells of the strip */
	bool typing;			 /* an expression */
	char typed[MATCH_MAX], before[MATCH_MAX];
	enum view_popup popup;
	size_t popup_at, popup_top;
	int first_key; /* of two: 'g' */
	bool frozen;
	uint64_t due_ms; /* live: time of the next table */
	char message[512];
	bool message_is_error;
	bool done;
	int signal;
	struct buf text;
};

/* Returns the call trees of the rows. */
static inline const struct callgraph *view_graph(const struct view_state *v)
{
	return rows_graph(&v->rows);
}

/* Shows a sentence until the next key. */
void view_say(struct view_state *v, bool error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Chooses the rows anew, by selection and expression. */
void view_choose(struct view_state *v);
/* Counts the samples anew: after the span, the order of chains or the recording changed. */
void view_count(struct view_state *v);
/* Starts to load the code of a function. */
void view_load_code(struct view_state *v, const struct code_wanted *w);
/* Shows the flame graph of the shown rows. */
void view_open_flame(struct view_state *v);

/* Lines of the screen for the contents, and the first of them. */
int view_body(const struct view_state *v, int *ret_first);
/* Draws the line of the title, and the strip if there is room. */
void view_draw_head(struct view_state *v);
/* Draws the last line. */
void view_draw_status(struct view_state *v, const char *left, const char *right);

/* Returns whether the strip is on the screen. */
bool view_has_strip(const struct view_state *v);
/* The strip shows the zoomed rows: their samples are to be counted, if the zooms have changed. */
void view_want_strip(struct view_state *v);
/* Starts to count them. Returns as job_start(). */
int view_start_strip(struct view_state *v);
/* Takes over what was counted. */
void view_take_strip(struct view_state *v);
/* Shows the samples of the table again; and frees all, too, when no job runs. */
void view_drop_strip(struct view_state *v);
void view_release_strip(struct view_state *v);
void view_draw_strip(struct view_state *v);
/* Begins to mark a span of time, and takes a key meanwhile. */
void view_begin_span(struct view_state *v);
void view_span_key(struct view_state *v, int key);

void view_table_draw(struct view_state *v);
void view_table_act(struct view_state *v, enum view_action action);
/* Measures the columns of a new table. */
void view_table_measure(struct view_state *v);
/* Finds the next line that the expression finds. */
void view_table_find(struct view_state *v, bool back);

void view_flame_draw(struct view_state *v);
void view_flame_act(struct view_state *v, enum view_action action);

void view_code_draw(struct view_state *v);
/* Shows code that was loaded, in front of that which is shown. */
void view_code_take(struct view_state *v, struct view_code *c);
/* Frees the code and the trail. */
void view_code_drop(struct view_state *v);
/* Goes to the first line that the expression finds from where the user began to type it. */
void view_code_search(struct view_state *v);
void view_code_act(struct view_state *v, enum view_action action);

/* Draws the help or the menu over the rest. */
void popup_draw(struct view_state *v);
/* Takes a key while one is shown. Returns the action that was chosen. */
enum view_action popup_key(struct view_state *v, int key);
/* Draws a bar of the job's progress in the middle. */
void popup_progress(struct view_state *v);

/* Copies @v->text by the terminal. */
void copy_to_terminal(struct view_state *v);
/* Appends @v->text to a file. */
void copy_to_file(struct view_state *v);

/* Moves *@at among @nr lines as @action says, and *@top so that it is among @height lines. */
bool view_move(enum view_action action, uint64_t nr, unsigned int height, uint64_t *at,
	       uint64_t *top);

#endif
