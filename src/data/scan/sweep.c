// SPDX-License-Identifier: Apache-2.0
#include "data/scan/sweep.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "data/scan/scan_priv.h"
#include "data/scan/split.h"

/*
 * Enough parts to keep all workers busy to the end, and each so long that its start costs nothing.
 */
#define PARTS	      64
#define PARTS_MAX     4096
#define PART_MIN      (256ull << 10)
#define PART_MAX      (16ull << 20)
#define LOOK_FOR_VOID 4096 /* records between two checks of @in_vain */

struct split {
	unsigned int segment;
	uint64_t from;
	size_t end; /* index of the first split of the next segment */
};

/* A kept record, followed by its bytes. */
struct item {
	struct data_record rec;
	uint64_t newest; /* newest time in the part so far */
	size_t size;	 /* with the record's bytes; a multiple of 8 */
};

enum part_state {
	PART_FREE,
	PART_RUNNING, /* a worker has it */
	PART_ENDED,
};

/* A part in work or waiting for its turn. Unmarked fields belong to the worker while it runs. */
struct sweep_part {
	alignas(APART) enum part_state state; /* lock */
	atomic_bool in_vain; /* the previous part did not end where this one began */
	size_t split;
	size_t next; /* the split at which it ended */
	uint64_t newest;
	int rc;
	void *mine; /* result of part_new() */
	struct findings *findings;
	struct buf filling;
	struct buf ready; /* lock; if full, the worker waits */
};

struct sweep_worker {
	alignas(APART) struct sweep *sweep;
	pthread_t thread;
	struct data_scan *scan;
	unsigned int countdown; /* records to the next check */
};

struct sweep {
	struct data_file *df;
	struct sweep_opts opts;
	struct split *splits;
	size_t nr_splits, cap_splits;
	uint64_t total;

	pthread_mutex_t lock; /* guards the marked fields, and @claimed, @head, @stop */
	pthread_cond_t to_do; /* workers wait for room, a part or the end */
	pthread_cond_t done;  /* the consumer waits for a batch of the head part */
	size_t claimed, head; /* splits: the next to begin, and the one being delivered */
	bool stop;
	struct sweep_part *parts; /* of split i: parts[i % nr_parts] */
	size_t nr_parts;
	struct sweep_worker *workers; /* [0] is the consumer's if there are no threads */
	unsigned int started;

	/* Used by the consumer only. */
	bool head_begun; /* the consumer began the head part itself */
	struct buf batch;
	size_t at;
	uint64_t newest; /* newest time in the earlier parts */
	struct sweep_run *runs;
	size_t nr_runs, cap_runs;
};

static struct sweep_part *part_of(struct sweep *sw, size_t split)
{
	return &sw->parts[split % sw->nr_parts];
}

static int add_split(struct sweep *sw, unsigned int segment, uint64_t from)
{
	if (array_grow(&sw->splits, &sw->cap_splits, sw->nr_splits + 1, sizeof(*sw->splits)))
		return -ENOMEM;
	sw->splits[sw->nr_splits++] = (struct split){.segment = segment, .from = from};
	return 0;
}

static int split_segment(struct sweep *sw, unsigned int i, uint64_t step)
{
	const struct segment *seg = &sw->df->segments[i];
	size_t first = sw->nr_splits;
	struct data_scan *scan;
	uint64_t from;

	if (add_split(sw, i, seg->begin))
		return -ENOMEM;
	/* A scan can open the segment. If that fails, its only part notes it. */
	if (seg->end - seg->begin > step &&
	    !data_scan_new(sw->df, i, seg->begin, DATA_WHOLE, 0, &scan)) {
		for (from = seg->begin + step; from < seg->end && seg->end - from > step / 2;
		     from += step) {
			uint64_t at = split_find(sw->df, seg, scan_fd(scan), from);

			if (at >= seg->end || at <= sw->splits[sw->nr_splits - 1].from)
				continue;
			if (add_split(sw, i, at)) {
				data_scan_free(scan);
				return -ENOMEM;
			}
		}
		data_scan_free(scan);
	}
	for (size_t k = first; k < sw->nr_splits; k++)
		sw->splits[k].end = sw->nr_splits;
	return 0;
}

static int split_all(struct sweep *sw)
{
	uint64_t step;

	for (size_t i = 0; i < sw->df->nr_segments; i++)
		sw->total += sw->df->segments[i].end - sw->df->segments[i].begin;
	step = sw->total / PARTS;
	step = step < PART_MIN ? PART_MIN : step > PART_MAX ? PART_MAX : step;
	if (step < sw->total / PARTS_MAX)
		step = sw->total / PARTS_MAX;
	if (sw->opts.part_bytes)
		step = sw->opts.part_bytes;
	for (unsigned int i = 0; i < sw->df->nr_segments; i++)
		if (split_segment(sw, i, step))
			return -ENOMEM;
	return 0;
}

