// SPDX-License-Identifier: Apache-2.0
/*
 * Writes appended bytes to the file: at once, or asynchronously through buffers.
 *
 * An asynchronous writer has one buffer more than can be in flight:
 *
 *   IDLE ──► FILLING ──submit──► FLYING ──► IDLE
 *                                  ▲  └──► FAILED ──┐
 *                                  └── next call ───┘
 *
 * A buffer has its place in the file from the start of its filling, so buffers may arrive in any
 * order: readers see none of them before writer_put(…, true) has waited for all. A stream gets its
 * buffers in order (AIO_STREAM); a failure there is final, and each later call returns it again.
 */
#include "data/writer/writer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OUT_COPY (64u << 10) /* from this size a copy costs more than a separate write */

/*
 * Writes to a file end at a multiple of this, so the next one begins at one: the page cache uses
 * folios as large as offset and length allow. Measured with ext4 of Linux 6.18, in ns a KB: writes
 * of 128 KB at any offset 224, at multiples of 16 KB 200, of 64 KB 171, of 128 KB 161; writes of
 * 1 MB 176 and 154.
 */
#define OUT_ALIGN (64u << 10)

/*
 * The writer allocates the blocks of a file ahead of its writes, this many bytes at a time. ext4
 * would otherwise reserve them one by one as pages become dirty, which takes two fifths of a write
 * (Linux 6.18, 256 KB: 0.021 and 0.0125 us for 136 bytes; a call takes 12 us). On XFS and btrfs
 * writes do not get faster. Closing the file frees unused blocks; a killed recorder leaves them.
 */
#define AHEAD ((uint64_t)4 << 20)

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
	bool broken; /* the engine failed: it reports no more completions */
	uint8_t *memory;
	size_t size; /* of a buffer, bytes */
	unsigned int nr;
	struct out_buffer *filling; /* or NULL */
	struct out_buffer buffers[];
};

int writer_fail(const struct writer *w, int rc, const char *what, struct error *err)
{
	char text[64];

	if (rc == -EPIPE)
		return error_set(err, rc, "%s: its reader has closed it; the recording ends",
				 w->path);
	if (rc == -EINTR && w->io.patience)
		return error_set(err, rc, "%s: its reader takes nothing; the recording ends",
				 w->path);
	snprintf(text, sizeof(text), "cannot write at offset %llu",
		 (unsigned long long)w->failed_at);
	if (!what)
		what = text;
	return error_sys(err, rc, "%s: %s", w->path, what);
}

int writer_put_at(struct writer *w, const void *p, size_t len, uint64_t offset)
{
	struct iovec iov = {(void *)(uintptr_t)p, len};

	w->failed_at = offset;
	return writer_io_all(&w->io, w->fd, &iov, 1, (off_t)offset);
}

void writer_expect(struct writer *w, uint64_t bytes)
{
	w->expected = w->header.data.offset + bytes;
}

/* Returns the offset to allocate up to for a write that ends at @end; 0: not worth a call. */
static uint64_t ahead_of(const struct writer *w, uint64_t end)
{
	uint64_t ahead = (end / AHEAD + 1) * AHEAD;

	if (w->expected && ahead > w->expected)
		ahead = w->expected;
	return ahead > end ? ahead : 0;
}

/* Allocates ahead, but not for a small file. Ignores failure: the write will report a full disk. */
static void ask_ahead(struct writer *w, uint64_t offset, size_t len)
{
	uint64_t end = offset + len, from = offset > w->ahead ? offset : w->ahead;
	struct statfs fs;

	uint64_t ahead = ahead_of(w, end);

	if (w->form->sequential || w->not_ahead || end <= AHEAD || end <= w->ahead || !ahead)
		return;
	if (!w->ahead && (fstatfs(w->fd, &fs) || fs.f_type != EXT4_SUPER_MAGIC)) {
		w->not_ahead = true;
		return;
	}
	/* A failed call may still have allocated blocks. */
	w->ahead = ahead;
	w->not_ahead =
		fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(w->ahead - from)) &&
		errno != EINTR;
}

/* --- at once -----------------------------------------------------------------------------------
 */

/* Returns how many of the @len bytes behind pos - out.len to write now; the rest can wait. */
static size_t to_write(const struct writer *w, size_t len, bool now)
{
	size_t over = w->form->sequential || now ? 0 : (w->pos - w->out.len + len) % OUT_ALIGN;

	return over < len ? len - over : 0;
}

