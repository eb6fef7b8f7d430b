// SPDX-License-Identifier: Apache-2.0
/*
 * How appended bytes reach the file: at once, or through buffers of which some are in flight.
 *
 * The buffers of the asynchronous form are one more than may be in flight:
 *
 *   IDLE ──► FILLING ──submit──► FLYING ──► IDLE
 *                                  ▲  └──► FAILED ──┐
 *                                  └── next call ───┘
 *
 * Each has its place in the file from the moment in which it begins to be filled, so that it does
 * not matter which arrives first: nothing of them is visible before writer_put(…, true) has waited
 * for all (writer.c). Streams take theirs in order (AIO_STREAM); there a failure cannot be mended,
 * and is repeated by each later call.
 */
#include "data/writer_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUT_COPY (64u << 10) /* bytes from which copying costs more than a write of their own */

enum buffer_state {
	IDLE,
	FILLING,
	FLYING,
	FAILED,
};

struct out_buffer {
	enum buffer_state state;
	uint8_t *data;
	uint64_t offset; /* in the file or stream */
	size_t len, end; /* bytes filled, and to be filled */
};

struct writer_async {
	struct aio *aio;
	bool broken; /* the engine: nothing more is heard of what is in flight */
	uint8_t *memory;
	size_t size; /* of a buffer, bytes */
	unsigned int nr;
	struct out_buffer *filling; /* or NULL */
	struct out_buffer buffers[];
};

/* --- at once -----------------------------------------------------------------------------------
 */

