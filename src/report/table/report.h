/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report: pass 2 over a prepared trace, which fills one histogram for each event.
 *
 * Workers take chunks of the recording in any order. Each has its own frame cache and histograms;
 * report_run() adds them up at the end. One thread uses a report.
 */
#ifndef RINGTAIL_REPORT_TABLE_REPORT_H
#define RINGTAIL_REPORT_TABLE_REPORT_H

#include <stdatomic.h>

#include "report/blocks/ipc.h"
#include "report/table/callers.h"
#include "report/table/columns.h"
#include "report/table/hierarchy.h"
#include "report/table/parent.h"
#include "report/trace/filter.h"
#include "report/table/hist.h"
#include "report/verdict/verdict.h"
#include "report/waits/waits.h"

enum report_graph {
	REPORT_GRAPH_NONE,
	REPORT_GRAPH_CALLER, /* trees begin at the outermost caller */
	REPORT_GRAPH_CALLEE, /* trees begin at the sampled function */
};

struct report_opts {
	const struct sort_key *keys[SORT_KEYS_MAX];
	size_t nr_keys;
	struct columns columns; /* with these keys; without any, rows are ordered by their share */
	/* Instead of @columns, where hardly any sample ran beside another; borrowed, NULL: none */
	const struct columns *serial_columns;
	bool grouped;  /* events of a group side by side; all, if there is no group */
	bool nested;   /* a level of rows for each key; without children */
	bool children; /* count for each function also the samples of its callees */
	enum report_graph graph;
	enum callgraph_key graph_key;
	bool inlined;	  /* call chains have inlined functions, too */
	bool verbose;	  /* the files without symbols are listed */
	size_t max_stack; /* most frames of a chain that count */
	bool relative;	  /* percentages are of what is shown, not of all samples */
	/* Count the branches of branch stacks, each once, instead of samples; so does a key that is
	 * of_branch. Call chains do not count then. */
	bool branches;
	bool total_cycles; /* with @branches: the tables are of basic blocks */
	bool history;	   /* call chains begin with the branches of branch stacks */
	bool by_weight;	   /* a sample counts as much as its weight, as with perf's --mem-mode */
	/* Of the key parent, and of functions whose callees do not count; borrowed, NULL: none */
	const regex_t *parent, *ignore_callees;
	/* Count waits instead of samples, or beside them; borrowed, NULL: samples alone */
	const struct waits_opts *waits;
	bool exclude_other; /* only samples below a function that @parent matches */
	struct filter filter;
	/* Count samples by time, too: from @first to @last (ns, inclusive), in @nr equal slices. */
	struct report_slices {
		uint64_t first, last;
		size_t nr; /* 0: none */
	} slices;
	const atomic_bool *stop; /* set by another thread: ends it with -ECANCELED; NULL: none */
};

/* By evsel index. */
struct report_tables {
	struct hierarchy *nests;      /* of nested rows; else zeroes */
	const struct sort_key **keys; /* of @hists: those that each event has */
	struct hist *hists;	      /* with --children, their rows are made at the end */
	struct callers **callers;     /* with --children; NULLs without */
	struct quality *quality;
	struct blocks *blocks; /* with total_cycles, or a key of_blocks; else NULL */
	uint64_t *slices; /* opts->slices.nr for each event: samples of the rows that are shown */
	size_t nr;
};

struct report {
	struct trace *trace;
	const struct report_opts *opts;
	const struct columns *columns; /* that the tables show: some of @opts */
	struct report_tables tables;
	struct waits_counts waits; /* with opts->waits */
	struct callgraph tree;	   /* of the last row that report_tree() drew */
	struct ipc_list *ipc;	   /* with a key of_blocks, by evsel index: the cells point there */
};

/*
 * Runs pass 2. @t and @opts must outlive the report. Returns 0 with *@ret, sorted, for
 * report_free(); or a negative errno with @err filled.
 */
int report_run(struct trace *t, const struct report_opts *opts, struct report **ret,
	       struct error *err);

/* Frees @r; accepts NULL. The trace stays. */
void report_free(struct report *r);

/*
 * Makes the call tree of row @e of @event, branches by falling weight. *@ret is valid until the
 * next call, *@ret_root is CALLGRAPH_NONE if the row has no tree. Returns 0, -ENOMEM or -E2BIG.
 */
int report_tree(struct report *r, size_t event, const struct hist_entry *e,
		const struct callers_bounds *bounds, const struct callgraph **ret,
		uint32_t *ret_root);

/*
 * Returns which digests (report/trace/digest.h) are enough. None are if an option selects samples
 * by time, or some event needs its samples in order. Ask before trace_prepare(), to set
 * trace.digest.
 */
enum digest_kind report_takes_digests(const struct trace *t, const struct report_opts *opts);

/* Returns whether the report needs trace.parallelism; set that before trace_prepare(). */
bool report_needs_parallelism(const struct report_opts *opts);

/*
 * Checks that the samples have the branch stacks that branch histories need. Returns 0, or -EINVAL
 * with @err filled.
 */
int report_check_history(const struct report_opts *opts, const struct trace *t, struct error *err);

/* Returns whether the report needs trace.namespaces; set that before trace_prepare(). */
bool report_needs_namespaces(const struct report_opts *opts);

/* Judges the samples of @event, if it has any. */
void report_judge(const struct report *r, size_t event, struct verdict_list *ret);

/* Returns whether no table has a row. */
bool report_is_empty(const struct report *r);

/* Returns whether any event of the trace has call chains. */
bool report_has_callchains(const struct trace *t);

#endif
