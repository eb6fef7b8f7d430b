// SPDX-License-Identifier: Apache-2.0
/* What the options of a report need: of samples, of frames, and of the trace. */
#include "report/table/report_priv.h"

#include <errno.h>

bool report_has_callchains(const struct trace *t)
{
	return pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_CALLCHAIN;
}

/* Whether some key has the property, a field of struct field. */
#define SOME_KEY(opts, property)                             \
	({                                                   \
		bool some = false;                           \
                                                             \
		for (size_t i = 0; i < (opts)->nr_keys; i++) \
			some |= (opts)->keys[i]->property;   \
		some;                                        \
	})

bool report_needs_parallelism(const struct report_opts *opts)
{
	return SOME_KEY(opts, of_switches) || columns_need_latency(&opts->columns) ||
	       opts->filter.parallelism.nr;
}

int report_check_history(const struct report_opts *opts, const struct trace *t, struct error *err)
{
	const struct field *f = columns_need_history(&opts->columns);

	if (f && !opts->history)
		return error_set(err, -EINVAL,
				 "%s is of branches in call chains: give --branch-history",
				 f->name);
	if (!opts->history || pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_BRANCH_STACK)
		return 0;
	return error_set(err, -EINVAL,
			 "call chains cannot show branches: the samples of this recording have no "
			 "branch stacks; 'ringtail record -b' records them");
}

bool report_needs_namespaces(const struct report_opts *opts)
{
	return SOME_KEY(opts, of_namespace);
}

bool report_counts_branches(const struct report_opts *opts)
{
	return opts->branches || SOME_KEY(opts, of_branch);
}

enum callgraph_order report_order(const struct report_opts *opts)
{
	return opts->graph == REPORT_GRAPH_CALLEE ? CALLGRAPH_CALLEE : CALLGRAPH_CALLER;
}

bool report_shows_chains(const struct report_opts *opts)
{
	return opts->graph != REPORT_GRAPH_NONE || opts->children;
}

static bool shows_parents(const struct report_opts *opts)
{
	return SOME_KEY(opts, of_parent);
}

bool report_wants_chains(const struct report_opts *opts)
{
	return opts->history || report_shows_chains(opts) || opts->ignore_callees ||
	       opts->exclude_other || opts->waits || shows_parents(opts);
}

enum frames_inlines report_inlines(const struct report_opts *opts)
{
	if (opts->inlined && report_wants_chains(opts))
		return FRAMES_INLINED;
	if (SOME_KEY(opts, of_line))
		return FRAMES_LINES;
	return report_wants_chains(opts) && opts->graph_key == CALLGRAPH_BY_LINE ? FRAMES_LINES
										 : FRAMES_PLAIN;
}

bool report_shows_types(const struct report_opts *opts)
{
	return SOME_KEY(opts, of_data);
}

bool report_shows_ipc(const struct report_opts *opts)
{
	return SOME_KEY(opts, of_blocks);
}

bool report_counts_blocks(const struct report_opts *opts)
{
	return opts->total_cycles || report_shows_ipc(opts);
}

bool report_needs_order(const struct trace *t)
{
	return group_any_read(t->evlist) || t->untimed_samples || itrace_in_order(t->itrace);
}

enum digest_kind report_takes_digests(const struct trace *t, const struct report_opts *opts)
{
	if (filter_needs_time(&opts->filter) || report_needs_order(t) ||
	    report_counts_branches(opts) || SOME_KEY(opts, whole) ||
	    columns_need_whole(&opts->columns) || opts->by_weight || opts->filter.parallelism.nr ||
	    opts->slices.nr || opts->waits || opts->history)
		return DIGEST_NONE;
	if (!report_wants_chains(opts) || !report_has_callchains(t))
		return DIGEST_FLAT;
	return frames_digest(t);
}

size_t report_workers(const struct trace *t, const struct report_opts *opts)
{
	bool one = report_needs_order(t) || opts->waits || SOME_KEY(opts, alone);
	size_t n = one ? 1 : trace_workers(t);

	n = n > t->nr_chunks ? t->nr_chunks : n;
	return n ? n : 1;
}
