// SPDX-License-Identifier: Apache-2.0
/*
 * What can be had of a file that cannot grow any more.
 *
 * Behind the last flush the file holds a part of what was appended: the writes that succeeded, and
 * the front of the one that failed. Its end is the file's, since the file is written from front to
 * back; with writes in flight it is where the first of them has failed. The records there are
 * walked once more, and made visible up to the last whole one behind which there is room for the
 * table; the blocks that this overwrites exist.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/writer/writer_priv.h"

/* More than the table is behind the data: the resume record (writer.c). */
#define TAIL_BESIDE_TABLE PD_PASSED_OVER_MIN

/* Where that ends of which there are bytes. */
static uint64_t written_end(const struct writer *w)
{
	uint64_t held_end = w->visible + w->held.len;
	struct stat st;

	if (w->held.len < w->table.len || fstat(w->fd, &st))
		return held_end;
	return (uint64_t)st.st_size > held_end ? (uint64_t)st.st_size : held_end;
}

/*
 * Makes visible the whole records before @end. Returns 0, or a negative errno, and all is as of the
 * last flush.
 */
static int rescue_until(struct writer *w, uint64_t end, struct writer_rescued *ret)
{
	size_t held;

	w->pos = writer_whole_records(w, end, ret);
	w->out.len = 0;
	held = w->pos - w->visible;
	if (held < w->held.len)
		w->held.len = held;
	return w->form->flush_last(w);
}

int writer_rescue(struct writer *w, struct writer_rescued *ret)
{
	size_t held = w->held.len;
	struct writer_rescued found;
	uint64_t end;
	int rc;

	if (w->form->sequential || w->finished)
		return -EINVAL;
	if (writer_is_cut(w))
		return -ESTALE;
	if (!w->async && w->held_failed > w->held.len)
		held = w->held.len = w->held_failed;
	end = w->async ? writer_out_give_up(w) : written_end(w);
	/* In the last block there may be room for the table. */
	rc = rescue_until(w, end, &found);
	if (rc && end > w->visible + w->table.len + TAIL_BESIDE_TABLE) {
		w->held.len = held;
		rc = rescue_until(w, end - w->table.len - TAIL_BESIDE_TABLE, &found);
	}
	w->pos = w->visible;
	w->finished = true;
	/* What lies behind is of no use; if it stays, nobody looks there. */
	if (ftruncate(w->fd, (off_t)w->file_end))
		rc = rc ? rc : -errno;
	if (!rc)
		*ret = found;
	return rc;
}
