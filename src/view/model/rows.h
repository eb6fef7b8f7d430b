/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: the lines of a table that a user walks through.
 *
 * A line is a row of a report, or a node of its call tree below it. Zooms and an expression choose
 * rows; trees open and close. Nothing here takes time for each row but rows_step(), which the owner
 * calls with as many rows as it has time for, and rows_open_all(). So a table of a million rows
 * answers at once.
 *
 * One thread uses it. It borrows the report.
 */
#ifndef RINGTAIL_VIEW_MODEL_ROWS_H
#define RINGTAIL_VIEW_MODEL_ROWS_H

#include "report/table/report.h"
#include "view/model/match.h"

/* A value of a key that all shown rows have. */
struct rows_zoom {
	const struct sort_key *key;
	char *text; /* as sort_key.text() has it; owned by whoever made the zoom */
};

#define ROWS_ZOOMS_MAX 8

struct rows_opened;

struct rows {
	struct report *report; /* borrowed, as the next one */
	const struct hist *hist;
	size_t event;
	struct columns columns; /* that the event has */
	double percent_limit;	/* rows below this share are left out */

	/* What chooses rows; borrowed. */
	const struct rows_zoom *zooms;
	size_t nr_zooms;
	const struct view_match *match;
	struct rows_memo *memo; /* of the zooms */

	uint32_t *shown; /* indices of entries, in the order of the report */
	size_t nr_shown, cap_shown;
	size_t scanned; /* rows that were looked at */
	uint64_t shown_self, shown_samples;

	struct rows_opened *opened; /* shown rows with an open tree, in order */
	size_t nr_opened, cap_opened;
	uint64_t tree_lines;		      /* of all of these */
	uint8_t *open;			      /* by node: its children are shown */
	uint32_t *below;		      /* by node, if open: lines below it */
	size_t cap_open, cap_below, nr_nodes; /* of both */

	/* With --children: the trees made so far. */
	struct callgraph own;
	uint32_t *own_root; /* by entry; CALLGRAPH_NONE: not made */
	struct buf text;
};

/* A line of the table. */
struct rows_line {
	const struct hist_entry *entry;
	size_t at;	    /* of the row, in rows.shown */
	uint32_t node;	    /* in rows_graph(); CALLGRAPH_NONE: the row itself */
	unsigned int depth; /* of the node, in steps of indentation */
	bool can_open, is_open;
};

/* Returns 0 or -ENOMEM. The caller calls rows_release() also after failure. No row is shown yet. */
int rows_init(struct rows *r, struct report *report, size_t event, double percent_limit);
void rows_release(struct rows *r); /* accepts zeroes */

/* Shows the rows with all @zooms whose function @match finds: from now on, rows_step() by step. */
void rows_choose(struct rows *r, const struct rows_zoom *zooms, size_t nr,
		 const struct view_match *match);
/* Looks at the next @n rows. Returns 1 when all were looked at, 0 before, or -ENOMEM. */
int rows_step(struct rows *r, size_t n);

/* Returns the number of lines. */
static inline uint64_t rows_count(const struct rows *r)
{
	return r->nr_shown + r->tree_lines;
}

/* Fills @ret with line @number. Returns false behind the last line. */
bool rows_at(struct rows *r, uint64_t number, struct rows_line *ret);
/* Returns the number of the line of the row at rows.shown[@at]. */
uint64_t rows_line_of(const struct rows *r, size_t at);
/* Returns the number of the line above @number that it hangs below; @number itself for a row. */
uint64_t rows_parent_of(struct rows *r, uint64_t number);

/*
 * Opens or closes what is below a line; an opened node that has one child opens that, too. With
 * @whole all below it. Returns 0, -ENOMEM or -E2BIG.
 */
int rows_open(struct rows *r, uint64_t number, bool open, bool whole);
/*
 * Appends the names of the rows with an open tree, each with a NUL, '+' before it if all of its
 * tree is open, else '-': for rows_open_names() of the same table at a later time. Returns 0 or
 * -ENOMEM.
 */
int rows_opened_names(struct rows *r, struct buf *out);
/* Opens the trees of shown rows that have these names. Returns as rows_open(). */
int rows_open_names(struct rows *r, const struct buf *names);
/* Opens or closes the trees of all rows. Returns as rows_open(). */
int rows_open_all(struct rows *r, bool open);

/* Returns the trees of the rows. */
const struct callgraph *rows_graph(const struct rows *r);

/*
 * Appends the escaped text of a column. Percentages are of the shown rows if @relative, else of all
 * samples. Returns 0 or -ENOMEM.
 */
int rows_cell(struct rows *r, const struct hist_entry *e, const struct column *c, bool relative,
	      struct buf *out);
/* Returns what 100 % is. */
uint64_t rows_whole(const struct rows *r, bool relative);

/* Returns the symbol of a line, NULL if none is known. */
const struct symbol *rows_symbol(const struct rows *r, const struct rows_line *line);
/* Returns whether @match finds the function of a line. */
bool rows_matches(struct rows *r, const struct rows_line *line, const struct view_match *match);

/* Returns the key that rows have of these names, the first of them; NULL if they have none. */
const struct sort_key *rows_key(const struct rows *r, const char *const *names, size_t nr);
/* Returns the unescaped text of a row's @key, for free(); NULL if memory runs out. */
char *rows_key_text(const struct rows *r, const struct hist_entry *e, const struct sort_key *key);

/* Appends the call stack of a line, a function a line: of a row, the row. Returns 0 or -ENOMEM. */
int rows_stack(struct rows *r, const struct rows_line *line, struct buf *out);

#endif