/* Shortens @iov to its first @len bytes. */
static void iov_cut(struct iovec *iov, int n, size_t len)
{
	for (int i = 0; i < n; i++) {
		iov[i].iov_len = iov[i].iov_len < len ? iov[i].iov_len : len;
		len -= iov[i].iov_len;
	}
}

/* Removes the first @at bytes of @out with @iov behind it, and keeps the rest in @out. */
static void gather(struct buf *out, const struct iovec *iov, int n, size_t at)
{
	size_t kept = out->len > at ? out->len - at : 0;

	if (at && kept)
		memmove(out->data, out->data + at, kept);
	at -= out->len - kept;
	out->len = kept;
	for (int i = 0; i < n; i++) {
		size_t skip = iov[i].iov_len < at ? iov[i].iov_len : at;

		buf_append(out, (const uint8_t *)iov[i].iov_base + skip, iov[i].iov_len - skip);
		at -= skip;
	}
}

static int sync_put(struct writer *w, const struct iovec *iov, int n, bool now)
{
	struct iovec all[3] = {{w->out.data, w->out.len}};
	size_t len = 0, write = 0;
	int rc;

	for (int i = 0; i < n; i++) {
		len += iov[i].iov_len;
		all[i + 1] = iov[i];
	}
	if (now || len >= OUT_COPY || w->out.len + len > WRITER_OUT_MAX)
		write = to_write(w, w->out.len + len, now);
	/* Reserves before the write: nothing may fail behind it. */
	if (write < w->out.len + len) {
		rc = buf_reserve(&w->out, len < OUT_COPY ? len : OUT_COPY);
		if (rc)
			return rc;
		all[0].iov_base = w->out.data;
	}
	if (write) {
		w->failed_at = w->pos - w->out.len;
		ask_ahead(w, w->failed_at, write);
		iov_cut(all, n + 1, write);
		rc = writer_io_all(&w->io, w->fd, all, n + 1,
				   w->form->sequential ? -1 : (off_t)(w->pos - w->out.len));
		if (rc)
			return rc;
	}
	gather(&w->out, iov, n, write);
	return 0;
}

/* --- in flight ---------------------------------------------------------------------------------
 */

/* Takes all completions; with @wait at least one. Returns 0 or the first failure. */
static int take_done(struct writer *w, bool wait)
{
	struct writer_async *a = w->async;
	struct aio_completion done;
	int rc, failure = 0;

	while ((rc = aio_reap(a->aio, wait, &done)) == 1) {
		struct out_buffer *b = done.cookie;

		b->state = done.result ? FAILED : IDLE;
		if (done.result && (!failure || b->offset < w->failed_at)) {
			failure = done.result;
			w->failed_at = b->offset;
		}
		wait = false;
	}
	a->broken = rc < 0;
	return rc < 0 ? rc : failure;
}

static int wait_all(struct writer *w)
{
	int failure = 0, rc;

	while (aio_pending(w->async->aio) && !w->async->broken) {
		rc = take_done(w, true);
		failure = failure ? failure : rc;
	}
	return failure;
}

/* Submits @b. If too many are in flight, waits for one, and returns its failure. */
static int buffer_send(struct writer *w, struct out_buffer *b)
{
	struct writer_async *a = w->async;
	int rc;

	ask_ahead(w, b->offset, b->len);
	while (aio_submit(a->aio, w->fd, b->data, b->len,
			  w->form->sequential ? AIO_STREAM : (off_t)b->offset, b) == -EBUSY) {
		rc = take_done(w, true);
		if (rc)
			return rc;
	}
	b->state = FLYING;
	if (b == a->filling)
		a->filling = NULL;
	return 0;
}

/* Submits again the buffers whose failure earlier calls have returned. */
static int send_failed(struct writer *w)
{
	struct writer_async *a = w->async;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < a->nr && !rc; i++) {
		if (a->buffers[i].state == FAILED)
			rc = buffer_send(w, &a->buffers[i]);
	}
	return rc;
}

