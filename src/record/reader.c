// SPDX-License-Identifier: Apache-2.0
#include "record/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"
#include "perfdata/abi.h"
#include "ring/ring.h"

struct reader_ring {
	struct ring ring;
	unsigned int index;
	int cpu;
	const int *fds;
	bool ready, hangup;    /* found by reader_wait(), not yet dealt with */
	size_t nr_fds, polled; /* fds[polled] is in the epoll set; all before it have hung up */
};

/* In epoll's data: a ring's index, or this and a watched descriptor. */
#define WATCHED (1ull << 32)

struct reader {
	struct reader_ring *rings;
	size_t nr, capacity, hung_up;
	struct chunk_pool *pool;
	struct sink *sink;
	struct chunk *queue, **queue_end; /* filled, in the order in which they were */
	int epoll;
	bool any_ready;
	bool rounds, marked; /* marked: nothing was taken since the last FINISHED_ROUND */
	struct reader_stats stats;
};

int reader_new(struct chunk_pool *pool, struct sink *sink, bool rounds, struct reader **ret,
	       struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->pool = pool;
	r->sink = sink;
	r->rounds = rounds;
	r->marked = true;
	r->queue_end = &r->queue;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0) {
		code = error_sys(err, -errno, "epoll");
		free(r);
		return code;
	}
	*ret = r;
	return 0;
}

void reader_set_sink(struct reader *r, struct sink *sink)
{
	r->sink = sink;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	while (r->queue) {
		struct chunk *c = r->queue;

		r->queue = c->next;
		chunk_put(c);
	}
	close(r->epoll);
	free(r->rings);
	free(r);
}

/* Polls the next event of the ring, or notes that there is none left. */
static int ring_poll(struct reader *r, size_t i)
{
	struct reader_ring *rr = &r->rings[i];
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = i};

	if (rr->polled >= rr->nr_fds) {
		r->hung_up++;
		return 0;
	}
	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, rr->fds[rr->polled], &ev) ? -errno : 0;
}

int reader_add(struct reader *r, const struct reader_source *source, struct error *err)
{
	struct reader_ring rr = {
		.index = source->ring,
		.cpu = source->cpu,
		.fds = source->fds,
		.nr_fds = source->nr_fds,
	};
	int code =
		ring_init(&rr.ring, source->memory,
			  (const uint8_t *)source->memory + source->page_size, source->data_size);

	if (code)
		return error_set(err, code, "a ring of %zu bytes", source->data_size);
	if (array_grow(&r->rings, &r->capacity, r->nr + 1, sizeof(*r->rings)))
		return error_set(err, -ENOMEM, "out of memory");
	r->rings[r->nr++] = rr;
	code = ring_poll(r, r->nr - 1);
	return code ? error_sys(err, code, "epoll") : 0;
}

int reader_watch(struct reader *r, int fd, struct error *err)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = WATCHED | (unsigned int)fd};

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev) ? error_sys(err, -errno, "epoll") : 0;
}

int reader_wait(struct reader *r, int *fds, size_t max, struct error *err)
{
	struct epoll_event events[64];
	int n = epoll_wait(r->epoll, events, 64, -1), found = 0;

	if (n < 0)
		return errno == EINTR ? 0 : error_sys(err, -errno, "epoll");
	for (int i = 0; i < n; i++) {
		uint64_t what = events[i].data.u64;

		if (!(what & WATCHED)) {
			r->rings[what].ready = true;
			r->rings[what].hangup = events[i].events & (EPOLLHUP | EPOLLERR);
			r->any_ready = true;
		} else if ((size_t)found < max) {
			fds[found++] = (int)(what & ~WATCHED);
		}
	}
	return found;
}

bool reader_hung_up(const struct reader *r)
{
	return r->hung_up == r->nr;
}

unsigned int reader_fullness(void *reader)
{
	const struct reader *r = reader;
	unsigned int most = 0;

	for (size_t i = 0; i < r->nr; i++) {
		const struct ring *ring = &r->rings[i].ring;
		struct ring_spans spans;
		unsigned int full = (unsigned int)(ring_peek(ring, &spans) * 100 / ring->size);

		most = full > most ? full : most;
	}
	return most;
}

const struct reader_stats *reader_stats(const struct reader *r)
{
	return &r->stats;
}