/* Begins the part of split @i. */
static int part_begin(struct sweep_worker *w, struct sweep_part *p, size_t i)
{
	struct sweep *sw = w->sweep;
	const struct split *s = &sw->splits[i];
	int rc;

	p->next = i + 1;
	p->newest = 0;
	p->mine = sw->opts.part_new(sw->opts.arg);
	if (!p->mine)
		return -ENOMEM;
	if (w->scan)
		rc = data_scan_move(w->scan, s->segment, s->from, DATA_WHOLE);
	else
		rc = data_scan_new(sw->df, s->segment, s->from, DATA_WHOLE, sw->opts.scan_flags,
				   &w->scan);
	if (rc)
		return rc;
	scan_set_findings(w->scan, p->findings);
	if (p->next < s->end)
		scan_pause_at(w->scan, sw->splits[p->next].from);
	return 0;
}

/* Handles a segment that cannot be read from @offset on. */
static int part_failed(struct sweep_worker *w, struct sweep_part *p, uint64_t offset, int rc)
{
	const struct split *s = &w->sweep->splits[p->split];

	if (rc == -ENOMEM)
		return rc;
	p->next = s->end;
	if (w->sweep->opts.scan_flags & DATA_SCAN_FINDINGS)
		findings_add(p->findings, DATA_DAMAGED, s->segment, offset,
			     "the file cannot be read: %s", strerrordesc_np(-rc) ?: "?");
	return 0;
}

/* Whether the part ends where the walk paused or ended. */
static bool part_ends(struct sweep_worker *w, struct sweep_part *p)
{
	const struct split *splits = w->sweep->splits;
	size_t end = splits[p->split].end;
	uint64_t at = scan_position(w->scan);

	if (scan_ended(w->scan)) {
		p->next = end;
		return true;
	}
	while (p->next < end && splits[p->next].from < at)
		p->next++;
	if (p->next < end && splits[p->next].from == at) {
		if (scan_is_fresh(w->scan))
			return true;
		p->next++;
	}
	scan_pause_at(w->scan, p->next < end ? splits[p->next].from : DATA_WHOLE);
	return false;
}

static int keep(struct sweep_part *p, const struct data_record *rec)
{
	size_t bytes = (rec->hdr->size + 7u) & ~7u;
	struct item item = {.rec = *rec, .newest = p->newest, .size = sizeof(item) + bytes};

	if (buf_reserve(&p->filling, item.size))
		return -ENOMEM;
	memcpy(p->filling.data + p->filling.len, &item, sizeof(item));
	memcpy(p->filling.data + p->filling.len + sizeof(item), rec->hdr, rec->hdr->size);
	p->filling.len += item.size;
	return 0;
}

/* Goes on until a batch is full. Returns 1, 0 if the part ended, or a negative errno. */
static int part_run(struct sweep_worker *w, struct sweep_part *p)
{
	struct data_record rec;

	while (p->filling.len < SWEEP_BATCH) {
		int rc = data_scan_next(w->scan, &rec);

		if (rc < 0)
			return part_failed(w, p, scan_position(w->scan), rc);
		if (!rc && part_ends(w, p))
			return 0;
		if (!rc)
			continue;
		if (rec.time > p->newest)
			p->newest = rec.time;
		rc = w->sweep->opts.take(&rec, p->mine);
		if (rc > 0)
			rc = keep(p, &rec);
		if (rc < 0)
			return rc;
		if (++w->countdown % LOOK_FOR_VOID == 0 &&
		    atomic_load_explicit(&p->in_vain, memory_order_relaxed))
			return 0;
	}
	return 1;
}

/* Swaps the buffers, so that both are used over and over. */
static void hand_over(struct buf *from, struct buf *to)
{
	struct buf t = *to;

	*to = *from;
	*from = t;
	from->len = 0;
}

/* Frees a part after its last use. Under the lock. */
static int part_release(struct sweep *sw, struct sweep_part *p, bool valid)
{
	int rc = 0;

	if (p->mine)
		rc = sw->opts.part_end(p->mine, valid, sw->opts.arg);
	p->mine = NULL;
	if (valid)
		findings_merge(p->findings, sw->df);
	else
		p->findings->nr = 0;
	p->filling.len = p->ready.len = 0;
	p->rc = 0;
	atomic_store_explicit(&p->in_vain, false, memory_order_relaxed);
	p->state = PART_FREE;
	return rc;
}

/* Claims the next part, or NULL. Under the lock. */
static struct sweep_part *claim(struct sweep *sw)
{
	struct sweep_part *p;

