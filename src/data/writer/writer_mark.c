// SPDX-License-Identifier: Apache-2.0
/*
 * Returns the file to an earlier flush. Its bytes are still there, except the table, where data may
 * stand now. The table is put back as a flush writes the next one: under a header that does without
 * it. All these blocks exist, so no room on the disk is needed.
 */
#include "data/writer/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/writer/writer_priv.h"

int writer_mark_new(const struct writer *w, struct writer_mark **ret)
{
	struct writer_mark *m;

	if (w->form->sequential)
		return -ENOTSUP;
	if (w->pos != w->visible || w->finished || w->broken)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->header = w->header;
	memcpy(m->sections, w->sections, sizeof(m->sections));
	m->visible = w->visible;
	m->file_end = w->file_end;
	if (buf_append(&m->table, w->table.data, w->table.len)) {
		writer_mark_free(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void writer_mark_free(struct writer_mark *m)
{
	if (m)
		buf_release(&m->table);
	free(m);
}

/* Forgets everything appended since the last flush. */
static void forget_appended(struct writer *w, const struct writer_mark *m)
{
	w->pos = m->visible;
	w->held.len = w->held_failed = 0;
	writer_forget(w);
}

int writer_roll_back(struct writer *w, const struct writer_mark *m, struct error *err)
{
	struct buf table = {0};
	int rc = buf_append(&table, m->table.data, m->table.len);

	if (rc)
		return error_set(err, rc, "out of memory");
	forget_appended(w, m);
	rc = w->form->put_back(w, m);
	if (!rc && ftruncate(w->fd, (off_t)m->file_end))
		rc = -errno;
	if (rc) {
		w->broken = rc; /* pos is before the place where a flush would begin */
		buf_release(&table);
		return writer_fail(w, rc, "cannot remove the records written last", err);
	}
	w->header = m->header;
	memcpy(w->sections, m->sections, sizeof(w->sections));
	w->visible = m->visible;
	w->file_end = m->file_end;
	w->broken = 0;
	buf_release(&w->table);
	w->table = table;
	return 0;
}
