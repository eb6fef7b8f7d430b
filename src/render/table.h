/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as text, in the manner of perf report --stdio. One thread writes a report.
 */
#ifndef RINGTAIL_RENDER_TABLE_H
#define RINGTAIL_RENDER_TABLE_H

#include <stdio.h>

#include "report/table/report.h"

enum graph_style {
	GRAPH_TREE,    /* percentages of the whole event */
	GRAPH_FRACTAL, /* percentages of the branch above */
	GRAPH_FOLDED,  /* one line for each chain: "COUNT a;b;c" */
	GRAPH_FLAT,    /* a line for the number of each chain, then one for each frame */
};

/* The number of a branch or of a folded chain. */
enum graph_value {
	GRAPH_PERCENT, /* default */
	GRAPH_PERIOD,
	GRAPH_SAMPLES,
};

struct table_opts {
	enum graph_style graph_style;
	enum graph_value graph_value;
	unsigned int graph_limit; /* most branches below a node, or chains of a row; 0: all */
	bool mark_guesses;	  /* mark frames found without call frame information */
	bool named_fields;	  /* the user chose the columns */
	unsigned int widths[COLUMNS_MAX]; /* of the first columns, as the user wants; 0: any */
	size_t nr_widths;
	double percent_limit; /* omit rows below this share */
	double graph_percent; /* omit branches of call trees below this share of all */
	unsigned int width;   /* of the terminal, columns; 0: lines of any length */
	bool colors;	      /* of percentages, by escape sequences */
	bool quiet;	      /* no comment lines */
	bool empty;	      /* also a table for an event without samples */
	char separator; /* between columns, which then are not aligned, and no trees; 0: none */
};

/* Writes the losses, then a table for each event that has samples. Returns 0 or -ENOMEM. */
int table_render(FILE *out, struct report *r, const struct table_opts *opts);

/* The call tree of a row, borrowed. */
struct graph_row {
	const struct callgraph *g;
	uint32_t root;	 /* CALLGRAPH_NONE: none */
	uint64_t weight; /* of the row */
	uint64_t total;	 /* of the event */
};

/* Returns the limits for the drawn branches of an event of weight @total. */
struct callers_bounds graph_bounds(uint64_t total, const struct table_opts *opts);

/* Appends the escaped name of a node of a tree whose frames differ @by. Returns 0 or -ENOMEM. */
int graph_name(struct buf *out, enum callgraph_key by, const struct callgraph_node *n);

/* Appends what is known of the branches of a node, as perf does; accepts NULL. Returns as above. */
int graph_branches(struct buf *out, const struct callgraph_branches *b);

/* Draws the call tree of a row; @skip_first leaves out its first node. Returns 0 or -ENOMEM. */
int graph_render(FILE *out, const struct graph_row *row, bool skip_first,
		 const struct table_opts *opts);

#endif
