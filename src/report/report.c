// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "report/group.h"

/* Shared by the workers: which chunk is next, and whether all should stop. */
struct pool {
	atomic_size_t next;
	atomic_bool stop;
};

/* What one thread needs to take samples; shares nothing that it writes. */
struct worker {
	struct trace *trace;
	const struct report_opts *opts;
	struct frames frames;
	struct group_counts groups;
	struct data_scan *scan;
	struct hist *hists; /* by evsel index */
	size_t nr;
	uint64_t times; /* that the sample at hand stands for */
	uint32_t *rows; /* of the sample at hand, so that each row gets it once */
	size_t cap_rows;
	struct pool *pool;
	struct error err; /* why rc is negative */
	int rc;
};

bool report_has_callchains(const struct trace *t)
{
	return pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_CALLCHAIN;
}

static void hists_free(struct hist *hists, size_t nr)
{
	for (size_t i = 0; hists && i < nr; i++)
		hist_release(&hists[i]);
	free(hists);
}

static int hists_new(const struct report_opts *opts, size_t nr, struct hist **ret)
{
	struct hist *hists = calloc(nr + 1, sizeof(*hists));

	for (size_t i = 0; hists && i < nr; i++)
		if (hist_init(&hists[i], opts->keys, opts->nr_keys) < 0) {
			hists_free(hists, nr);
			return -ENOMEM;
		}
	*ret = hists;
	return hists ? 0 : -ENOMEM;
}

static void worker_release(struct worker *w)
{
	data_scan_free(w->scan);
	frames_release(&w->frames);
	group_counts_release(&w->groups);
	hists_free(w->hists, w->nr);
	free(w->rows);
}

static int worker_init(struct worker *w, struct trace *t, const struct report_opts *opts)
{
	*w = (struct worker){
		.trace = t, .opts = opts, .nr = pd_evlist_count(t->evlist), .times = 1};
	if (frames_init(&w->frames, t) < 0)
		return -ENOMEM;
	return hists_new(opts, w->nr, &w->hists);
}

/*
 * Adds the sample's chain to the row of its frame number @i. The row of the sample itself gets the
 * whole chain; the row of a caller the part on its own side: from it down to the sample in caller
 * order, from it up to the outermost caller in callee order.
 */
static int add_chain(struct worker *w, struct hist *h, uint32_t row, size_t i, uint64_t period)
{
	const struct frame *frame = w->frames.frame;
	size_t nr = w->frames.nr;
	uint32_t root;
	int rc;

	if (w->opts->graph == REPORT_GRAPH_NONE || !nr)
		return 0;
	rc = hist_tree(h, row, &root);
	if (rc < 0)
		return rc;
	if (w->opts->graph == REPORT_GRAPH_CALLEE)
		return callgraph_add(&h->graph, root, frame + i, nr - i, CALLGRAPH_CALLEE, period);
	return callgraph_add(&h->graph, root, frame, i ? i + 1 : nr, CALLGRAPH_CALLER, period);
}

static bool seen_row(const struct worker *w, size_t nr, uint32_t row)
{
	for (size_t i = 0; i < nr; i++)
		if (w->rows[i] == row)
			return true;
	return false;
}

/* Adds the sample to the rows of its frames: the first for itself, the others as its callers. */
static int add_rows(struct worker *w, struct hist *h, struct key_source *src, size_t nr)
{
	const struct frame *frame = src->frame;
	uint64_t period = src->ws->s.period;
	size_t nr_rows = 0;

	if (array_grow(&w->rows, &w->cap_rows, nr, sizeof(*w->rows)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t row;
		int rc;

		src->frame = &frame[i];
		if (!filter_row(&w->opts->filter, src->comm, src->frame))
			continue;
		rc = hist_row_of(h, src, &row);
		if (rc < 0)
			return rc;
		if (seen_row(w, nr_rows, row))
			continue;
		w->rows[nr_rows++] = row;
		h->entry[row].children += period;
		if (i > h->entry[row].depth)
			h->entry[row].depth = i;
		if (i == 0) {
			h->entry[row].self += period;
			h->entry[row].samples += w->times;
		}
		if (w->frames.is_chain)
			rc = add_chain(w, h, row, i, period);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int count_sample(const struct walk_sample *ws, void *arg)
{
	struct worker *w = arg;
	struct frame nowhere = {.cpumode = ws->s.cpumode, .ip = ws->s.ip, .addr = ws->s.ip};
	struct key_source src = {.trace = w->trace, .ws = ws, .frame = &nowhere};
	struct hist *h = &w->hists[ws->evsel->index];
	bool chains = w->opts->graph != REPORT_GRAPH_NONE || w->opts->children;
	size_t nr;

	if (frames_of_sample(&w->frames, ws, chains ? w->opts->max_stack : 1) < 0)
		return -ENOMEM;
	if (w->frames.nr)
		src.frame = w->frames.frame;
	if (!filter_place(&w->opts->filter, src.frame))
		return 0;
	h->samples += w->times;
	h->period += ws->s.period;
	src.comm = state_comm(w->trace->state, ws->s.pid, ws->s.tid, ws->rec->at);
	nr = w->opts->children && w->frames.nr ? w->frames.nr : 1;
	return add_rows(w, h, &src, nr);
}

static int take_sample(const struct walk_sample *ws, void *arg)
{
	struct worker *w = arg;

	if (!filter_sample(&w->opts->filter, &ws->s))
		return 0;
	if (group_is_read(ws->evsel))
		return group_split(&w->groups, w->trace, ws, count_sample, w);
	return count_sample(ws, w);
}

/* Samples that mean something only in order, or cannot be placed without it. */
static bool needs_order(const struct trace *t)
{
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
		if (group_is_read(pd_evlist_at(t->evlist, i)))
			return true;
	return t->untimed_samples;
}

bool report_takes_digests(const struct trace *t, const struct report_opts *opts)
{
	bool chains = opts->graph != REPORT_GRAPH_NONE || opts->children;

	return !(chains && report_has_callchains(t)) && !opts->filter.start && !opts->filter.stop &&
	       !needs_order(t);
}

static bool is_steady(const struct state *s, const struct digest *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		const struct digest_entry *e = &d->entry[i];

		if (!state_steady(s, e->pid, e->tid, e->cpumode, e->ip, e->first, e->last))
			return false;
	}
	return true;
}

/* Takes each entry as one sample of them all. */
static int take_digest(struct worker *w, const struct digest *d)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < d->nr; i++) {
		const struct digest_entry *e = &d->entry[i];
		struct data_record rec = {.evsel = e->evsel, .at = e->first};
		struct walk_sample ws = {
			.rec = &rec,
			.evsel = e->evsel,
			.s =
				{
					.type = e->evsel->attr.sample_type,
					.cpumode = e->cpumode,
					.ip = e->ip,
					.pid = e->pid,
					.tid = e->tid,
					.cpu = e->cpu,
					.period = e->period,
				},
		};

		w->times = e->samples;
		rc = take_sample(&ws, w);
	}
	w->times = 1;
	return rc;
}

