// SPDX-License-Identifier: Apache-2.0
/* Shared by all forms of the output. The forms differ through struct writer_form. */
#include "data/writer/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/writer/writer_priv.h"

/* Moves the bytes that belong where the table stands from the front of @iov to held. */
static int hold(struct writer *w, struct iovec *iov, int n)
{
	uint64_t table_end = w->visible + w->table.len;
	uint64_t at = w->pos;
	size_t take;
	int i, rc = 0;

	if (w->held.len < w->table.len)
		rc = buf_reserve(&w->held, w->table.len - w->held.len);
	if (rc)
		return rc;
	for (i = 0; i < n && at < table_end; i++) {
		take = iov[i].iov_len;
		if (take > table_end - at)
			take = table_end - at;
		buf_append(&w->held, iov[i].iov_base, take);
		iov[i].iov_base = (char *)iov[i].iov_base + take;
		iov[i].iov_len -= take;
		at += take;
	}
	return 0;
}

int writer_append(struct writer *w, const void *a, size_t a_len, const void *b, size_t b_len,
		  struct error *err)
{
	struct iovec iov[2] = {{(void *)(uintptr_t)a, a_len}, {(void *)(uintptr_t)b, b_len}};
	size_t held = w->held.len;
	int rc;

	w->held_failed = 0;
	if (w->finished)
		return error_set(err, -EINVAL, "%s: the writer has finished it already", w->path);
	rc = hold(w, iov, 2);
	w->pos += w->held.len - held;
	if (!rc)
		rc = writer_put(w, iov, 2, false);
	if (rc) {
		w->held_failed = w->held.len;
		w->pos -= w->held.len - held;
		w->held.len = held;
		return writer_fail(w, rc, NULL, err);
	}
	return 0;
}

int writer_flush(struct writer *w, struct error *err)
{
	int rc;

	if (writer_is_truncated(w))
		return error_set(err, -ESTALE,
				 "%s: another program has truncated it; its samples are lost",
				 w->path);
	rc = w->form->flush(w);
	return rc ? writer_fail(w, rc, NULL, err) : 0;
}

static int check_features(const struct writer_feature *features, size_t nr_features,
			  struct error *err)
{
	size_t i;

	for (i = 0; i < nr_features; i++) {
		unsigned int f = features[i].feature;

		if (f <= HEADER_RESERVED || f >= HEADER_FEAT_BITS)
			return error_set(err, -EINVAL, "%u is no feature of a header", f);
	}
	return 0;
}

static int create(const struct writer_form *form, const char *path, const struct pd_evlist *list,
		  const struct writer_feature *features, size_t nr_features,
		  const struct writer_io *io, struct writer **ret, struct error *err)
{
	struct writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->form = form;
	w->io = *io;
	if (!form->sequential)
		w->io.patience = NULL;
	w->fd = -1;
	w->path = strdup(form->sequential ? "standard output" : path);
	if (!w->path || buf_reserve(&w->out, WRITER_OUT_MAX))
		rc = error_set(err, -ENOMEM, "out of memory");
	else
		rc = form->open(w, err);
	if (!rc)
		rc = form->begin(w, list, features, nr_features, err);
	if (!rc) {
		*ret = w;
		return 0;
	}
	if (w->fd >= 0 && !form->sequential)
		unlink(path); /* created just now, and holds nothing */
	writer_close(w);
	return rc;
}

int writer_create_io(const char *path, const struct pd_evlist *list,
		     const struct writer_feature *features, size_t nr_features,
		     const struct writer_io *io, struct writer **ret, struct error *err)
{
	bool stream = !strcmp(path, "-");
	int rc = check_features(features, nr_features, err);

	return rc ? rc
		  : create(stream ? &writer_form_stream : &writer_form_file, path, list, features,
			   nr_features, io, ret, err);
}

int writer_create(const char *path, const struct pd_evlist *list,
		  const struct writer_feature *features, size_t nr_features, struct writer **ret,
		  struct error *err)
{
	return writer_create_io(path, list, features, nr_features, &writer_io_system, ret, err);
}

int writer_create_stream(const struct pd_evlist *list, const struct writer_feature *features,
			 size_t nr_features, struct writer_patience *patience, struct writer **ret,
			 struct error *err)
{
	struct writer_io io = writer_io_system;

	io.patience = patience;
	return writer_create_io("-", list, features, nr_features, &io, ret, err);
}

int writer_create_plain(const char *path, struct writer **ret, struct error *err)
{
	return create(&writer_form_part, path, NULL, NULL, 0, &writer_io_system, ret, err);
}

uint64_t writer_size(const struct writer *w)
{
	return w->pos > w->file_end ? w->pos : w->file_end;
}

bool writer_is_stream(const struct writer *w)
{
	return w->form->sequential;
}

uint64_t writer_position(const struct writer *w)
{
	return w->form->sequential ? 0 : w->pos;
}

uint64_t writer_data_size(const struct writer *w)
{
	return w->pos - w->header.data.offset;
}

int writer_finish(struct writer *w, const struct writer_feature *features, size_t nr_features,
		  struct error *err)
{
	int rc;

	if (w->finished)
		return error_set(err, -EINVAL, "%s: the writer has finished it already", w->path);
	rc = check_features(features, nr_features, err);
	if (rc)
		return rc;
	rc = writer_flush(w, err);
	if (!rc)
		rc = w->form->finish(w, features, nr_features, err);
	if (!rc)
		w->finished = true;
	return rc;
}

/* Frees the blocks that were allocated ahead: truncating a file to its own size frees them. */
static void give_back_ahead(const struct writer *w)
{
	struct stat st;

	if (w->ahead && !fstat(w->fd, &st) && ftruncate(w->fd, st.st_size))
		return; /* unused blocks do no harm */
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	writer_out_release(w);
	give_back_ahead(w);
	if (w->fd >= 0 && !w->form->sequential)
		close(w->fd);
	buf_release(&w->table);
	buf_release(&w->held);
	free(w->path);
	free(w);
}
