// SPDX-License-Identifier: Apache-2.0
#include "report/trace/itrace_stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "report/trace/itrace_held.h"

#define THREADS_MAX 64u
#define LIST_MIN    (32u << 10) /* samples that a list has room for, at least */
#define HELD_MAX    (2u << 20)	/* samples; beyond, only chunks that are needed next are decoded */

/* The samples of a chunk. */
struct stream_slot {
	bool ready;
	int rc;
	struct itrace_held *held;   /* NULL: not ready, or memory was short */
	struct itrace_worker *rest; /* has the rest of the chunk; NULL: the list is the last */
	struct findings *findings;  /* NULL: none */
};

/* The chunks of a ring. Those below @next are taken by threads; the caller is at @current. */
struct stream_lane {
	uint64_t current, next, end;
	bool wants_rest;	   /* of @current */
	struct stream_slot *slots; /* of chunk n: n modulo their number */
	size_t at;		   /* next sample of @current */
	uint64_t time;		   /* of the newest sample that has one */
	const struct aux_run *run; /* of the newest sample; NULL: there is none */
};

struct itrace_stream {
	struct itrace *itrace;
	struct stream_lane *lanes;
	size_t nr_lanes;
	size_t nr_slots; /* of each lane */
	size_t list_max; /* samples */
	bool begun;
	/* Lanes with a next sample: a heap, whose first one has the earliest. */
	struct stream_lane **heap;
	size_t nr_heap;
	bool taken; /* the sample of the first one was taken since the last peek */
	pthread_t threads[THREADS_MAX];
	unsigned int nr_threads;
	pthread_mutex_t
		lock; /* guards the lanes' @next and @current, and slots that are not ready */
	pthread_cond_t work, done;
	uint64_t held;	/* samples in slots that are ready */
	size_t look_at; /* the lane where the search for work begins */
	bool stop;
	uint64_t left; /* samples that opts.skip leaves out */
	bool keeps_past;
	struct itrace_past past;
};

/* --- threads -------------------------------------------------------------------------------------
 */

/* The lane whose caller will need its next chunk first, or NULL. The caller holds the lock. */
static struct stream_lane *lane_with_work(struct itrace_stream *s)
{
	struct stream_lane *found = NULL;

	for (size_t i = 0; i < s->nr_lanes; i++) {
		struct stream_lane *l = &s->lanes[(s->look_at + i) % s->nr_lanes];

		if (l->wants_rest) {
			found = l;
			break;
		}
		if (l->next == l->end || l->next - l->current == s->nr_slots ||
		    (s->held > HELD_MAX && l->next != l->current))
			continue;
		if (!found || l->next - l->current < found->next - found->current)
			found = l;
		if (found->next == found->current)
			break; /* it has nothing */
	}
	if (found)
		s->look_at = (size_t)(found - s->lanes + 1) % s->nr_lanes;
	return found;
}

static size_t nr_held(const struct stream_slot *slot)
{
	return slot->held ? slot->held->list.nr : 0;
}

static void worker_free(struct itrace_worker *w)
{
	if (w)
		itrace_worker_release(w);
	free(w);
}

/* Decodes the first or the next part of a chunk. A worker that has the rest stays in the slot. */
static void fill_slot(struct itrace_stream *s, struct stream_slot *slot, uint64_t chunk,
		      struct itrace_worker **own)
{
	struct itrace_worker *w = slot->rest ? slot->rest : *own;

	if (!w)
		w = *own = calloc(1, sizeof(*w));
	if (!w) {
		slot->rc = -ENOMEM;
		return;
	}
	w->decoding.max = s->list_max;
	slot->held = itrace_held_new(s->itrace);
	if (!slot->held) {
		slot->rc = -ENOMEM;
		return;
	}
	w->list = slot->held->list; /* its memory is used again */
	if (slot->rest)
		slot->rc = itrace_decode_rest(s->itrace, w);
	else
		slot->rc = itrace_decode_chunk(s->itrace, w, chunk);
	slot->held->list = w->list;
	w->list = (struct itrace_list){0};
	if (!slot->rest)
		slot->findings = itrace_take_findings(w);
	if (w->decoding.more) {
		slot->rest = w;
		*own = w == *own ? NULL : *own;
	} else if (slot->rest) {
		worker_free(*own);
		*own = w;
		slot->rest = NULL;
	}
}

static void *decode_chunks(void *arg)
{
	struct itrace_stream *s = arg;
	struct itrace_worker *own = NULL;
	struct stream_lane *l;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		struct stream_slot *slot;
		uint64_t chunk;

		l = lane_with_work(s);
		if (!l) {
			pthread_cond_wait(&s->work, &s->lock);
			continue;
		}
		chunk = l->wants_rest ? l->current : l->next++;
		l->wants_rest = false;
		slot = &l->slots[chunk % s->nr_slots];
		pthread_mutex_unlock(&s->lock);

		fill_slot(s, slot, chunk, &own);

		pthread_mutex_lock(&s->lock);
		s->held += nr_held(slot);
		slot->ready = true;
		pthread_cond_signal(&s->done);
	}
	pthread_mutex_unlock(&s->lock);
	worker_free(own);
	return NULL;
}

