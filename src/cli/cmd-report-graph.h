/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the argument of report -g, in perf's syntax:
 * [TYPE,][PERCENT[,LIMIT]][,ORDER][,KEY][,VALUE], in any order, but LIMIT after PERCENT.
 * Source: perf-report(1).
 */
#ifndef RINGTAIL_CLI_CMD_REPORT_GRAPH_H
#define RINGTAIL_CLI_CMD_REPORT_GRAPH_H

#include "base/error.h"
#include "render/table.h"

struct graph_spec {
	bool given;
	bool ordered, keyed;	 /* @order and @key are given */
	bool branches;		 /* the branches of branch stacks are frames, too */
	enum report_graph order; /* REPORT_GRAPH_NONE for the type "none" */
	enum graph_style style;
	enum callgraph_key key;
	enum graph_value value;
	double percent;
	unsigned int limit; /* 0: none */
};

#define GRAPH_SPEC_INIT                                      \
	{                                                    \
		.order = REPORT_GRAPH_CALLER, .percent = 0.5 \
	}

/*
 * Adds @arg (NULL: -g without argument) to @ret. Returns 0, or -EINVAL; @err then has the wrong
 * word and the possible ones, or the reason.
 */
int graph_spec_parse(const char *arg, struct graph_spec *ret, struct error *err);

/*
 * Joins "-g SPEC" to one word where SPEC can only belong to -g. perf accepts two words, but getopt
 * allows that for no optional argument. Returns a new vector of *@argc words, ended by NULL, for
 * graph_spec_join_free(); NULL if memory runs out.
 */
char **graph_spec_join(int *argc, char **argv);
/* Frees the vector and the joined words. @argv is the original vector. */
void graph_spec_join_free(char **joined, char **argv);

#endif
