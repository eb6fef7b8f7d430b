// SPDX-License-Identifier: Apache-2.0
/*
 * Saves the data of a file that cannot grow any more.
 *
 * Behind the last flush the file holds a part of the appended bytes: all writes that succeeded, and
 * the front of the one that failed. A synchronous writer writes from front to back, so they end
 * where the file ends. With writes in flight they end where the first of them failed. The rescue
 * walks the records up to there, and makes them visible up to the last whole record that leaves
 * room for the table. The table overwrites only blocks that exist.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/writer/writer_priv.h"

/* The resume record (writer_file.c), which stands before the table. */
#define TAIL_BESIDE_TABLE PD_PASSED_OVER_MIN

/* Returns the end of the appended bytes that are in the file or in held. */
static uint64_t written_end(const struct writer *w)
{
	uint64_t held_end = w->visible + w->held.len;
	struct stat st;

	if (w->held.len < w->table.len || fstat(w->fd, &st))
		return held_end;
	return (uint64_t)st.st_size > held_end ? (uint64_t)st.st_size : held_end;
}

/*
 * Makes the whole records before @end visible. Returns 0, or a negative errno, and the file stays
 * as of the last flush.
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
	if (writer_is_truncated(w))
		return -ESTALE;
	if (!w->async && w->held_failed > w->held.len)
		held = w->held.len = w->held_failed;
	end = w->async ? writer_out_give_up(w) : written_end(w);
	/* The last block of the file may have room for the table. */
	rc = rescue_until(w, end, &found);
	if (rc && end > w->visible + w->table.len + TAIL_BESIDE_TABLE) {
		w->held.len = held;
		rc = rescue_until(w, end - w->table.len - TAIL_BESIDE_TABLE, &found);
	}
	w->pos = w->visible;
	w->finished = true;
	/* Bytes behind the table are of no use, but do no harm. */
	if (ftruncate(w->fd, (off_t)w->file_end))
		rc = rc ? rc : -errno;
	if (!rc)
		*ret = found;
	return rc;
}
