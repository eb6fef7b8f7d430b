// SPDX-License-Identifier: Apache-2.0
/*
 * The file form, and what both forms share.
 *
 * The table of feature sections must stand right behind the data, so more data means that the
 * bytes of the table that readers use now must become data: no order of writes alone makes that
 * safe. Between the two there is therefore a header without this table:
 *
 *   1. everything behind the old table: data, and the new table as far as it lies there;
 *   2. a header that does not need the old table (below);
 *   3. the bytes where the old table stood;
 *   4. the header with the new size and features.
 *
 * The header of step 2 says that there are no features. That is no loss for any reader but in three
 * cases: perf refuses a file with tracepoints when TRACING_DATA is missing, cannot decompress
 * without COMPRESSED, and does not look for data.N without DIR_FORMAT. Such files get a resume
 * record at the end of the visible data, whose bytes are at the same time a table: of a feature 0
 * (reserved; readers skip it), the offset of which is the record's own header, and of these three,
 * as far as the file has them. The header of step 2 then ends the data before that record. As a
 * record its type is HEADER_EVENT_TYPE, which readers pass over, and what follows the table in it
 * makes it as long as they want it (PD_PASSED_OVER_MIN). Every file begins with one
 * (writer_preface.c).
 */
#include "data/writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/writer/output_backup.h"
#include "data/writer/writer_priv.h"

/* What perf cannot do without, in the order of the bits. */
static const unsigned int vital[] = {HEADER_TRACING_DATA, HEADER_DIR_FORMAT, HEADER_COMPRESSED};

#define VITAL (sizeof(vital) / sizeof(vital[0]))

struct resume_record {
	struct perf_event_header hdr; /* as a table: the offset of feature 0 … */
	uint64_t zero;		      /* … and its size */
	struct pd_section vital[VITAL];
	uint64_t rest[2];
};

_Static_assert(sizeof(struct resume_record) == PD_PASSED_OVER_MIN, "perf passes over it");

static bool feature_has(const uint64_t features[4], unsigned int feature)
{
	return features[feature / 64] >> feature % 64 & 1;
}

static void feature_mark(uint64_t features[4], unsigned int feature)
{
	features[feature / 64] |= 1ULL << feature % 64;
}

/* Bytes of the resume record for these features; 0: there is none. */
static size_t resume_size(const uint64_t features[4])
{
	for (size_t i = 0; i < VITAL; i++)
		if (feature_has(features, vital[i]))
			return sizeof(struct resume_record);
	return 0;
}

