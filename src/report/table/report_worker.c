// SPDX-License-Identifier: Apache-2.0
#include "report/table/report_priv.h"

#include <errno.h>
#include <stdlib.h>

void report_tables_release(struct report_tables *t)
{
	for (size_t i = 0; t->hists && i < t->nr; i++)
		hist_release(&t->hists[i]);
	for (size_t i = 0; t->callers && i < t->nr; i++)
		callers_free(t->callers[i]);
	for (size_t i = 0; t->quality && i < t->nr; i++)
		quality_release(&t->quality[i]);
	free(t->quality);
	for (size_t i = 0; t->nests && i < t->nr; i++)
		hierarchy_release(&t->nests[i]);
	free(t->nests);
	for (size_t i = 0; t->blocks && i < t->nr; i++)
		blocks_release(&t->blocks[i]);
	free(t->blocks);
	free(t->slices);
	free(t->hists);
	free(t->keys);
	free(t->callers);
	*t = (struct report_tables){0};
}

/* Puts the keys that @evsel has into @ret: in a group, all of them. Returns their number. */
static size_t keys_of_event(const struct report_opts *opts, const struct trace *trace,
			    const struct pd_evsel *evsel, const struct sort_key **ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < opts->nr_keys; i++) {
		const struct sort_key *key = opts->keys[i];

		if (!key->field || opts->grouped || trace_field_is_of(key->field, trace, evsel))
			ret[nr++] = key;
	}
	return nr;
}

