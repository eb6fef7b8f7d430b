// SPDX-License-Identifier: Apache-2.0
/*
 * The directory part form: records alone (writer_create_plain()).
 *
 * The cover stands where a file with a header has its table. Bytes that belong there are held back;
 * bytes behind it are written at any time and in any order. A flush writes the next cover behind
 * all data, and then replaces this one by the held bytes, in one small write.
 */
#include <errno.h>
#include <unistd.h>

#include "data/file/tail_cover.h"
#include "data/writer/writer_priv.h"

static const struct tail_cover cover = COVER_INIT;

static int part_begin(struct writer *w, const struct pd_evlist *list,
		      const struct writer_feature *features, size_t nr_features, struct error *err)
{
	int rc = buf_append(&w->table, &cover, sizeof(cover));

	/* Reserves now, so that no later call allocates: many threads append at once. */
	if (!rc)
		rc = buf_reserve(&w->held, sizeof(cover));
	if (!rc)
		rc = writer_put_at(w, &cover, sizeof(cover), 0);
	w->file_end = sizeof(cover);
	return rc ? error_sys(err, rc, "%s: cannot write", w->path) : 0;
}

int writer_rest(struct writer *w, bool rests)
{
	const struct perf_event_header hdr = {
		.type = rests ? PERF_RECORD_HEADER_EVENT_TYPE : PERF_RECORD_AUXTRACE,
		.size = sizeof(struct tail_cover),
	};

	if (w->form != &writer_form_part || !w->table.len || w->finished || w->broken)
		return 0;
	if (w->pos != w->visible)
		return -EBUSY;
	return writer_put_at(w, &hdr, sizeof(hdr), w->visible);
}

/* Without room for a cover, ends the file at its last record. Nothing can be appended any more. */
static int end_uncovered(struct writer *w)
{
	w->table.len = 0;
	w->file_end = w->pos;
	return ftruncate(w->fd, (off_t)w->pos) ? -errno : 0;
}

/* Replaces the cover by the held bytes. */
static int uncover(struct writer *w)
{
	int rc = writer_put_at(w, w->held.data, w->held.len, w->visible);

	if (rc)
		return rc;
	w->held.len = 0;
	w->visible = w->pos;
	return 0;
}

static int part_flush_last(struct writer *w)
{
	uint64_t old_end = w->visible + w->table.len;
	int rc;

	if (ftruncate(w->fd, (off_t)(w->pos < old_end ? old_end : w->pos)))
		return -errno;
	rc = uncover(w);
	return rc ? rc : end_uncovered(w);
}

static int part_flush(struct writer *w)
{
	uint64_t old_end = w->visible + w->table.len;
	size_t in_held; /* bytes of the next cover */
	const uint8_t *next = (const uint8_t *)&cover;
	int rc;

	if (w->pos == w->visible)
		return 0;
	rc = writer_put(w, NULL, 0, true);
	if (rc)
		return rc;
	in_held = w->pos < old_end ? old_end - w->pos : 0;
	if (w->table.len) {
		w->file_end = w->pos + sizeof(cover);
		rc = writer_put_at(w, next + in_held, sizeof(cover) - in_held, w->pos + in_held);
		if (rc && (in_held || end_uncovered(w)))
			return rc;
		if (rc) /* no cover would hide a later write that succeeds in part */
			w->broken = rc;
	}
	rc = w->table.len ? buf_append(&w->held, next, in_held) : 0;
	return rc ? rc : uncover(w);
}

static int part_finish(struct writer *w, const struct writer_feature *features, size_t nr_features,
		       struct error *err)
{
	int rc = end_uncovered(w);

	return rc ? writer_fail(w, rc, "cannot truncate it to its size", err) : 0;
}

static int part_put_back(struct writer *w, const struct writer_mark *m)
{
	return writer_put_at(w, m->table.data, m->table.len, m->visible);
}

const struct writer_form writer_form_part = {
	.open = writer_open_new,
	.begin = part_begin,
	.flush = part_flush,
	.flush_last = part_flush_last,
	.finish = part_finish,
	.put_back = part_put_back,
};