/* Begins to fill a buffer at offset @at. It ends where the next one begins aligned. */
static int next_buffer(struct writer *w, uint64_t at)
{
	struct writer_async *a = w->async;
	unsigned int i = 0;
	int rc;

	while (a->buffers[i].state != IDLE) {
		if (++i < a->nr)
			continue;
		rc = take_done(w, true);
		if (rc)
			return rc;
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
	int rc = 0;

	while (left) {
		struct out_buffer *b = a->filling;

		if (b && b->len == b->end)
			rc = buffer_send(w, b);
		if (!rc && !a->filling)
			rc = next_buffer(w, *at);
		if (rc)
			return rc;
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
 * Forgets the bytes from pos on. Some may be in the file, where readers do not see them and later
 * writes overwrite them.
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

uint64_t writer_out_give_up(struct writer *w)
{
	struct writer_async *a = w->async;
	uint64_t end = w->pos;

	wait_all(w);
	for (unsigned int i = 0; i < a->nr; i++) {
		struct out_buffer *b = &a->buffers[i];

		if (b->state != IDLE && b->len && b->offset < end)
			end = b->offset;
		b->state = IDLE;
	}
	a->filling = NULL;
	return end;
}

static int async_append(struct writer *w, const struct iovec *iov, int n)
{
	struct writer_async *a = w->async;
	uint64_t at = w->pos;
	int i, rc = take_done(w, false);

	if (!rc)
		rc = send_failed(w);
	for (i = 0; i < n && !rc; i++)
		rc = fill(w, &iov[i], &at);
	if (rc) {
		uint64_t failed_at = w->failed_at;

		roll_back(w);
		w->failed_at = failed_at;
		return rc;
	}
	/* Submits a full buffer at once if that needs no waiting. */
	if (a->filling && a->filling->len == a->filling->end && aio_pending(a->aio) + 1 < a->nr)
		buffer_send(w, a->filling);
	return 0;
}

static int async_put(struct writer *w, const struct iovec *iov, int n, bool now)
{
	struct writer_async *a = w->async;
	int rc = n ? async_append(w, iov, n) : 0, late;

	if (!now || rc)
		return rc;
	rc = send_failed(w);
	if (!rc && a->filling)
		rc = buffer_send(w, a->filling);
	late = wait_all(w);
	return rc ? rc : late;
}

/* --- either ------------------------------------------------------------------------------------
 */

int writer_put(struct writer *w, const struct iovec *iov, int n, bool now)
{
	int i, rc;

	if (w->broken)
		return w->broken;
	/* With a patience, writes are synchronous: a write in flight could not be ended. */
	rc = w->async && !w->io.patience ? async_put(w, iov, n, now) : sync_put(w, iov, n, now);
	if (rc && w->form->sequential)
		w->broken = rc;
	for (i = 0; i < n && !rc; i++)
		w->pos += iov[i].iov_len;
	return rc;
}

int writer_persist(struct writer *w, struct error *err)
{
	/* Writes everything: an asynchronous writer gathers in buffers of its own. */
	int rc = !w->io.patience ? 0 : writer_put(w, NULL, 0, true);

	if (rc)
		return writer_fail(w, rc, NULL, err);
	w->io.patience = NULL;
	return 0;
}

void writer_forget(struct writer *w)
{
	w->out.len = 0;
	if (w->async)
		roll_back(w);
}

static int new_engine(const struct writer *w, unsigned int depth, struct aio **ret,
		      struct error *err)
{
	int rc;

	if (!w->io.engine)
		return aio_new(AIO_AUTOMATIC, depth, ret, err);
	rc = aio_new_engine(w->io.engine, w->io.arg, depth, ret);
	return rc ? error_sys(err, rc, "asynchronous writing") : 0;
}

int writer_async(struct writer *w, unsigned int depth, size_t size, struct error *err)
{
	struct writer_async *a = NULL;
	unsigned int i;
	size_t bytes;
	int rc = -EINVAL;

	if (!w->async && depth && depth <= AIO_DEPTH_MAX && size)
		rc = writer_put(w, NULL, 0, true);
	if (rc)
		return writer_fail(w, rc, NULL, err);
	if (!__builtin_mul_overflow(depth + 1, size, &bytes))
		a = calloc(1, sizeof(*a) + (depth + 1) * sizeof(a->buffers[0]));
	if (!a)
		return error_set(err, -ENOMEM, "out of memory");
	a->memory = malloc(bytes);
	rc = a->memory ? new_engine(w, depth, &a->aio, err)
		       : error_set(err, -ENOMEM, "no memory for %u buffers of %zu KB", depth + 1,
				   size / 1024);
	if (rc) {
		free(a->memory);
		free(a);
		return rc;
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
