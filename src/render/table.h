/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as text, in the manner of perf report --stdio.
 */
#ifndef RINGTAIL_RENDER_TABLE_H
#define RINGTAIL_RENDER_TABLE_H

#include <stdio.h>

#include "report/table/report.h"

enum graph_style {
	GRAPH_TREE,    /* percentages of the whole event */
	GRAPH_FRACTAL, /* of what is above a branch */
	GRAPH_FOLDED,  /* a line for each chain: "COUNT a;b;c" */
};

/* What the number of a branch or of a folded chain is. */
enum graph_value {
	GRAPH_PERCENT, /* default */
	GRAPH_PERIOD,
	GRAPH_SAMPLES,
};

struct table_opts {
	enum graph_style graph_style;
	enum graph_value graph_value;
	unsigned int graph_limit; /* branches below a node, or chains of a row; 0: all */
	bool mark_guesses;	  /* frames that no call frame information led to */
	bool show_samples;	  /* a column with their number */
	bool show_period;	  /* and one with the sum of their periods */
	double percent_limit;	  /* rows below this share are left out */
	double graph_percent;	  /* and branches of call trees below this share of all */
	unsigned int width;	  /* of the terminal; 0: lines of any length */
	bool quiet;		  /* no comment lines */
	char separator;		  /* between columns that are not aligned, without trees; 0: none */
};

/* What was lost, then a table for each event that has samples. Returns 0 or -ENOMEM. */
int table_render(FILE *out, struct report *r, const struct table_opts *opts);

/* The call tree of a row. */
struct graph_row {
	const struct callgraph *g;
	uint32_t root;	 /* CALLGRAPH_NONE: none */
	uint64_t weight; /* of the row */
	uint64_t total;	 /* of the event */
};

/* What is drawn of trees of an event of @total. */
struct callers_bounds graph_bounds(uint64_t total, const struct table_opts *opts);

/* Returns 0 or -ENOMEM. */
int graph_render(FILE *out, const struct graph_row *row, bool skip_first,
		 const struct table_opts *opts);

#endif