static int sync_put(struct writer *w, const struct iovec *iov, int n, bool now)
{
	struct iovec all[4];
	size_t len = 0;
	int i, r;

	all[0] = (struct iovec){w->out.data, w->out.len};
	for (i = 0; i < n; i++) {
		len += iov[i].iov_len;
		all[i + 1] = iov[i];
	}
	if (now || len >= OUT_COPY || w->out.len + len > WRITER_OUT_MAX) {
		w->failed_at = w->pos - w->out.len;
		r = writer_io_all(w->io, w->fd, all, n + 1,
				  w->stream ? -1 : (off_t)(w->pos - w->out.len));
		if (r)
			return r;
		w->out.len = 0;
		return 0;
	}
	r = buf_reserve(&w->out, len);
	if (r)
		return r;
	for (i = 0; i < n; i++)
		buf_append(&w->out, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

/* --- in flight ---------------------------------------------------------------------------------
 */

/* Takes the completions that there are, with @wait at least one. Returns 0 or the first failure. */
static int take_done(struct writer *w, bool wait)
{
	struct writer_async *a = w->async;
	struct aio_completion done;
	int r, failure = 0;

	while ((r = aio_reap(a->aio, wait, &done)) == 1) {
		struct out_buffer *b = done.cookie;

		b->state = done.result ? FAILED : IDLE;
		if (done.result && (!failure || b->offset < w->failed_at)) {
			failure = done.result;
			w->failed_at = b->offset;
		}
		wait = false;
	}
	a->broken = r < 0;
	return r < 0 ? r : failure;
}

static int wait_all(struct writer *w)
{
	int failure = 0, r;

	while (aio_pending(w->async->aio) && !w->async->broken) {
		r = take_done(w, true);
		failure = failure ? failure : r;
	}
	return failure;
}

/* Submits @b; when too much is in flight, waits, and returns what failed meanwhile. */
static int buffer_send(struct writer *w, struct out_buffer *b)
{
	struct writer_async *a = w->async;
	int r;

	while (aio_submit(a->aio, w->fd, b->data, b->len, w->stream ? AIO_STREAM : (off_t)b->offset,
			  b) == -EBUSY) {
		r = take_done(w, true);
		if (r)
			return r;
	}
	b->state = FLYING;
	if (b == a->filling)
		a->filling = NULL;
	return 0;
}

/* Those that earlier calls have reported. */
static int send_failed(struct writer *w)
{
	struct writer_async *a = w->async;
	unsigned int i;
	int r = 0;

	for (i = 0; i < a->nr && !r; i++) {
		if (a->buffers[i].state == FAILED)
			r = buffer_send(w, &a->buffers[i]);
	}
	return r;
}

/* Begins to fill a buffer for what belongs at @at; it ends where the next can begin aligned. */
static int next_buffer(struct writer *w, uint64_t at)
{
	struct writer_async *a = w->async;
	unsigned int i = 0;
	int r;

	while (a->buffers[i].state != IDLE) {
		if (++i < a->nr)
			continue;
		r = take_done(w, true);
		if (r)
			return r;
		i = 0;
	}
	a->filling = &a->buffers[i];
	a->filling->state = FILLING;
	a->filling->offset = at;
	a->filling->len = 0;
	a->filling->end = a->size - at % a->size;
	return 0;
}

static int fill(struct writer *w, const struct iovec *iov, uint64_t *at)
{
	struct writer_async *a = w->async;
	const uint8_t *from = iov->iov_base;
	size_t left = iov->iov_len, n;
	int r = 0;

	while (left) {
		struct out_buffer *b = a->filling;

		if (b && b->len == b->end)
			r = buffer_send(w, b);
		if (!r && !a->filling)
			r = next_buffer(w, *at);
		if (r)
			return r;
		b = a->filling;
		n = left < b->end - b->len ? left : b->end - b->len;
		memcpy(b->data + b->len, from, n);
		b->len += n;
		from += n;
		left -= n;
		*at += n;
	}
	return 0;
}

/*
 * Forgets what lies from pos on. Some of it may be in the file: it will be overwritten, and until
 * then nobody looks there.
 */
static void roll_back(struct writer *w)
{
	struct writer_async *a = w->async;
	unsigned int i;

	wait_all(w);
	for (i = 0; i < a->nr; i++) {
		struct out_buffer *b = &a->buffers[i];

		if (b->state != FILLING && b->state != FAILED)
			continue;
		if (b->offset >= w->pos) {
			b->state = IDLE;
			if (b == a->filling)
				a->filling = NULL;
		} else if (b->offset + b->len > w->pos) {
			b->len = w->pos - b->offset;
		}
	}
}

static int async_append(struct writer *w, const struct iovec *iov, int n)
{
	struct writer_async *a = w->async;
	uint64_t at = w->pos;
	int i, r = take_done(w, false);

	if (!r)
		r = send_failed(w);
	for (i = 0; i < n && !r; i++)
		r = fill(w, &iov[i], &at);
	if (r) {
		uint64_t failed_at = w->failed_at;

		roll_back(w);
		w->failed_at = failed_at;
		return r;
	}
	/* A full one goes at once where that needs no waiting. */
	if (a->filling && a->filling->len == a->filling->end && aio_pending(a->aio) + 1 < a->nr)
		buffer_send(w, a->filling);
	return 0;
}

static int async_put(struct writer *w, const struct iovec *iov, int n, bool now)
{
	struct writer_async *a = w->async;
	int r = n ? async_append(w, iov, n) : 0, late;

	if (!now || r)
		return r;
	r = send_failed(w);
	if (!r && a->filling)
		r = buffer_send(w, a->filling);
	late = wait_all(w);
	return r ? r : late;
}

/* --- either ------------------------------------------------------------------------------------
 */

int writer_put(struct writer *w, const struct iovec *iov, int n, bool now)
{
	int i, r;

	if (w->broken)
		return w->broken;
	r = w->async ? async_put(w, iov, n, now) : sync_put(w, iov, n, now);
	if (r && w->stream)
		w->broken = r;
	for (i = 0; i < n && !r; i++)
		w->pos += iov[i].iov_len;
	return r;
}

static int new_engine(const struct writer *w, unsigned int depth, struct aio **ret,
		      struct error *err)
{
	int r;

	if (!w->io->engine)
		return aio_new(AIO_AUTOMATIC, depth, ret, err);
	r = aio_new_engine(w->io->engine, w->io->arg, depth, ret);
	return r ? error_sys(err, r, "asynchronous writing") : 0;
}

int writer_async(struct writer *w, unsigned int depth, size_t size, struct error *err)
{
	struct writer_async *a = NULL;
	unsigned int i;
	size_t bytes;
	int r = -EINVAL;

	if (!w->async && depth && depth <= AIO_DEPTH_MAX && size)
		r = writer_put(w, NULL, 0, true);
	if (r)
		return writer_fail(w, r, NULL, err);
	if (!__builtin_mul_overflow(depth + 1, size, &bytes))
		a = calloc(1, sizeof(*a) + (depth + 1) * sizeof(a->buffers[0]));
	if (!a)
		return error_set(err, -ENOMEM, "out of memory");
	a->memory = malloc(bytes);
	r = a->memory ? new_engine(w, depth, &a->aio, err)
		      : error_set(err, -ENOMEM, "no memory for %u buffers of %zu KB", depth + 1,
				  size / 1024);
	if (r) {
		free(a->memory);
		free(a);
		return r;
	}
	a->size = size;
	a->nr = depth + 1;
	for (i = 0; i < a->nr; i++)
		a->buffers[i].data = a->memory + i * size;
	w->async = a;
	return 0;
}

const struct aio *writer_aio(const struct writer *w)
{
	return w->async ? w->async->aio : NULL;
}

void writer_out_release(struct writer *w)
{
	if (w->async) {
		aio_free(w->async->aio);
		free(w->async->memory);
		free(w->async);
		w->async = NULL;
	}
	buf_release(&w->out);
}
