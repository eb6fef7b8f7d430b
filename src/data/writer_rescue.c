// SPDX-License-Identifier: Apache-2.0
/*
 * What can be had of a file that cannot grow any more.
 *
 * Behind the last flush the file holds a part of what was appended: the writes that succeeded, and
 * the front of the one that failed. Its end is the file's, since the file is written from front to
 * back (with writes in flight it is not, and there is no rescue). The records there are walked once
 * more, and made visible up to the last whole one behind which there is room for the table; the
 * blocks that this overwrites exist.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/writer_priv.h"

/* More than the table is behind the data: the resume record (writer.c). */
#define TAIL_BESIDE_TABLE 64

#define WINDOW ((size_t)64 << 10)

struct walk {
	const struct writer *w;
	uint64_t table_end;   /* what belongs before it is in held, the rest in the file */
	uint64_t from, to;    /* the part of the file in @window */
	uint8_t *window;      /* WINDOW bytes */
	uint64_t at, samples; /* where the walk stands, and what it has passed */
};

/* Bytes from @at on in memory, at least @len unless they are not there (NULL). */
static const uint8_t *walk_look(struct walk *walk, uint64_t at, size_t len)
{
	const struct writer *w = walk->w;
	ssize_t n;

	if (at < walk->table_end)
		return at + len <= w->visible + w->held.len ? w->held.data + (at - w->visible)
							    : NULL;
	if (at < walk->from || at + len > walk->to) {
		n = pread(w->fd, walk->window, WINDOW, (off_t)at);
		walk->from = at;
		walk->to = at + (uint64_t)(n > 0 ? n : 0);
	}
	return at + len <= walk->to ? walk->window + (at - walk->from) : NULL;
}

/* Goes to the last boundary of records that is not behind @end. */
static void walk_records(struct walk *walk, uint64_t end)
{
	struct perf_event_header hdr;
	const uint8_t *p;

	walk->at = walk->w->visible;
	walk->samples = 0;
	while (walk->at + sizeof(hdr) <= end && (p = walk_look(walk, walk->at, sizeof(hdr)))) {
		memcpy(&hdr, p, sizeof(hdr));
		if (hdr.size < sizeof(hdr) || hdr.size % 8 || walk->at + hdr.size > end)
			break;
		walk->at += hdr.size;
		walk->samples += hdr.type == PERF_RECORD_SAMPLE;
	}
}

/* Where that ends of which there are bytes. */
static uint64_t written_end(const struct writer *w)
{
	uint64_t held_end = w->visible + w->held.len;
	struct stat st;

	if (w->held.len < w->table.len || fstat(w->fd, &st))
		return held_end;
	return (uint64_t)st.st_size > held_end ? (uint64_t)st.st_size : held_end;
}

/* Makes visible what was walked over. On failure all is as of the last flush. */
static int rescue_walked(struct writer *w, const struct walk *walk)
{
	size_t held = walk->at - w->visible;

	w->pos = walk->at;
	w->out.len = 0;
	if (held < w->held.len)
		w->held.len = held;
	return writer_flush(w, NULL);
}

int writer_rescue(struct writer *w, uint64_t *ret_samples)
{
	struct walk walk = {.w = w, .table_end = w->visible + w->table.len};
	size_t held = w->held.len;
	uint64_t end;
	int r;

	if (w->stream || w->plain || w->async || w->finished)
		return -EINVAL;
	if (w->held_failed > w->held.len)
		held = w->held.len = w->held_failed;
	walk.window = malloc(WINDOW);
	if (!walk.window)
		return -ENOMEM;
	end = written_end(w);
	/* In the last block there may be room for the table. */
	walk_records(&walk, end);
	r = rescue_walked(w, &walk);
	if (r && end > w->visible + w->table.len + TAIL_BESIDE_TABLE) {
		w->held.len = held;
		walk_records(&walk, end - w->table.len - TAIL_BESIDE_TABLE);
		r = rescue_walked(w, &walk);
	}
	free(walk.window);
	w->pos = w->visible;
	w->finished = true;
	/* What lies behind is of no use; if it stays, nobody looks there. */
	if (ftruncate(w->fd, (off_t)w->file_end) || r)
		return r;
	*ret_samples = walk.samples;
	return 0;
}
