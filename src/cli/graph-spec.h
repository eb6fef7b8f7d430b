/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of report -g, in perf's syntax:
 * [TYPE,][PERCENT[,LIMIT]][,ORDER][,KEY][,VALUE], in any order but for LIMIT behind PERCENT.
 * Source: perf-report(1).
 */
#ifndef RINGTAIL_CLI_GRAPH_SPEC_H
#define RINGTAIL_CLI_GRAPH_SPEC_H

#include "base/error.h"
#include "render/table.h"

struct graph_spec {
	bool given;
	enum report_graph order; /* REPORT_GRAPH_NONE for the type none */
	enum graph_style style;
	enum graph_value value;
	double percent;
	unsigned int limit; /* 0: none */
};

#define GRAPH_SPEC_INIT                                      \
	{                                                    \
		.order = REPORT_GRAPH_CALLER, .percent = 0.5 \
	}

/*
 * Adds @arg (NULL: a bare -g) to @ret. Returns 0, or -EINVAL with @err naming the word and saying
 * what there is, or why not.
 */
int graph_spec_parse(const char *arg, struct graph_spec *ret, struct error *err);

/*
 * perf takes "-g SPEC" as two words, which an optional argument cannot be: joins them to one where
 * the second can only be meant for -g. Returns a new vector of *@argc words, ended by NULL, for
 * graph_spec_join_free(); NULL when out of memory.
 */
char **graph_spec_join(int *argc, char **argv);
void graph_spec_join_free(char **joined, char **argv);

#endif
