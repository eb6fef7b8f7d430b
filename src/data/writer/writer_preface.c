// SPDX-License-Identifier: Apache-2.0
/*
 * The first record of a file's data. Readers pass over it. It reserves room for records that must
 * be written when the disk is full: most file systems overwrite in place and need no room for that,
 * except those that copy on write.
 */
#include <errno.h>

#include "data/writer/writer_priv.h"

/* Enough records for a recording on 64 CPUs, in at most 16 KB. */
#define PLACES_MAX 256

/* Bytes behind the last record: the filler there is never too short for readers to pass over. */
#define FILLER_MIN PD_PASSED_OVER_MIN

static int put_filler(struct buf *b, size_t len)
{
	const struct perf_event_header filler = {
		.type = PERF_RECORD_HEADER_EVENT_TYPE,
		.size = (uint16_t)len,
	};
	int rc = buf_append(b, &filler, sizeof(filler));

	return rc ? rc : buf_zero(b, len - sizeof(filler));
}

int writer_preface_begin(struct writer *w, const struct pd_evlist *list, struct buf *b)
{
	size_t places = 2;

	for (size_t i = 0; i < pd_evlist_count(list); i++)
		places += pd_evlist_at(list, i)->nr_ids;
	w->preface = (places < PLACES_MAX ? places : PLACES_MAX) * WRITER_PLACE_SIZE;
	return put_filler(b, w->preface + FILLER_MIN);
}

size_t writer_preface_size(const struct writer *w)
{
	return w->preface;
}

int writer_preface(struct writer *w, const void *records, size_t len, struct error *err)
{
	struct buf b = {0};
	int rc;

	if (!w->form->has_header)
		return error_set(err, -ENOTSUP, "%s: only a file's beginning can be replaced",
				 w->path);
	if (writer_is_truncated(w))
		return error_set(err, -ESTALE, "%s: another program has truncated it", w->path);
	if (len > w->preface || len % 8)
		return error_set(err, -EINVAL, "%s: %zu bytes do not fit at its beginning", w->path,
				 len);
	rc = buf_append(&b, records, len);
	if (!rc)
		rc = put_filler(&b, w->preface - len + FILLER_MIN);
	if (!rc)
		rc = writer_put_at(w, b.data, b.len, w->header.data.offset);
	buf_release(&b);
	return rc ? writer_fail(w, rc, NULL, err) : 0;
}
