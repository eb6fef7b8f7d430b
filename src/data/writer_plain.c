// SPDX-License-Identifier: Apache-2.0
/*
 * Files of records alone. The cover stands where a file with a header has its table: bytes that
 * belong there are held back, those behind it are written at any time and in any order, and a flush
 * writes the next cover behind them before it replaces this one, in one small write.
 */
#include <errno.h>
#include <unistd.h>

#include "data/cover.h"
#include "data/writer_priv.h"

static const struct cover cover = {
	.hdr = {.type = PERF_RECORD_AUXTRACE, .size = sizeof(struct cover)},
	.size = COVER_SIZE,
	.reference = COVER_REFERENCE,
	.cpu = UINT32_MAX,
};

static int put_at(struct writer *w, const void *p, size_t len, uint64_t offset)
{
	struct iovec iov = {(void *)(uintptr_t)p, len};

	return writer_io_all(w->io, w->fd, &iov, 1, (off_t)offset);
}

int plain_begin(struct writer *w)
{
	int r = buf_append(&w->table, &cover, sizeof(cover));

	if (!r)
		r = put_at(w, &cover, sizeof(cover), 0);
	w->file_end = sizeof(cover);
	return r;
}

/* What a failed write has left in memory is given up: all of it are whole records. */
static void give_up_rest(struct writer *w)
{
	if (w->async)
		return;
	w->pos -= w->out.len;
	w->out.len = 0;
}

/* There is no room for a cover: the file ends where the records do, and no more can come. */
static int end_uncovered(struct writer *w)
{
	w->table.len = 0;
	w->file_end = w->pos;
	return ftruncate(w->fd, (off_t)w->pos) ? -errno : 0;
}

/*
 * With a full disk what was written before is still made visible. A failed write in flight is
 * tried again by the next call, and nothing is visible before.
 */
int plain_commit(struct writer *w)
{
	uint64_t old_end = w->visible + w->table.len;
	size_t in_held = w->pos < old_end ? old_end - w->pos : 0; /* of the next cover */
	const uint8_t *next = (const uint8_t *)&cover;
	int failed = writer_put(w, NULL, 0, true), r;

	if (failed && w->async)
		return failed;
	if (failed)
		give_up_rest(w);
	if (w->table.len) {
		w->file_end = w->pos + sizeof(cover);
		r = put_at(w, next + in_held, sizeof(cover) - in_held, w->pos + in_held);
		if (r && !in_held && !end_uncovered(w))
			failed = failed ? failed : r;
		else if (r)
			return r;
	}
	r = w->table.len ? buf_append(&w->held, next, in_held) : 0;
	if (!r)
		r = put_at(w, w->held.data, w->held.len, w->visible);
	if (r)
		return r;
	w->held.len = 0;
	w->visible = w->pos;
	return failed;
}

int plain_end(struct writer *w, struct error *err)
{
	int r = end_uncovered(w);

	return r ? writer_fail(w, r, "cannot cut it to its size", err) : 0;
}
