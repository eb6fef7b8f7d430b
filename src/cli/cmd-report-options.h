/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `ringtail report`: their parser, and what they exclude. Main thread. */
#ifndef RINGTAIL_CLI_CMD_REPORT_OPTIONS_H
#define RINGTAIL_CLI_CMD_REPORT_OPTIONS_H

#include <argp.h>

#include "cli/cmd-report-graph.h"
#include "cli/cmd-report-values.h"
#include "cli/cmd-report-waits.h"
#include "cli/input/input.h"
#include "render/table.h"
#include "report/latency/latency.h"
#include "report/table/report.h"

#define REPORT_MEM_KEYS "mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked"

struct report_args {
	struct input input;
	struct report_opts report;
	struct table_opts table;
	const char *html; /* path of the page; NULL: none */
	bool header, header_only, full_header, stats, aux, json, dump;
	bool view;	  /* on the terminal, not as text */
	bool tasks, maps; /* @maps: of the tasks */
	bool threads;	  /* the counts of threads, below the tables */
	bool raw_counts;  /* each on a line */
	struct name_regex parent, ignore_callees;
	bool history;		       /* --branch-history */
	bool by_parent;		       /* --parent is given */
	bool mem_keys;		       /* those of --mem-mode */
	struct columns serial_columns; /* without the latencies that nobody asked for */
	struct graph_spec graph;
	struct columns_spec columns; /* --sort, --fields */
	size_t group_sort;	     /* the event by which rows of a group are ordered */
	struct latency_opts latency; /* with a function: show how long it took */
	struct waits_args waits;
};

/* Parses the options into its input, a struct report_args of report_args_init(). */
extern const struct argp report_argp;

/* Sets the defaults. */
void report_args_init(struct report_args *a);
/* Frees what the parser has allocated. */
void report_args_release(struct report_args *a);

#endif