int writer_fail(const struct writer *w, int rc, const char *what, struct error *err)
{
	char text[64];

	if (rc == -EPIPE)
		return error_set(err, rc, "%s: whoever read it has closed it; recording ends",
				 w->path);
	if (rc == -EINTR && w->io.patience)
		return error_set(err, rc, "%s: whoever reads it takes nothing; recording ends",
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

/* Moves what belongs where the table stands from the front of @iov to held. */
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
	int rc = 0;

	w->held_failed = 0;
	if (w->finished)
		return error_set(err, -EINVAL, "%s: is finished already", w->path);
	if (!w->stream) {
		rc = hold(w, iov, 2);
		w->pos += w->held.len - held;
	}
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

/* What a flush is about to make true; becomes part of the writer when it has. */
struct next {
	struct pd_header header;
	struct pd_section sections[HEADER_FEAT_BITS];
	uint64_t visible;
	struct buf tail; /* what follows the data appended: resume record, table, late contents */
	size_t table_at, table_len; /* in tail */
};

/* Puts resume record, table and the contents of @features into the tail. */
static int next_plan(const struct writer *w, const struct writer_feature *features,
		     size_t nr_features, struct next *n)
{
	struct pd_header *h = &n->header;
	struct resume_record resume = {.hdr.type = PERF_RECORD_HEADER_EVENT_TYPE};
	uint64_t offset;
	size_t nr_vital = 0;
	size_t i;
	unsigned int f;
	int rc = 0;

	for (i = 0; i < nr_features; i++)
		feature_mark(h->features, features[i].feature);
	if (!nr_features)
		n->table_at = resume_size(h->features);
	n->visible = w->pos + n->table_at;
	for (i = 0; i < 4; i++)
		n->table_len +=
			(size_t)__builtin_popcountll(h->features[i]) * sizeof(n->sections[0]);
	offset = n->visible + n->table_len;
	for (i = 0; i < nr_features; i++) {
		n->sections[features[i].feature] = (struct pd_section){offset, features[i].len};
		offset += features[i].len;
	}

	h->data.size = n->visible - h->data.offset;
	resume.hdr.size = (uint16_t)n->table_at;
	for (i = 0; i < VITAL; i++)
		if (feature_has(h->features, vital[i]))
			resume.vital[nr_vital++] = n->sections[vital[i]];
	rc = buf_append(&n->tail, &resume, n->table_at);
	for (f = 0; f < HEADER_FEAT_BITS && !rc; f++) {
		if (feature_has(h->features, f))
			rc = buf_append(&n->tail, &n->sections[f], sizeof(n->sections[f]));
	}
	for (i = 0; i < nr_features && !rc; i++)
		rc = buf_append(&n->tail, features[i].data, features[i].len);
	return rc;
}

struct pd_header writer_header_between(const struct pd_header *now)
{
	struct pd_header h = *now;

	memset(h.features, 0, sizeof(h.features));
	h.data.size -= resume_size(now->features);
	for (size_t i = 0; i < VITAL; i++) {
		if (!feature_has(now->features, vital[i]))
			continue;
		feature_mark(h.features, HEADER_RESERVED);
		feature_mark(h.features, vital[i]);
	}
	return h;
}

/* Steps 2 to 4. @held is what will stand where the old table does. */
static int switch_over(struct writer *w, const struct buf *held, const struct pd_header *header)
{
	struct pd_header between = writer_header_between(&w->header);
	int rc;

	if (!held->len)
		return writer_put_at(w, header, sizeof(*header), 0);
	rc = writer_put_at(w, &between, sizeof(between), 0);
	if (!rc)
		rc = writer_put_at(w, held->data, held->len, w->visible);
	if (!rc)
		rc = writer_put_at(w, header, sizeof(*header), 0);
	if (!rc)
		return 0;
	/* These blocks exist, so a full disk is no hindrance; a broken one may be. */
	if (!writer_put_at(w, w->table.data, w->table.len, w->visible))
		writer_put_at(w, &w->header, sizeof(w->header), 0);
	return rc;
}

static int next_write(struct writer *w, const struct next *n)
{
	uint64_t table_end = w->visible + w->table.len;
	struct buf held = {0};
	size_t in_held = 0; /* bytes of the tail that lie where the old table stands */
	int rc;

	if (w->pos < table_end)
		in_held = table_end - w->pos;
	if (in_held > n->tail.len)
		in_held = n->tail.len;
	rc = writer_put(w, NULL, 0, true);
	if (!rc)
		rc = writer_put_at(w, n->tail.data + in_held, n->tail.len - in_held,
				   w->pos + in_held);
	if (!rc)
		rc = buf_append(&held, w->held.data, w->held.len);
	if (!rc)
		rc = buf_append(&held, n->tail.data, in_held);
	if (!rc)
		rc = switch_over(w, &held, &n->header);
	buf_release(&held);
	return rc;
}

/* Makes visible what was appended, and @features. */
static int commit(struct writer *w, const struct writer_feature *features, size_t nr_features)
{
	struct next n = {.header = w->header};
	struct buf table = {0};
	int rc;

	memcpy(n.sections, w->sections, sizeof(n.sections));
	rc = next_plan(w, features, nr_features, &n);
	if (!rc)
		rc = buf_append(&table, n.tail.data + n.table_at, n.table_len);
	if (!rc)
		rc = next_write(w, &n);
	if (rc)
		goto out;
	w->header = n.header;
	memcpy(w->sections, n.sections, sizeof(w->sections));
	w->visible = n.visible;
	w->file_end = w->pos + n.tail.len;
	w->pos = n.visible;
	w->held.len = 0;
	buf_release(&w->table);
	w->table = table;
	table = (struct buf){0};
out:
	buf_release(&table);
	buf_release(&n.tail);
	return rc;
}

int writer_flush(struct writer *w, struct error *err)
{
	int rc = 0;

	if (writer_is_cut(w))
		return error_set(err, -ESTALE,
				 "%s: another program has truncated it: what was recorded in it "
				 "is lost",
				 w->path);
	if (w->stream)
		rc = writer_put(w, NULL, 0, true);
	else if (w->pos != w->visible)
		rc = w->plain ? plain_commit(w) : commit(w, NULL, 0);
	return rc ? writer_fail(w, rc, NULL, err) : 0;
}

/* Ids of all events, then the events, each with the section of its ids. */
static int begin_events(const struct pd_evlist *list, struct buf *b, struct pd_header *h)
{
	size_t i, count = pd_evlist_count(list);
	uint64_t at = b->len;
	uint32_t size = PD_ATTR_SIZE_VER0;
	int rc = 0;

	for (i = 0; i < count && !rc; i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);
		uint32_t need = pd_attr_wire_size(&evsel->attr);

		size = need > size ? need : size;
		rc = buf_append(b, evsel->ids, evsel->nr_ids * sizeof(uint64_t));
	}
	h->attr_size = size + sizeof(struct pd_section);
	h->attrs = (struct pd_section){b->len, count * h->attr_size};
	for (i = 0; i < count && !rc; i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);
		struct pd_section ids = {at, evsel->nr_ids * sizeof(uint64_t)};
		struct pd_attr attr = evsel->attr;

		attr.size = size;
		at += ids.size;
		rc = buf_append(b, &attr, size);
		if (!rc)
			rc = buf_append(b, &ids, sizeof(ids));
	}
	return rc;
}