static int tables_init(struct report_tables *t, const struct report_opts *opts,
		       const struct trace *trace)
{
	const size_t nr = pd_evlist_count(trace->evlist);

	*t = (struct report_tables){
		.keys = calloc(nr * opts->nr_keys + 1, sizeof(struct sort_key *)),
		.hists = calloc(nr + 1, sizeof(*t->hists)),
		.callers = calloc(nr + 1, sizeof(*t->callers)),
		.quality = calloc(nr + 1, sizeof(*t->quality)),
		.nests = calloc(nr + 1, sizeof(*t->nests)),
		.blocks = report_counts_blocks(opts) ? calloc(nr + 1, sizeof(*t->blocks)) : NULL,
		.slices = calloc(nr * opts->slices.nr + 1, sizeof(*t->slices)),
		.nr = nr,
	};
	if ((!t->blocks && report_counts_blocks(opts)) || !t->keys || !t->hists || !t->callers ||
	    !t->quality || !t->nests || !t->slices)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct sort_key **keys = &t->keys[i * opts->nr_keys];
		size_t nr_keys = keys_of_event(opts, trace, pd_evlist_at(trace->evlist, i), keys);

		if (hist_init(&t->hists[i], keys, nr_keys) < 0)
			return -ENOMEM;
		t->hists[i].has_more = columns_need_more(&opts->columns);
		t->hists[i].graph.by = opts->graph_key;
		if (opts->children && callers_new(keys, nr_keys, report_order(opts),
						  opts->graph_key, &t->callers[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

void report_worker_release(struct report_worker *w)
{
	walker_free(w->walker);
	digest_release(&w->digest);
	frames_release(&w->frames);
	group_counts_release(&w->groups);
	report_tables_release(&w->tables);
}

int report_worker_init(struct report_worker *w, struct trace *t, const struct report_opts *opts)
{
	*w = (struct report_worker){
		.trace = t, .opts = opts, .times = 1, .branches = report_counts_branches(opts)};
	w->parallel = report_needs_parallelism(opts);
	w->parent.regex = opts->parent;
	w->ignore_callees.regex = opts->ignore_callees;
	if (walker_new(t, &w->walker) < 0 || frames_init(&w->frames, t) < 0)
		return -ENOMEM;
	w->frames.inlines = report_inlines(opts);
	w->frames.outermost = report_order(opts) == CALLGRAPH_CALLER;
	w->frames.history = opts->history;
	return tables_init(&w->tables, opts, t);
}

/* Counts the branches of the sample, also those of loops that its chain leaves out. */
static void add_branches(uint64_t *more, const struct pd_sample *s)
{
	for (uint64_t i = 0; i < s->branch_nr; i++) {
		const struct pd_branch *b = &s->branches[i];

		more[HIST_BRANCHES]++;
		more[HIST_BRANCHES_KNOWN] +=
			(b->flags & (PD_BRANCH_PREDICTED | PD_BRANCH_MISPREDICTED)) != 0;
		more[HIST_BRANCHES_PREDICTED] += (b->flags & PD_BRANCH_PREDICTED) != 0;
		more[HIST_BRANCHES_ABORTED] += (b->flags & PD_BRANCH_ABORT) != 0;
		more[HIST_BRANCH_CYCLES] += pd_branch_cycles(b);
	}
}

/* Adds the sums that only some columns show. */
static void add_more(struct report_worker *w, struct hist *h, uint32_t row,
		     const struct key_source *src)
{
	const struct pd_sample *s = &src->ws->s;
	uint64_t *more = &h->more[(size_t)row * HIST_MORE_NR];

	hist_add_mode(h, row, src->frame->cpumode, s->period);
	more[HIST_LATENCY] += src->latency;
	more[HIST_WEIGHT1] += s->weight * w->times;
	more[HIST_WEIGHT2] += s->weight_var2 * w->times;
	more[HIST_WEIGHT3] += s->weight_var3 * w->times;
	if (w->frames.has_history)
		add_branches(more, s);
}

/* Counts the sample in its slice of time. */
static void count_slice(struct report_worker *w, const struct walk_sample *ws)
{
	const struct report_slices *by = &w->opts->slices;
	uint64_t time = ws->s.time, at;

	if (!by->nr || time < by->first || time > by->last)
		return;
	at = (uint64_t)((double)(time - by->first) / ((double)(by->last - by->first) + 1) *
			(double)by->nr);
	if (at < by->nr)
		w->tables.slices[ws->evsel->index * by->nr + at] += w->times;
}

/* Adds the sample and its chain to a row. */
static int add_row(struct report_worker *w, struct hist *h, struct key_source *src)
{
	enum callgraph_order order = report_order(w->opts);
	uint64_t period = src->ws->s.period;
	uint32_t row, root;
	int rc = hist_row_of(h, src, &row);

	if (rc < 0)
		return rc;
	h->entry[row].self += period;
	h->entry[row].children += period;
	h->entry[row].samples += w->times;
	if (h->has_more)
		add_more(w, h, row, src);
	count_slice(w, src->ws);
	if (w->opts->graph == REPORT_GRAPH_NONE || w->branches || !w->frames.is_chain)
		return 0;
	rc = hist_tree(h, row, &root);
	if (rc < 0)
		return rc;
	return callgraph_add(&h->graph, root, w->frames.frame, w->frames.nr, order, period,
			     w->times);
}

/* Adds a sample to the sums of the event. Returns whether its parallelism passes the filter. */
static bool count_all(struct report_worker *w, struct hist *h, struct key_source *src)
{
	uint32_t level;

	h->samples += w->times;
	h->period += src->ws->s.period;
	if (!w->parallel)
		return true;
	level = trace_parallelism(w->trace, &src->ws->s);
	src->latency = trace_latency(w->trace, &src->ws->s);
	h->latency += src->latency;
	h->alone += level <= 1 ? w->times : 0;
	return filter_parallelism(&w->opts->filter, level);
}

/* Counts a branch as a sample where it went to. As perf, gives it the period 1. */
static int count_branch(struct report_worker *w, const struct walk_sample *ws,
			const struct pd_branch *branch, const char *comm)
{
	struct hist *h = &w->tables.hists[ws->evsel->index];
	const struct filter *filter = &w->opts->filter;
	const struct pd_sample *s = &ws->s;
	struct frame from, to;
	bool shown;
	struct key_source src = {
		.trace = w->trace,
		.ws = ws,
		.frame = &to,
		.comm = comm,
		.frames = &w->frames,
		.branch = branch,
		.from = &from,
	};

	frames_resolve_data(&w->frames, s->pid, s->cpumode, branch->from, ws->rec->at, &from);
	frames_resolve_data(&w->frames, s->pid, s->cpumode, branch->to, ws->rec->at, &to);
	if (w->frames.inlines) {
		frames_find_line(&w->frames, &from);
		frames_find_line(&w->frames, &to);
	}
	if (!filter_place(filter, &from) || !filter_place(filter, &to))
		return 0;
	shown = count_all(w, h, &src);
	if (quality_add(&w->tables.quality[ws->evsel->index], w->trace->state, &to, s, 1) < 0)
		return -ENOMEM;
	return shown && filter_row(filter, comm, &to) ? add_row(w, h, &src) : 0;
}

/* Adds the sample's branch stack to the basic blocks, if they are wanted. */
static int count_blocks(struct report_worker *w, const struct walk_sample *ws, const char *comm)
{
	const struct filter *f = &w->opts->filter;

	if (!w->tables.blocks ||
	    (w->parallel && !filter_parallelism(f, trace_parallelism(w->trace, &ws->s))))
		return 0;
	return blocks_add(&w->tables.blocks[ws->evsel->index], &w->frames, ws, f, comm);
}

static int count_branches(struct report_worker *w, const struct walk_sample *ws)
{
	const struct pd_sample *s = &ws->s;
	const char *comm = state_comm(w->trace->state, s->pid, s->tid, ws->rec->at);
	struct walk_sample one = *ws;
	int rc = count_blocks(w, ws, comm);

	one.s.period = 1;
	for (uint64_t i = 0; !rc && i < s->branch_nr; i++)
		rc = count_branch(w, &one, &s->branches[i], comm);
	return rc;
}

/* Returns whether the sample has a row: with exclude_other it needs a parent. */
static bool find_parent(struct report_worker *w, struct key_source *src)
{
	size_t at = w->parent.regex ? parent_innermost(&w->parent, &w->frames) : SIZE_MAX;

	if (at != SIZE_MAX)
		src->parent = w->frames.frame[at].sym;
	return src->parent || !w->opts->exclude_other;
}

static int count_sample(const struct walk_sample *ws, void *arg)
{
	struct report_worker *w = arg;
	struct frame own = {.cpumode = ws->s.cpumode, .ip = ws->s.ip, .addr = ws->s.ip};
	struct key_source src = {.trace = w->trace, .ws = ws, .frame = &own, .frames = &w->frames};
	size_t event = ws->evsel->index;
	struct hist *h = &w->tables.hists[event];
	struct quality *q = &w->tables.quality[event];
	bool shown;

	if (frames_of_sample(&w->frames, ws,
			     report_wants_chains(w->opts) ? w->opts->max_stack : 0) < 0)
		return -ENOMEM;
	if (ws->wait) {
		src.wait_kind = (int)wait_kind_of(ws->wait, w->frames.frame, w->frames.nr);
		wait_trim(&w->frames);
	}
	if (w->ignore_callees.regex)
		parent_drop_callees(&w->ignore_callees, &w->frames);
	if (w->frames.leafless)
		frames_resolve(&w->frames, ws->s.pid, own.cpumode, own.ip, ws->rec->at, &own);
	else if (w->frames.nr)
		src.frame = &w->frames.frame[w->frames.leaf];
	if (w->frames.leafless && w->frames.inlines)
		frames_find_line(&w->frames, &own);
	if (!filter_place(&w->opts->filter, src.frame))
		return 0;
	shown = count_all(w, h, &src);
	if (quality_add(q, w->trace->state, src.frame, &ws->s, w->times) < 0)
		return -ENOMEM;
	if (w->frames.is_chain && !w->opts->history)
		quality_add_chain(q, &w->frames, ws, w->opts->max_stack, w->times);
	src.comm = state_comm(w->trace->state, ws->s.pid, ws->s.tid, ws->rec->at);
	if (!shown || !filter_comm(&w->opts->filter, src.comm) || !find_parent(w, &src))
		return 0;
	if (w->opts->children)
		count_slice(w, ws);
	if (w->opts->children)
		return callers_add(w->tables.callers[event], &src, w->frames.frame,
				   w->frames.is_chain ? w->frames.nr : 0, w->times, src.latency);
	return filter_frame(&w->opts->filter, src.frame) ? add_row(w, h, &src) : 0;
}

static int count_weight(struct report_worker *w, const struct walk_sample *ws)
{
	struct walk_sample one = *ws;

	one.s.period = ws->s.weight ?: 1;
	return count_sample(&one, w);
}

static int count_wanted(const struct walk_sample *ws, void *arg)
{
	const struct report_worker *w = arg;

	return filter_sample(&w->opts->filter, &ws->s) ? count_sample(ws, arg) : 0;
}

int report_take_sample(const struct walk_sample *ws, void *arg)
{
	struct report_worker *w = arg;

	if (w->opts->stop && atomic_load_explicit(w->opts->stop, memory_order_relaxed))
		return -ECANCELED;
	/* Counters of a group go on where the filter leaves samples out. */
	if (ws->evsel && group_is_read(ws->evsel) && !w->branches && !w->opts->by_weight)
		return group_split(&w->groups, w->trace, ws, count_wanted, w);
	if (!ws->evsel || !filter_sample(&w->opts->filter, &ws->s))
		return 0;
	if (w->branches)
		return count_branches(w, ws);
	if (w->opts->by_weight)
		return count_weight(w, ws);
	return count_sample(ws, w);
}

static bool is_steady(const struct trace *t, const struct digest *d)
{
	for (size_t i = 0; i < d->nr; i++)
		if (!frames_are_steady(t, d, &d->entry[i]))
			return false;
	return true;
}

/* Counts each entry as one sample that stands for all of its samples. */
static int take_digest(struct report_worker *w, const struct digest *d)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < d->nr; i++) {
		const struct digest_entry *e = &d->entry[i];
		struct data_record rec = {.evsel = e->evsel, .at = e->first};
		struct walk_sample ws = {
			.rec = &rec,
			.evsel = e->evsel,
			.stack = e->stack.copied ? &e->stack : NULL,
			.s =
				{
					.type = e->evsel->attr.sample_type,
					.cpumode = e->cpumode,
					.ip = e->ip,
					.pid = e->pid,
					.tid = e->tid,
					.cpu = e->cpu,
					.period = e->period,
					.callchain_nr = e->chain_nr - e->stack.frames,
					.callchain = digest_chain(d, e),
				},
		};

		w->times = e->samples;
		rc = report_take_sample(&ws, w);
	}
	w->times = 1;
	return rc;
}

/* Counts equal samples of a chunk of hardware trace together: most are of a few places. */
static int take_itrace(struct report_worker *w, struct trace_chunk *chunk)
{
	int rc = walk_decode(w->walker, chunk, &w->digest);

	if (rc < 0)
		return rc;
	if (!w->digest.given_up && is_steady(w->trace, &w->digest))
		return take_digest(w, &w->digest);
	return walk_decoded(w->walker, report_take_sample, w);
}

static int take_chunk(struct report_worker *w, struct trace_chunk *chunk)
{
	if (chunk->is_itrace && report_takes_digests(w->trace, w->opts) == DIGEST_FLAT)
		return take_itrace(w, chunk);
	if (!chunk->digest.given_up && is_steady(w->trace, &chunk->digest))
		return take_digest(w, &chunk->digest);
	return walk_chunk(w->walker, chunk, report_take_sample, w);
}

void *report_worker_run(void *arg)
{
	struct report_worker *w = arg;
	struct trace *t = w->trace;

	while (!w->rc && !atomic_load_explicit(&w->pool->stop, memory_order_relaxed)) {
		size_t i = atomic_fetch_add_explicit(&w->pool->next, 1, memory_order_relaxed);

		if (i >= t->nr_chunks)
			break;
		w->rc = take_chunk(w, &t->chunks[i]);
		if (w->rc < 0) {
			error_sys(&w->err, w->rc, "%s", t->opts.path);
			atomic_store_explicit(&w->pool->stop, true, memory_order_relaxed);
		}
	}
	return NULL;
}