/* Hands the queued chunks to the sink, oldest first. */
static int queue_drain(struct reader *r, struct error *err)
{
	int code = 0;

	while (!code && r->queue) {
		struct chunk *c = r->queue;

		r->queue = c->next;
		if (!r->queue)
			r->queue_end = &r->queue;
		c->next = NULL;
		code = sink_take(r->sink, c, err);
	}
	return code;
}

static void queue_push(struct reader *r, struct chunk *c)
{
	*r->queue_end = c;
	r->queue_end = &c->next;
	r->stats.chunks++;
}

/* A free chunk; what is queued goes to the sink first when there is none. */
static int reader_chunk(struct reader *r, struct chunk **ret, struct error *err)
{
	int code;

	*ret = chunk_get(r->pool);
	if (*ret)
		return 0;
	r->stats.pool_empty++;
	code = queue_drain(r, err);
	if (code)
		return code;
	*ret = chunk_get(r->pool);
	return *ret ? 0 : error_set(err, -ENOBUFS, "the pool of chunks is empty");
}

/* Copies all of @run out of its ring, releasing the ring chunk by chunk. */
static int ring_copy(struct reader *r, struct reader_ring *rr, const struct run *run,
		     struct error *err)
{
	size_t done = 0, total = run_bytes(run), n;
	struct chunk *c, *next;
	int code = reader_chunk(r, &c, err);

	while (!code) {
		n = chunk_fill(c, run, done);
		ring_release(&rr->ring, n);
		done += n;
		if (done == total) {
			queue_push(r, c);
			break;
		}
		code = reader_chunk(r, &next, err);
		if (code) {
			chunk_put(c);
			break;
		}
		chunk_cut(c, next);
		queue_push(r, c);
		c = next;
	}
	r->stats.bytes += done;
	return code;
}

static int ring_take(struct reader *r, struct reader_ring *rr, uint64_t *bytes, struct error *err)
{
	struct ring_spans spans;
	size_t n = ring_peek(&rr->ring, &spans);
	struct run run = {
		.a = spans.a,
		.b = spans.b,
		.a_len = spans.a_len,
		.b_len = spans.b_len,
		.ring = rr->index,
		.cpu = rr->cpu,
	};

	if (!n)
		return 0;
	*bytes += n;
	return ring_copy(r, rr, &run, err);
}

/* An event of ring @i has no tasks any more: another one of the ring is polled in its place. */
static int ring_hangup(struct reader *r, size_t i, struct error *err)
{
	struct reader_ring *rr = &r->rings[i];
	int code;

	epoll_ctl(r->epoll, EPOLL_CTL_DEL, rr->fds[rr->polled], NULL);
	rr->polled++;
	code = ring_poll(r, i);
	return code ? error_sys(err, code, "epoll") : 0;
}

int reader_pass_ready(struct reader *r, uint64_t *ret_bytes, struct error *err)
{
	uint64_t bytes = 0;
	int code = 0;

	for (size_t i = 0; !code && r->any_ready && i < r->nr; i++) {
		struct reader_ring *rr = &r->rings[i];

		if (!rr->ready)
			continue;
		rr->ready = false;
		code = ring_take(r, rr, &bytes, err);
		if (!code && rr->hangup)
			code = ring_hangup(r, i, err);
	}
	r->any_ready = false;
	if (!code)
		code = queue_drain(r, err);
	r->stats.passes++;
	if (bytes)
		r->marked = false;
	if (ret_bytes)
		*ret_bytes = bytes;
	return code;
}

static int round_mark(struct reader *r, struct error *err)
{
	const struct perf_event_header mark = {
		.type = PERF_RECORD_FINISHED_ROUND,
		.size = sizeof(mark),
	};

	if (!r->rounds || r->marked)
		return 0;
	r->marked = true;
	r->stats.rounds++;
	return sink_record(r->sink, &mark, err);
}

int reader_pass_all(struct reader *r, uint64_t *ret_bytes, struct error *err)
{
	uint64_t bytes = 0;
	int code = 0;

	for (size_t i = 0; !code && i < r->nr; i++)
		code = ring_take(r, &r->rings[i], &bytes, err);
	if (!code)
		code = queue_drain(r, err);
	r->stats.passes++;
	if (bytes)
		r->marked = false;
	if (!code)
		code = round_mark(r, err);
	if (ret_bytes)
		*ret_bytes = bytes;
	return code;
}