/* Everything in front of the data, and the first table. The header proper goes last. */
static int file_begin(struct writer *w, const struct pd_evlist *list,
		      const struct writer_feature *features, size_t nr_features, struct error *err)
{
	struct pd_header h = {.magic = PD_MAGIC, .size = sizeof(h)};
	struct buf b = {0};
	size_t i;
	int rc;

	rc = buf_zero(&b, sizeof(h));
	if (!rc)
		rc = begin_events(list, &b, &h);
	for (i = 0; i < nr_features && !rc; i++) {
		feature_mark(h.features, features[i].feature);
		w->sections[features[i].feature] = (struct pd_section){b.len, features[i].len};
		rc = buf_append(&b, features[i].data, features[i].len);
		if (!rc)
			rc = buf_zero(&b, -b.len & 7);
	}
	/* Readers take a size of 0 for an unfinished file and the table for records: it never is 0.
	 */
	h.data.offset = b.len;
	if (!rc)
		rc = preface_begin(w, list, &b);
	if (!rc)
		rc = writer_put_at(w, b.data + sizeof(h), b.len - sizeof(h), sizeof(h));
	if (!rc) {
		w->header = h;
		w->pos = w->visible = w->file_end = b.len;
		rc = commit(w, NULL, 0);
	}
	buf_release(&b);
	return rc ? error_sys(err, rc, "%s: cannot write its header", w->path) : 0;
}

