// SPDX-License-Identifier: Apache-2.0
#include "data/order/order_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static inline bool entry_before(const struct queue_entry *a, const struct queue_entry *b)
{
	return queued_before(a->time, a->place, b->time, b->place);
}

int queue_push(struct queue *q, const struct data_record *rec)
{
	size_t size = (sizeof(struct queued) + rec->hdr->size + 7) & ~(size_t)7;
	struct queued *block;

	if ((q->nr == q->cap && array_grow(&q->e, &q->cap, q->nr + 1, sizeof(*q->e))) ||
	    (q->arena.cap - q->arena.len < size && buf_reserve(&q->arena, size)))
		return -ENOMEM;
	block = (struct queued *)(q->arena.data + q->arena.len);
	*block = (struct queued){
		.time = rec->at.time,
		.place = rec->at.seq,
		.evsel = rec->evsel,
		.offset = rec->offset,
		.inner = rec->inner,
		.segment = rec->segment,
		.size = (uint32_t)size,
	};
	/* The padding is written to disk, too: initialize it. */
	memset((uint8_t *)block + size - 8, 0, 8);
	memcpy(block + 1, rec->hdr, rec->hdr->size);
	q->e[q->nr++] = (struct queue_entry){block->time, block->place, q->arena.len};
	q->arena.len += size;
	q->live += size;
	return 0;
}

struct data_record queued_record(const struct queued *block)
{
	return (struct data_record){
		.hdr = (const struct perf_event_header *)(block + 1),
		.evsel = block->evsel,
		.offset = block->offset,
		.inner = block->inner,
		.segment = block->segment,
		.time = block->time,
		.at = {block->time, block->place},
	};
}

static void sift_up(struct queue_entry *e, size_t i)
{
	struct queue_entry x = e[i];

	while (i && entry_before(&x, &e[(i - 1) / 2])) {
		e[i] = e[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	e[i] = x;
}

static void sift_down(struct queue_entry *e, size_t nr, size_t i)
{
	struct queue_entry x = e[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && entry_before(&e[child + 1], &e[child]))
			child++;
		if (!entry_before(&e[child], &x))
			break;
		e[i] = e[child];
		i = child;
	}
	e[i] = x;
}

void queue_settle(struct queue *q)
{
	while (q->settled < q->nr)
		sift_up(q->e, q->settled++);
}

/* Merges the ascending runs of @src in pairs into @dst. Returns the number of runs left. */
static size_t merge_pass(const struct queue_entry *src, struct queue_entry *dst, size_t nr)
{
	size_t a = 0, out = 0, runs = 0;

	while (a < nr) {
		size_t b = a + 1, a_end, end;

		while (b < nr && !entry_before(&src[b], &src[b - 1]))
			b++;
		a_end = b;
		end = b < nr ? b + 1 : b;
		while (end < nr && end > b && !entry_before(&src[end], &src[end - 1]))
			end++;
		while (a < a_end && b < end)
			dst[out++] = entry_before(&src[b], &src[a]) ? src[b++] : src[a++];
		memcpy(dst + out, src + a, (a_end - a) * sizeof(*src));
		out += a_end - a;
		memcpy(dst + out, src + b, (end - b) * sizeof(*src));
		out += end - b;
		a = end;
		runs++;
	}
	return runs;
}

/*
 * Natural merge sort. A recording is a sequence of pieces of rings, each in order, so few passes
 * suffice.
 */
int queue_sort(struct queue *q)
{
	struct queue_entry *src = q->e, *dst;
	size_t runs;

	if (q->nr) {
		dst = malloc(q->cap * sizeof(*dst));
		if (!dst)
			return -ENOMEM;
		do {
			struct queue_entry *t = src;

			runs = merge_pass(src, dst, q->nr);
			src = dst;
			dst = t;
		} while (runs > 1);
		q->e = src;
		free(dst);
	}
	q->sorted = true;
	q->settled = 0;
	q->next = 0;
	return 0;
}

const struct queued *queue_peek(const struct queue *q)
{
	if (q->sorted ? q->next == q->nr : !q->settled)
		return NULL;
	return (const struct queued *)(q->arena.data + q->e[q->sorted ? q->next : 0].at);
}

/* In a heap all entries must be settled. */
void queue_pop(struct queue *q)
{
	q->live -= queue_peek(q)->size;
	if (q->sorted) {
		q->next++;
		return;
	}
	q->settled = --q->nr;
	if (q->nr) {
		q->e[0] = q->e[q->nr];
		sift_down(q->e, q->nr, 0);
	}
}

int queue_compact(struct queue *q)
{
	struct buf fresh = {0};
	size_t garbage = q->arena.len - q->live;

	/*
	 * At least as much was popped since the last copy, which pays for copying the live blocks.
	 */
	if (q->sorted || garbage < q->live || garbage < 4096)
		return 0;
	if (buf_reserve(&fresh, q->live + 8))
		return -ENOMEM;
	for (size_t i = 0; i < q->nr; i++) {
		const struct queued *block = (const struct queued *)(q->arena.data + q->e[i].at);

		memcpy(fresh.data + fresh.len, block, block->size);
		q->e[i].at = fresh.len;
		fresh.len += block->size;
	}
	buf_release(&q->arena);
	q->arena = fresh;
	return 0;
}

void queue_clear(struct queue *q)
{
	q->arena.len = 0;
	q->nr = q->settled = q->next = q->live = 0;
	q->sorted = false;
}

void queue_release(struct queue *q)
{
	buf_release(&q->arena);
	free(q->e);
	*q = (struct queue){0};
}

static inline bool input_before(const struct merge_input *a, const struct merge_input *b)
{
	return queued_before(a->head->time, a->head->place, b->head->time, b->head->place);
}

static void input_down(struct merger *m)
{
	struct merge_input x = m->in[0];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->nr)
			break;
		if (child + 1 < m->nr && input_before(&m->in[child + 1], &m->in[child]))
			child++;
		if (!input_before(&m->in[child], &x))
			break;
		m->in[i] = m->in[child];
		i = child;
	}
	m->in[i] = x;
}

void merger_clear(struct merger *m)
{
	m->nr = 0;
}

int merger_add(struct merger *m, struct merge_input in)
{
	size_t i = m->nr;

	if (!in.head)
		return 0;
	if (array_grow(&m->in, &m->cap, m->nr + 1, sizeof(*m->in)))
		return -ENOMEM;
	m->nr++;
	while (i && input_before(&in, &m->in[(i - 1) / 2])) {
		m->in[i] = m->in[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	m->in[i] = in;
	return 0;
}

const struct queued *merger_top(const struct merger *m)
{
	return m->nr ? m->in[0].head : NULL;
}

int merger_advance(struct merger *m)
{
	struct merge_input *top = &m->in[0];
	int rc = top->next(top->ctx, &top->head);

	if (rc)
		return rc;
	if (!top->head)
		*top = m->in[--m->nr];
	if (m->nr > 1)
		input_down(m);
	return 0;
}

void merger_release(struct merger *m)
{
	free(m->in);
	*m = (struct merger){0};
}