	if (sw->claimed >= sw->nr_splits || sw->claimed >= sw->head + sw->nr_parts)
		return NULL;
	p = part_of(sw, sw->claimed);
	if (p->state != PART_FREE)
		return NULL; /* a worker still has it, in vain */
	p->state = PART_RUNNING;
	p->split = sw->claimed++;
	return p;
}

/* Works on a part from beginning to end. */
static void work_on(struct sweep_worker *w, struct sweep_part *p)
{
	struct sweep *sw = w->sweep;
	int rc = part_begin(w, p, p->split);
	bool stop = false;

	if (rc)
		rc = part_failed(w, p, 0, rc);
	else
		rc = 1;
	while (rc > 0 && !stop) {
		rc = part_run(w, p);
		if (rc <= 0)
			break;
		pthread_mutex_lock(&sw->lock);
		while (p->ready.len && !sw->stop && !p->in_vain)
			pthread_cond_wait(&sw->to_do, &sw->lock);
		stop = sw->stop || p->in_vain;
		if (!stop)
			hand_over(&p->filling, &p->ready);
		pthread_cond_signal(&sw->done);
		pthread_mutex_unlock(&sw->lock);
	}
	pthread_mutex_lock(&sw->lock);
	p->rc = rc < 0 ? rc : 0;
	p->state = PART_ENDED;
	if (p->in_vain) {
		part_release(sw, p, false);
		pthread_cond_broadcast(&sw->to_do);
	}
	pthread_cond_signal(&sw->done);
	pthread_mutex_unlock(&sw->lock);
}

static void *worker_main(void *arg)
{
	struct sweep_worker *w = arg;
	struct sweep *sw = w->sweep;
	struct sweep_part *p;

	pthread_mutex_lock(&sw->lock);
	while (!sw->stop && sw->claimed < sw->nr_splits) {
		p = claim(sw);
		if (!p) {
			pthread_cond_wait(&sw->to_do, &sw->lock);
			continue;
		}
		pthread_mutex_unlock(&sw->lock);
		work_on(w, p);
		pthread_mutex_lock(&sw->lock);
	}
	pthread_mutex_unlock(&sw->lock);
	return NULL;
}

static int make_parts(struct sweep *sw, size_t workers)
{
	sw->nr_parts = 2 * workers;
	sw->parts = calloc_apart(sw->nr_parts, sizeof(*sw->parts));
	sw->workers = calloc_apart(workers, sizeof(*sw->workers));
	if (!sw->parts || !sw->workers)
		return -ENOMEM;
	for (size_t i = 0; i < sw->nr_parts; i++) {
		sw->parts[i].findings = findings_new();
		if (!sw->parts[i].findings)
			return -ENOMEM;
	}
	for (size_t i = 0; i < workers; i++)
		sw->workers[i].sweep = sw;
	return 0;
}

int sweep_new(struct data_file *df, const struct sweep_opts *opts, struct sweep **ret)
{
	struct sweep *sw = calloc(1, sizeof(*sw));
	size_t workers = opts->workers > SWEEP_WORKERS_MAX ? SWEEP_WORKERS_MAX : opts->workers;
	int rc;

	if (!sw)
		return -ENOMEM;
	sw->df = df;
	sw->opts = *opts;
	pthread_mutex_init(&sw->lock, NULL);
	pthread_cond_init(&sw->to_do, NULL);
	pthread_cond_init(&sw->done, NULL);
	rc = split_all(sw);
	if (workers > sw->nr_splits)
		workers = sw->nr_splits;
	if (!rc)
		rc = make_parts(sw, workers > 1 ? workers : 1);
	if (rc) {
		sweep_free(sw);
		return rc;
	}
	/* A single thread would only take turns with the consumer, so the consumer works alone. */
	while (workers > 1 && sw->started < workers &&
	       !pthread_create(&sw->workers[sw->started].thread, NULL, worker_main,
			       &sw->workers[sw->started]))
		sw->started++;
	*ret = sw;
	return 0;
}

void sweep_free(struct sweep *sw)
{
	if (!sw)
		return;
	pthread_mutex_lock(&sw->lock);
	sw->stop = true;
	pthread_cond_broadcast(&sw->to_do);
	pthread_mutex_unlock(&sw->lock);
	for (unsigned int i = 0; i < sw->started; i++)
		pthread_join(sw->workers[i].thread, NULL);
	for (size_t i = 0; sw->parts && i < sw->nr_parts; i++) {
		struct sweep_part *p = &sw->parts[i];

		if (p->findings)
			part_release(sw, p, false);
		findings_free(p->findings);
		buf_release(&p->filling);
		buf_release(&p->ready);
	}
	for (size_t i = 0; sw->workers && i < (sw->nr_parts + 1) / 2; i++)
		data_scan_free(sw->workers[i].scan);
	pthread_cond_destroy(&sw->to_do);
	pthread_cond_destroy(&sw->done);
	pthread_mutex_destroy(&sw->lock);
	buf_release(&sw->batch);
	free(sw->workers);
	free(sw->parts);
	free(sw->splits);
	free(sw->runs);
	free(sw);
}