static int open_file(struct writer *w, struct error *err)
{
	w->fd = open(w->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return error_sys(err, -errno, "%s: cannot create it", w->path);
	return 0;
}

static int open_stream(struct writer *w, struct error *err)
{
	int flags;

	w->fd = w->io.stream_fd;
	w->stream = true;
	flags = fcntl(w->fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(err, -EBADF,
				 "standard output is closed or cannot be written to; redirect it, "
				 "or name a file (-o)");
	if (isatty(w->fd))
		return error_set(err, -EINVAL,
				 "standard output is a terminal; redirect it, or name a file (-o)");
	return 0;
}

static int check_features(const struct writer_feature *features, size_t nr_features,
			  struct error *err)
{
	size_t i;

	for (i = 0; i < nr_features; i++) {
		unsigned int f = features[i].feature;

		if (f <= HEADER_RESERVED || f >= HEADER_FEAT_BITS)
			return error_set(err, -EINVAL, "there is no feature %u", f);
	}
	return 0;
}

int writer_create_io(const char *path, const struct pd_evlist *list,
		     const struct writer_feature *features, size_t nr_features,
		     const struct writer_io *io, struct writer **ret, struct error *err)
{
	bool stream = !strcmp(path, "-");
	struct writer *w;
	int rc;

	rc = check_features(features, nr_features, err);
	if (rc)
		return rc;
	w = calloc(1, sizeof(*w));
	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->io = *io;
	if (!stream)
		w->io.patience = NULL;
	w->fd = -1;
	w->path = strdup(stream ? "standard output" : path);
	if (!w->path || buf_reserve(&w->out, WRITER_OUT_MAX)) {
		rc = error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	rc = stream ? 0 : output_backup_keep(w->path, err);
	if (!rc)
		rc = stream ? open_stream(w, err) : open_file(w, err);
	if (rc)
		goto fail;
	if (stream)
		rc = stream_begin(w, list, features, nr_features, err);
	else
		rc = file_begin(w, list, features, nr_features, err);
	if (rc)
		goto fail;
	*ret = w;
	return 0;
fail:
	if (w->fd >= 0 && !stream)
		unlink(path); /* made by us just now, and of no use to anyone */
	writer_close(w);
	return rc;
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
	struct writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->io = writer_io_system;
	w->fd = -1;
	w->plain = true;
	w->path = strdup(path);
	if (!w->path || buf_reserve(&w->out, WRITER_OUT_MAX)) {
		rc = error_set(err, -ENOMEM, "out of memory");
	} else {
		rc = open_file(w, err);
		if (!rc && (rc = plain_begin(w)))
			error_sys(err, rc, "%s: cannot write", path);
	}
	if (rc && w->fd >= 0)
		unlink(path); /* as above */
	if (rc)
		writer_close(w);
	else
		*ret = w;
	return rc;
}

int writer_replace(struct writer *w, unsigned int feature, const void *data, size_t len,
		   struct error *err)
{
	const struct pd_section *section = &w->sections[feature];
	int rc;

	if (w->stream || w->plain || section->size != len ||
	    !feature_has(w->header.features, feature))
		return error_set(err, -EINVAL, "%s: feature %u has no %zu bytes", w->path, feature,
				 len);
	rc = writer_put_at(w, data, len, section->offset);
	return rc ? writer_fail(w, rc, NULL, err) : 0;
}

uint64_t writer_size(const struct writer *w)
{
	return w->pos > w->file_end ? w->pos : w->file_end;
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
		return error_set(err, -EINVAL, "%s: is finished already", w->path);
	rc = check_features(features, nr_features, err);
	if (rc)
		return rc;
	if (w->stream) {
		rc = stream_features(w, features, nr_features, err);
		if (!rc)
			rc = writer_flush(w, err);
	} else {
		rc = writer_flush(w, err);
		if (!rc && w->plain) {
			rc = plain_end(w, err);
		} else if (!rc && nr_features) {
			rc = commit(w, features, nr_features);
			if (rc)
				writer_fail(w, rc, "cannot write the features", err);
		}
	}
	if (!rc)
		w->finished = true;
	return rc;
}

/* A file cut to the size that it has keeps no blocks behind it. */
static void give_back_ahead(const struct writer *w)
{
	struct stat st;

	if (w->ahead && !fstat(w->fd, &st) && ftruncate(w->fd, st.st_size))
		return; /* they stay, to no harm */
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	writer_out_release(w);
	give_back_ahead(w);
	if (w->fd >= 0 && !w->stream)
		close(w->fd);
	buf_release(&w->table);
	buf_release(&w->held);
	free(w->path);
	free(w);
}
