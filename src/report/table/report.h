/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report: pass 2 over a prepared trace into one histogram an event.
 *
 * Chunks of the recording go to workers in any order; each worker has its own frame cache and
 * histograms, and what they hold is added up at the end.
 */
#ifndef RINGTAIL_REPORT_TABLE_REPORT_H
#define RINGTAIL_REPORT_TABLE_REPORT_H

#include "report/table/callers.h"
#include "report/trace/filter.h"
#include "report/table/hist.h"
#include "report/table/unknown.h"

enum report_graph {
	REPORT_GRAPH_NONE,
	REPORT_GRAPH_CALLER, /* trees begin at the outermost caller */
	REPORT_GRAPH_CALLEE, /* trees begin at the sampled function */
};

struct report_opts {
	const struct sort_key *keys[SORT_KEYS_MAX];
	size_t nr_keys;
	bool children; /* also count for each function what its callees were sampled for */
	enum report_graph graph;
	size_t max_stack; /* frames of a chain that are looked at */
	bool relative;	  /* the whole is what is shown, not all samples */
	struct filter filter;
};

/* By evsel index. */
struct report_tables {
	struct hist *hists;	  /* with --children, rows come at the end */
	struct callers **callers; /* with --children; else NULLs */
	size_t nr;
};

struct report {
	struct trace *trace;
	const struct report_opts *opts;
	struct report_tables tables;
	struct unknown unknown;
	struct callgraph tree; /* of the row that report_tree() was called for last */
};

/*
 * Runs pass 2. @opts must outlive the report. Returns 0 with *@ret, sorted, to be given to
 * report_free(); or a negative errno.
 */
int report_run(struct trace *t, const struct report_opts *opts, struct report **ret,
	       struct error *err);

void report_free(struct report *r); /* accepts NULL; leaves the trace */

/*
 * The call tree of a row of @event, branches in the order of falling weight: *@ret_root of *@ret,
 * valid until the next call; CALLGRAPH_NONE without one. Returns 0, -ENOMEM or -E2BIG.
 */
int report_tree(struct report *r, size_t event, const struct hist_entry *e,
		const struct callers_bounds *bounds, const struct callgraph **ret,
		uint32_t *ret_root);

/*
 * Whether the report can be made from digests (report/digest.h): it is flat, and samples count
 * whenever they were taken. For trace.digest, before trace_prepare().
 */
bool report_takes_digests(const struct trace *t, const struct report_opts *opts);

/* Whether any event of the trace has call chains. */
bool report_has_callchains(const struct trace *t);

#endif