/* Passes the head part: it ended and its records were delivered. Under the lock. */
static int pass_head(struct sweep *sw)
{
	struct sweep_part *p = part_of(sw, sw->head);
	const struct split *s = &sw->splits[sw->head];
	size_t next = p->next;
	int rc = p->rc;

	if (rc)
		return rc;
	if (p->newest > sw->newest)
		sw->newest = p->newest;
	if (array_grow(&sw->runs, &sw->cap_runs, sw->nr_runs + 1, sizeof(*sw->runs)))
		return -ENOMEM;
	sw->runs[sw->nr_runs++] = (struct sweep_run){
		.segment = s->segment,
		.from = s->from,
		.to = next < s->end ? sw->splits[next].from : DATA_WHOLE,
	};
	rc = part_release(sw, p, true);
	for (size_t i = sw->head + 1; i < next && i < sw->claimed; i++) {
		p = part_of(sw, i);
		if (p->state == PART_ENDED)
			part_release(sw, p, false);
		else
			atomic_store_explicit(&p->in_vain, true, memory_order_relaxed);
	}
	sw->head = next;
	sw->head_begun = false;
	if (sw->claimed < next)
		sw->claimed = next;
	pthread_cond_broadcast(&sw->to_do);
	return rc;
}

/* Without threads: works on the head part until it has a batch or ends. */
static void work_at_head(struct sweep *sw, struct sweep_part *p)
{
	struct sweep_worker *w = &sw->workers[0];
	int rc = 1;

	if (!sw->head_begun) {
		sw->head_begun = true;
		sw->claimed = sw->head + 1;
		p->state = PART_RUNNING;
		p->split = sw->head;
		rc = part_begin(w, p, sw->head);
		rc = rc ? part_failed(w, p, 0, rc) : 1;
	}
	if (rc > 0)
		rc = part_run(w, p);
	if (rc > 0) {
		hand_over(&p->filling, &p->ready);
		return;
	}
	p->rc = rc;
	p->state = PART_ENDED;
}

/* Gets the next batch for the consumer. Returns 1, 0 at the very end, or a negative errno. */
static int next_batch(struct sweep *sw)
{
	int rc = -EAGAIN;

	pthread_mutex_lock(&sw->lock);
	while (rc == -EAGAIN) {
		struct sweep_part *p = part_of(sw, sw->head);
		bool mine = sw->head < sw->claimed && p->split == sw->head;

		if (sw->head >= sw->nr_splits) {
			rc = 0;
		} else if (mine && p->ready.len) {
			hand_over(&p->ready, &sw->batch);
			rc = 1;
		} else if (mine && p->state == PART_ENDED && p->filling.len) {
			hand_over(&p->filling, &sw->batch);
			rc = 1;
		} else if (mine && p->state == PART_ENDED) {
			rc = pass_head(sw) ?: -EAGAIN;
		} else if (sw->started) {
			pthread_cond_wait(&sw->done, &sw->lock);
		} else {
			work_at_head(sw, p);
		}
	}
	pthread_cond_broadcast(&sw->to_do);
	pthread_mutex_unlock(&sw->lock);
	sw->at = 0;
	return rc;
}

int sweep_next(struct sweep *sw, struct data_record *ret, uint64_t *newest)
{
	const struct item *item;
	int rc;

	if (sw->at == sw->batch.len) {
		rc = next_batch(sw);
		if (sw->newest > *newest)
			*newest = sw->newest;
		if (rc <= 0)
			return rc;
	}
	item = (const struct item *)(sw->batch.data + sw->at);
	sw->at += item->size;
	*ret = item->rec;
	ret->hdr = (const struct perf_event_header *)(item + 1);
	if (item->newest > *newest)
		*newest = item->newest;
	return 1;
}

void sweep_progress(const struct sweep *sw, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct split *s;

	*ret_total = *ret_done = sw->total;
	if (sw->head >= sw->nr_splits)
		return;
	s = &sw->splits[sw->head];
	*ret_done = sw->df->segments[s->segment].base - sw->df->segments[0].base + s->from -
		    sw->df->segments[s->segment].begin;
}

const struct sweep_run *sweep_runs(const struct sweep *sw, size_t *ret_nr)
{
	*ret_nr = sw->nr_runs;
	return sw->runs;
}