/* --- making --------------------------------------------------------------------------------------
 */

static int init_lanes(struct itrace_stream *s, const struct aux_index *x)
{
	s->lanes = calloc(x->nr_rings + 1, sizeof(*s->lanes));
	s->heap = calloc(x->nr_rings + 1, sizeof(*s->heap));
	if (!s->lanes || !s->heap)
		return -ENOMEM;
	for (size_t i = 0; i < x->nr_rings; i++) {
		const struct aux_index_ring *ring = &x->rings[i];
		struct stream_lane *l = &s->lanes[s->nr_lanes];
		const struct aux_run *last;

		if (!ring->nr_runs)
			continue;
		last = &x->runs[ring->first_run + ring->nr_runs - 1];
		l->next = l->current = x->runs[ring->first_run].first_chunk;
		l->end = last + 1 < x->runs + x->nr_runs ? last[1].first_chunk : x->nr_chunks;
		l->slots = calloc(s->nr_slots, sizeof(*l->slots));
		if (!l->slots)
			return -ENOMEM;
		s->nr_lanes++;
	}
	return 0;
}

int itrace_stream_new(struct itrace *i, unsigned int workers, struct itrace_stream **ret)
{
	struct itrace_stream *s = calloc(1, sizeof(*s));
	size_t rings = i->index.nr_rings ? i->index.nr_rings : 1;

	if (!s)
		return -ENOMEM;
	s->itrace = i;
	s->left = i->opts.skip;
	/* A chunk that is read, one that waits, and work for all threads. */
	s->nr_slots = 2 + workers / rings;
	s->list_max = HELD_MAX / rings > LIST_MIN ? HELD_MAX / rings : LIST_MIN;
	if (s->list_max > ITRACE_LIST_MAX)
		s->list_max = ITRACE_LIST_MAX;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->done, NULL);
	s->keeps_past = itrace_opts_need_past(&i->opts);
	if (init_lanes(s, &i->index) || itrace_past_init(&s->past, &i->opts)) {
		itrace_stream_free(s);
		return -ENOMEM;
	}
	while (s->nr_threads < workers && s->nr_threads < THREADS_MAX &&
	       !pthread_create(&s->threads[s->nr_threads], NULL, decode_chunks, s))
		s->nr_threads++;
	if (!s->nr_threads) {
		itrace_stream_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void slot_release(struct stream_slot *slot)
{
	itrace_let_go(slot->held);
	findings_free(slot->findings);
	worker_free(slot->rest);
}

void itrace_stream_free(struct itrace_stream *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->work);
	pthread_mutex_unlock(&s->lock);
	for (unsigned int i = 0; i < s->nr_threads; i++)
		pthread_join(s->threads[i], NULL);
	for (size_t i = 0; i < s->nr_lanes; i++) {
		for (size_t j = 0; j < s->nr_slots; j++)
			slot_release(&s->lanes[i].slots[j]);
		free(s->lanes[i].slots);
	}
	free(s->lanes);
	itrace_past_release(&s->past);
	free(s->heap);
	pthread_cond_destroy(&s->work);
	pthread_cond_destroy(&s->done);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* --- merging -------------------------------------------------------------------------------------
 */

/* Waits for the samples of the lane's current chunk. */
static const struct stream_slot *current_slot(struct itrace_stream *s, const struct stream_lane *l)
{
	struct stream_slot *slot = &l->slots[l->current % s->nr_slots];

	pthread_mutex_lock(&s->lock);
	while (!slot->ready)
		pthread_cond_wait(&s->done, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return slot;
}

/* The next chunk becomes the current one, or the next part of the current one is wanted. */
static void step(struct itrace_stream *s, struct stream_lane *l)
{
	struct stream_slot *slot = &l->slots[l->current % s->nr_slots];

	/* Here, in the order of time, and not where threads find them. */
	if (slot->findings)
		findings_merge(slot->findings, s->itrace->index.df);
	findings_free(slot->findings);
	slot->findings = NULL;
	pthread_mutex_lock(&s->lock);
	s->held -= nr_held(slot);
	slot->ready = false;
	itrace_let_go(slot->held);
	slot->held = NULL;
	l->wants_rest = slot->rest;
	if (!l->wants_rest)
		l->current++;
	l->at = 0;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
}

/* Finds the lane's next sample, and its time. Returns 0 or a negative errno. */
static int advance(struct itrace_stream *s, struct stream_lane *l)
{
	for (; l->current < l->end; step(s, l)) {
		const struct stream_slot *slot = current_slot(s, l);

		if (slot->rc < 0)
			return slot->rc;
		if (l->at < nr_held(slot)) {
			uint64_t time = slot->held->list.samples[l->at].time;

			/* A time that is too early is printed as soon as it comes. */
			l->time = time ? time : l->time;
			return 0;
		}
	}
	return 0;
}

static bool is_before(const struct stream_lane *a, const struct stream_lane *b)
{
	return a->time != b->time ? a->time < b->time : a < b;
}

/* Moves the lane at @i of the heap down to its place. */
static void sift_down(struct itrace_stream *s, size_t i)
{
	struct stream_lane *l = s->heap[i];

	for (size_t child; (child = 2 * i + 1) < s->nr_heap; i = child) {
		if (child + 1 < s->nr_heap && is_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s->heap[child], l))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = l;
}

/* At first all lanes are moved, later the one whose sample was taken. */
static int begin_merging(struct itrace_stream *s)
{
	for (size_t i = 0; i < s->nr_lanes; i++) {
		struct stream_lane *l = &s->lanes[i];
		int rc = advance(s, l);

		if (rc < 0)
			return rc;
		if (l->current < l->end)
			s->heap[s->nr_heap++] = l;
	}
	for (size_t i = s->nr_heap / 2; i--;)
		sift_down(s, i);
	s->begun = true;
	return 0;
}

int itrace_stream_peek(struct itrace_stream *s, uint64_t *ret)
{
	int rc = s->begun ? 0 : begin_merging(s);

	if (!rc && s->taken) {
		struct stream_lane *l = s->heap[0];

		rc = advance(s, l);
		if (rc < 0)
			return rc;
		s->taken = false;
		if (l->current == l->end)
			s->heap[0] = s->heap[--s->nr_heap];
		if (s->nr_heap)
			sift_down(s, 0);
	}
	if (rc < 0 || !s->nr_heap)
		return rc;
	*ret = s->heap[0]->time;
	return 1;
}

struct itrace_past *itrace_stream_past(struct itrace_stream *s)
{
	return s->keeps_past ? &s->past : NULL;
}

/* Calls @fn for the next sample of @l, unless it is to be skipped. */
static int visit(struct itrace_stream *s, const struct itrace_list *list,
		 const struct itrace_sample *sample, walk_fn fn, void *arg)
{
	if (s->left && sample->kind != ITRACE_ERRORS && !sample->hidden) {
		s->left--;
		return 0;
	}
	return itrace_visit(s->itrace, list, sample, itrace_stream_past(s), fn, arg);
}

/* Between two runs of a ring there is a gap. */
static int note_gap(struct itrace_stream *s, struct stream_lane *l)
{
	const struct aux_run *run = aux_index_run_of(&s->itrace->index, l->current);

	int rc = l->run && l->run != run ? itrace_past_gap(&s->past, run->tid, run->cpu) : 0;

	l->run = run;
	return rc;
}

int itrace_stream_take(struct itrace_stream *s, walk_fn fn, void *arg)
{
	struct stream_lane *l = s->heap[0];
	const struct itrace_list *list = &l->slots[l->current % s->nr_slots].held->list;
	const struct itrace_sample *sample = &list->samples[l->at++];
	int rc;

	s->taken = true;
	if (!s->keeps_past)
		return visit(s, list, sample, fn, arg);
	rc = note_gap(s, l);
	if (rc >= 0)
		rc = visit(s, list, sample, fn, arg);
	if (rc >= 0 && sample->kind == ITRACE_BRANCHES && itrace_past_take(&s->past, sample))
		rc = -ENOMEM;
	return rc;
}

/* The lane whose sample comes first if that of the first one is taken, or NULL. */
static const struct stream_lane *second(const struct itrace_stream *s)
{
	if (s->nr_heap < 2)
		return NULL;
	return s->nr_heap > 2 && is_before(s->heap[2], s->heap[1]) ? s->heap[2] : s->heap[1];
}

bool itrace_stream_take_span(struct itrace_stream *s, uint64_t before, struct walk_span *ret)
{
	struct stream_lane *l = s->heap[0];
	struct itrace_held *held = l->slots[l->current % s->nr_slots].held;
	const struct stream_lane *other = second(s);
	size_t nr = held->list.nr - l->at, n = 1;

	if (s->keeps_past || s->left)
		return false;
	if (nr > WALK_SPAN_MAX)
		nr = WALK_SPAN_MAX;
	for (; n < nr; n++) {
		uint64_t time = held->list.samples[l->at + n].time ?: l->time;

		if (time >= before && before != UINT64_MAX)
			break;
		l->time = time;
		if (other && !is_before(l, other))
			break;
	}
	*ret = (struct walk_span){s->itrace, held, l->at, n};
	l->at += n;
	s->taken = true;
	return true;
}
