// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/file/file_priv.h"
#include "sys/io/tmpfile.h"
#include "data/order/order_queue.h"

#define RUN_BUFFER (128u << 10) /* holds any block; a run is read in these units */
#define OUT_BUFFER (256u << 10)
#define FAN_IN	   128 /* runs of one level; as many are merged into one of the next level */

_Static_assert(RUN_BUFFER >= QUEUED_MAX, "a run's buffer holds any record");

void spill_init(struct spill *s)
{
	*s = (struct spill){.fd = -1};
}

void spill_release(struct spill *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->runs[i].buf);
	free(s->runs);
	buf_release(&s->out);
	if (s->fd >= 0)
		close(s->fd);
	spill_init(s);
}

static int flush_out(struct spill *s)
{
	size_t done = 0;

	while (done < s->out.len) {
		ssize_t n = pwrite(s->fd, s->out.data + done, s->out.len - done, (off_t)s->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
		s->end += (uint64_t)n;
	}
	s->out.len = 0;
	return 0;
}

static int put(struct spill *s, const struct queued *block)
{
	int rc = s->out.len >= OUT_BUFFER ? flush_out(s) : 0;

	return rc ? rc : buf_append(&s->out, block, block->size);
}

static int refill(struct order_run *run)
{
	size_t left = run->len - run->pos;
	size_t want = RUN_BUFFER - left;
	ssize_t n;

	if (!run->buf) {
		run->buf = malloc(RUN_BUFFER);
		if (!run->buf)
			return -ENOMEM;
	}
	if (left)
		memmove(run->buf, run->buf + run->pos, left);
	if (want > run->end - run->at)
		want = (size_t)(run->end - run->at);
	n = file_read(run->spill->fd, run->buf + left, want, run->at);
	if (n < (ssize_t)want)
		return -EIO;
	run->pos = 0;
	run->len = left + want;
	run->at += want;
	return 0;
}

/* Gets the block at the front of @run, or NULL at its end. */
static int run_peek(struct order_run *run, const struct queued **ret)
{
	size_t left = run->len - run->pos;
	const struct queued *block = NULL;

	if (run->buf)
		block = (const struct queued *)(run->buf + run->pos);
	if (left < sizeof(*block) || left < block->size) {
		int rc;

		if (!left && run->at == run->end) {
			*ret = NULL;
			return 0;
		}
		rc = refill(run);
		if (rc)
			return rc;
		block = (const struct queued *)run->buf;
	}
	*ret = block;
	return 0;
}

static int run_next(void *ctx, const struct queued **ret)
{
	struct order_run *run = ctx;
	int rc = run_peek(run, ret);

	if (rc)
		return rc;
	run->pos += (*ret)->size;
	rc = run_peek(run, ret);
	if (!rc && !*ret) {
		free(run->buf);
		run->buf = NULL;
		run->pos = run->len = 0;
	}
	return rc;
}

static int add_inputs(struct spill *s, size_t from, struct merger *m)
{
	for (size_t i = from; i < s->nr; i++) {
		struct merge_input in = {NULL, run_next, &s->runs[i]};
		int rc = run_peek(&s->runs[i], &in.head);

		if (!rc)
			rc = merger_add(m, in);
		if (rc)
			return rc;
	}
	return 0;
}

int spill_inputs(struct spill *s, struct merger *m)
{
	return add_inputs(s, 0, m);
}

/* Appends the run that was written since @begin. */
static int add_run(struct spill *s, uint64_t begin, unsigned int level)
{
	int rc = flush_out(s);

	if (!rc)
		rc = array_grow(&s->runs, &s->cap, s->nr + 1, sizeof(*s->runs));
	if (rc)
		return rc;
	s->runs[s->nr++] =
		(struct order_run){.spill = s, .at = begin, .end = s->end, .level = level};
	return 0;
}

/* Drops the runs from index @from on, and frees their space on disk, [@begin, @end). */
static void drop_runs(struct spill *s, size_t from, uint64_t begin, uint64_t end)
{
	for (size_t i = from; i < s->nr; i++)
		free(s->runs[i].buf);
	s->nr = from;
	/* Not all file systems can; there the file is larger for a while. */
	(void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
			 (off_t)(end - begin));
}

/* Merges the runs from index @from on into one of the next level. */
static int merge_runs(struct spill *s, size_t from, unsigned int level)
{
	struct merger m = {0};
	uint64_t first = s->runs[from].at - (s->runs[from].len - s->runs[from].pos);
	uint64_t begin = s->end;
	int rc = add_inputs(s, from, &m);

	while (!rc && merger_top(&m)) {
		rc = put(s, merger_top(&m));
		if (!rc)
			rc = merger_advance(&m);
	}
	merger_release(&m);
	if (rc)
		return rc;
	drop_runs(s, from, first, begin);
	return add_run(s, begin, level + 1);
}

/* While the last FAN_IN runs have one level, merges them. */
static int merge_levels(struct spill *s)
{
	for (;;) {
		unsigned int level = s->runs[s->nr - 1].level;
		size_t from = s->nr;
		int rc;

		while (from && s->runs[from - 1].level == level)
			from--;
		if (s->nr - from < FAN_IN)
			return 0;
		rc = merge_runs(s, from, level);
		if (rc)
			return rc;
	}
}

int spill_queue(struct spill *s, struct queue *q, struct error *err)
{
	const struct queued *block;
	uint64_t begin;
	int rc;

	if (s->fd < 0) {
		s->fd = tmpfile_open(err);
		if (s->fd < 0)
			return s->fd;
	}
	begin = s->end;
	rc = queue_sort(q);
	while (!rc && (block = queue_peek(q))) {
		rc = put(s, block);
		queue_pop(q);
	}
	if (!rc)
		rc = add_run(s, begin, 0);
	if (!rc)
		rc = merge_levels(s);
	if (rc)
		return error_sys(err, rc,
				 "sorting in a temporary file (set TMPDIR to a larger disk)");
	queue_clear(q);
	return 0;
}
