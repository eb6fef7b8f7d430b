// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_ipc.h"
#include "report/table/report_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Runs the workers, the first in this thread. If a thread cannot be made, fewer do the work. */
static int workers_run(struct report *r, struct report_worker *w, size_t nr, struct error *err)
{
	pthread_t threads[SWEEP_WORKERS_MAX];
	size_t started = 1;

	if (r->opts->waits)
		return waits_walk(r->trace, r->opts->waits, report_take_sample, &w[0], &r->waits,
				  err);
	if (report_needs_order(w[0].trace))
		return walk_ordered(
			w[0].trace,
			&(struct walk_takers){.sample = report_take_sample, .arg = &w[0]}, err);
	while (started < nr &&
	       !pthread_create(&threads[started], NULL, report_worker_run, &w[started]))
		started++;
	report_worker_run(&w[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	walk_hand_in_findings(w[0].trace);
	for (size_t i = 0; i < started; i++)
		if (w[i].rc < 0) {
			if (err)
				*err = w[i].err;
			return w[i].rc;
		}
	return 0;
}

/* Adds a worker's tables to the report; the first one's become the report's own. */
static int collect(struct report *r, struct report_worker *w)
{
	struct report_tables *to = &r->tables, *from = &w->tables;
	int rc = 0;

	if (!to->hists) {
		*to = *from;
		*from = (struct report_tables){0};
		return 0;
	}
	for (size_t i = 0; !rc && i < to->nr; i++) {
		rc = hist_merge(&to->hists[i], &from->hists[i]);
		if (!rc && to->callers[i])
			rc = callers_merge(to->callers[i], from->callers[i]);
		if (!rc)
			rc = quality_merge(&to->quality[i], &from->quality[i]);
		if (!rc && to->blocks)
			rc = blocks_merge(&to->blocks[i], &from->blocks[i]);
	}
	for (size_t i = 0; i < to->nr * r->opts->slices.nr; i++)
		to->slices[i] += from->slices[i];
	report_tables_release(from);
	return rc;
}

/* Makes the whole the sum of the rows, without those that filter_row() refused. */
static void make_relative(struct hist *h)
{
	h->samples = h->period = h->latency = 0;
	for (size_t i = 0; i < h->nr; i++) {
		h->latency += hist_more(h, &h->entry[i], HIST_LATENCY);
		h->samples += h->entry[i].samples;
		h->period += h->entry[i].self;
	}
}

static bool is_dummy(const struct pd_evsel *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == PERF_COUNT_SW_DUMMY;
}

static bool has_groups(const struct pd_evlist *list)
{
	for (size_t i = 0; i < pd_evlist_count(list); i++)
		if (pd_evlist_at(list, i)->nr_members > 1)
			return true;
	return false;
}

/* Puts events of a group side by side, or all events, as perf does where there is no group. */
static int link_groups(struct report *r)
{
	const struct pd_evlist *list = r->trace->evlist;
	size_t nr = r->tables.nr;
	struct hist **member = calloc(nr + 1, sizeof(*member));
	bool real = has_groups(list);
	int rc = member ? 0 : -ENOMEM;

	for (size_t first = 0; !rc && first < nr; first++) {
		size_t n = 0;

		for (size_t i = first; i < nr; i++) {
			const struct pd_evsel *e = pd_evlist_at(list, i);

			if (real ? e->leader == first : !is_dummy(e))
				member[n++] = &r->tables.hists[i];
		}
		if (n > 1 && member[0] == &r->tables.hists[first])
			rc = hist_link(member[0], member, n);
		if (!real)
			break;
	}
	free(member);
	return rc;
}

/* Orders the basic blocks, and puts what follows from them into the rows. */
static int finish_blocks(struct report *r)
{
	const struct map *image = state_image(r->trace->state);
	const struct code_source source = {r->trace->resolver, image ? image->dso : NULL};
	const bool ipc = report_shows_ipc(r->opts);
	int rc = 0;

	if (!r->tables.blocks)
		return 0;
	r->ipc = calloc(r->tables.nr + 1, sizeof(*r->ipc));
	rc = r->ipc ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i < r->tables.nr; i++) {
		blocks_sort(&r->tables.blocks[i]);
		if (r->opts->relative)
			blocks_make_relative(&r->tables.blocks[i]);
		if (!ipc)
			continue;
		rc = ipc_list_make(&r->tables.blocks[i], &source, &r->ipc[i]);
		if (!rc)
			keys_ipc_fill(&r->tables.hists[i], &r->ipc[i]);
	}
	return rc;
}

static int sort_rows(struct report *r, size_t event)
{
	const struct report_opts *opts = r->opts;
	struct hist *h = &r->tables.hists[event];

	if (opts->nested)
		return hierarchy_init(&r->tables.nests[event], h, r->columns, r->trace);
	if (r->columns->nr_order)
		return columns_sort(r->columns, h, r->trace, opts->children,
				    opts->graph != REPORT_GRAPH_NONE);
	return hist_sort(h, r->trace, opts->children);
}

/* As perf, leaves out latencies that nobody asked for from 99 % of samples without company on. */
static void choose_columns(struct report *r)
{
	uint64_t samples = 0, alone = 0;

	for (size_t i = 0; i < r->tables.nr; i++) {
		samples += r->tables.hists[i].samples;
		alone += r->tables.hists[i].alone;
	}
	r->columns = &r->opts->columns;
	if (r->opts->serial_columns && alone * 100.0 >= samples * 99.0)
		r->columns = r->opts->serial_columns;
}

/* After the last sample: makes the rows of --children, and sorts. */
static int finish(struct report *r)
{
	int rc = 0;

	r->tree.by = r->opts->graph_key;
	choose_columns(r);
	for (size_t i = 0; !rc && i < r->tables.nr; i++) {
		struct hist *h = &r->tables.hists[i];

		if (r->opts->children)
			rc = callers_rows(r->tables.callers[i], r->trace, &r->opts->filter, h);
		if (!rc && r->opts->relative)
			make_relative(h);
	}
	if (!rc && r->opts->grouped)
		rc = link_groups(r);
	if (!rc)
		rc = finish_blocks(r);
	for (size_t i = 0; !rc && i < r->tables.nr; i++)
		if (!r->tables.hists[i].is_member)
			rc = sort_rows(r, i);
	return rc;
}

int report_run(struct trace *t, const struct report_opts *opts, struct report **ret,
	       struct error *err)
{
	struct report *r = calloc(1, sizeof(*r));
	size_t nr = report_workers(t, opts);
	struct report_worker *w = calloc(nr, sizeof(*w));
	struct report_pool pool = {0};
	int rc = r && w ? 0 : -ENOMEM;

	if (!rc && (opts->total_cycles || report_inlines(opts) != FRAMES_PLAIN))
		rc = trace_want_lines(t);
	if (!rc && report_shows_types(opts))
		rc = trace_want_types(t);
	if (r)
		*r = (struct report){.trace = t, .opts = opts};
	for (size_t i = 0; !rc && i < nr; i++) {
		rc = report_worker_init(&w[i], t, opts);
		w[i].pool = &pool;
	}
	if (rc < 0) {
		error_sys(err, rc, "%s", t->opts.path);
		goto out;
	}
	rc = workers_run(r, w, nr, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; !rc && i < nr; i++)
		rc = collect(r, &w[i]);
	if (!rc)
		rc = finish(r);
	if (rc < 0)
		error_sys(err, rc, "%s", t->opts.path);
out:
	for (size_t i = 0; w && i < nr; i++)
		report_worker_release(&w[i]);
	free(w);
	if (rc < 0)
		report_free(r);
	else
		*ret = r;
	return rc;
}

static bool shows_functions(const struct report_opts *opts)
{
	for (size_t i = 0; i < opts->nr_keys; i++)
		if (!strcmp(opts->keys[i]->name, "sym"))
			return true;
	return opts->graph != REPORT_GRAPH_NONE;
}

void report_judge(const struct report *r, size_t event, struct verdict_list *ret)
{
	const struct verdict_scope scope = {
		.functions = shows_functions(r->opts),
		.graph = report_shows_chains(r->opts),
		.lists = r->opts->verbose,
		.max_stack = r->opts->max_stack,
	};

	verdict_judge(r->trace, event, &r->tables.quality[event], &scope, ret);
}

bool report_is_empty(const struct report *r)
{
	for (size_t i = 0; i < r->tables.nr; i++)
		if (r->tables.hists[i].nr)
			return false;
	return true;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->ipc && i < r->tables.nr; i++)
		ipc_list_release(&r->ipc[i]);
	free(r->ipc);
	report_tables_release(&r->tables);
	callgraph_release(&r->tree);
	free(r);
}

int report_tree(struct report *r, size_t event, const struct hist_entry *e,
		const struct callers_bounds *bounds, const struct callgraph **ret,
		uint32_t *ret_root)
{
	*ret = &r->tables.hists[event].graph;
	*ret_root = e->root;
	if (!r->opts->children)
		return 0;
	*ret = &r->tree;
	*ret_root = CALLGRAPH_NONE;
	if (r->opts->graph == REPORT_GRAPH_NONE)
		return 0;
	return callers_tree(r->tables.callers[event], e, bounds, &r->tree, ret_root);
}