static int take_chunk(struct worker *w, struct trace_chunk *chunk)
{
	if (!chunk->digest.given_up && is_steady(w->trace->state, &chunk->digest))
		return take_digest(w, &chunk->digest);
	return walk_chunk(w->trace, chunk, &w->scan, take_sample, w);
}

/* Takes chunks until none is left. */
static void *worker_run(void *arg)
{
	struct worker *w = arg;
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

/* One for each CPU that we may use, but no more than there are chunks. */
static size_t workers_wanted(const struct trace *t)
{
	size_t n = needs_order(t) ? 1 : trace_workers();

	n = n > t->nr_chunks ? t->nr_chunks : n;
	return n ? n : 1;
}

/* Runs the workers; the first in this thread. A thread that cannot be made is done without. */
static int workers_run(struct worker *w, size_t nr, struct error *err)
{
	pthread_t threads[SWEEP_WORKERS_MAX];
	size_t started = 1;

	if (needs_order(w[0].trace))
		return walk_ordered(w[0].trace, take_sample, &w[0], err);
	while (started < nr && !pthread_create(&threads[started], NULL, worker_run, &w[started]))
		started++;
	worker_run(&w[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	walk_hand_in_notes(w[0].trace);
	for (size_t i = 0; i < started; i++)
		if (w[i].rc < 0) {
			if (err)
				*err = w[i].err;
			return w[i].rc;
		}
	return 0;
}

/* Adds a worker's histograms to the report; the first one's become the report's own. */
static int collect(struct report *r, struct worker *w)
{
	if (!r->hists) {
		r->hists = w->hists;
		w->hists = NULL;
		return 0;
	}
	for (size_t i = 0; i < r->nr; i++) {
		int rc = hist_merge(&r->hists[i], &w->hists[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* What filter_row() has left out counts no longer. */
static void make_relative(struct hist *h)
{
	h->samples = h->period = 0;
	for (size_t i = 0; i < h->nr; i++) {
		h->samples += h->entry[i].samples;
		h->period += h->entry[i].self;
	}
}

static int sort_hists(struct report *r)
{
	for (size_t i = 0; i < r->nr; i++)
		if (hist_sort(&r->hists[i], r->trace, r->opts->children) < 0)
			return -ENOMEM;
	return 0;
}

int report_run(struct trace *t, const struct report_opts *opts, struct report **ret,
	       struct error *err)
{
	struct report *r = calloc(1, sizeof(*r));
	size_t nr = workers_wanted(t);
	struct worker *w = calloc(nr, sizeof(*w));
	struct pool pool = {0};
	int rc = r && w ? 0 : -ENOMEM;

	if (r)
		*r = (struct report){.trace = t, .opts = opts, .nr = pd_evlist_count(t->evlist)};
	for (size_t i = 0; !rc && i < nr; i++) {
		rc = worker_init(&w[i], t, opts);
		w[i].pool = &pool;
	}
	if (rc < 0) {
		error_sys(err, rc, "%s", t->opts.path);
		goto out;
	}
	rc = workers_run(w, nr, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; !rc && i < nr; i++)
		rc = collect(r, &w[i]);
	for (size_t i = 0; !rc && opts->relative && i < r->nr; i++)
		make_relative(&r->hists[i]);
	if (!rc)
		rc = sort_hists(r);
	if (rc < 0)
		error_sys(err, rc, "%s", t->opts.path);
out:
	for (size_t i = 0; w && i < nr; i++)
		worker_release(&w[i]);
	free(w);
	if (rc < 0)
		report_free(r);
	else
		*ret = r;
	return rc;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	hists_free(r->hists, r->nr);
	free(r);
}
