// SPDX-License-Identifier: Apache-2.0
/*
 * The file form: header, data, table of feature sections.
 *
 * The table of feature sections must stand right behind the data, so a flush has to write data over
 * the table that readers use now. No order of writes alone makes that safe. So for a moment the
 * file has a header that does without this table. A flush writes, in this order:
 *
 *   1. everything behind the old table: data, and the new table as far as it lies there;
 *   2. a header that does not need the old table (below);
 *   3. the bytes where the old table stood;
 *   4. the header with the new size and features.
 *
 * The header of step 2 has no features. Only in three cases does a reader need one: perf refuses a
 * file with tracepoints when TRACING_DATA is missing, cannot decompress without COMPRESSED, and
 * does not look for data.N without DIR_FORMAT. Such a file gets a resume record at the end of the
 * visible data. Its bytes are also a table of features: of feature 0 (reserved; readers skip it),
 * whose offset is the record's own header, and of those of the three that the file has. The header
 * of step 2 ends the data before that record and uses this table. As a record it has the type
 * HEADER_EVENT_TYPE, which readers pass over if it is long enough (PD_PASSED_OVER_MIN); zeros
 * behind the table make it so. The data of every file begin with a record of this type
 * (writer_preface.c).
 *
 * A table of symbols of its own has no bit in the header (struct pd_own_section). Its place stands
 * right behind the table of features, and here counts as the last entry of this table.
 */
#include <errno.h>
#include <string.h>

#include "data/writer/output_backup.h"
#include "data/writer/writer_priv.h"
#include "perfdata/feature.h"

/* perf cannot read a recording without these. In the order of the bits. */
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

/* Enters a feature, whose contents have a place later. */
static void feature_add(const struct writer_feature *feature, struct pd_header *h,
			struct pd_section sections[HEADER_FEAT_BITS])
{
	sections[feature->feature] = (struct pd_section){0, feature->len};
	if (feature->feature != HEADER_RINGTAIL_SYMBOLS)
		feature_mark(h->features, feature->feature);
}

static size_t table_size(const struct pd_header *h, const struct pd_section *sections)
{
	size_t size = sections[HEADER_RINGTAIL_SYMBOLS].size ? sizeof(struct pd_own_section) : 0;

	for (size_t i = 0; i < 4; i++)
		size += (size_t)__builtin_popcountll(h->features[i]) * sizeof(*sections);
	return size;
}

static int table_put(struct buf *b, const struct pd_header *h, const struct pd_section *sections)
{
	int rc = 0;

	for (unsigned int f = 0; f < HEADER_FEAT_BITS && !rc; f++) {
		if (feature_has(h->features, f))
			rc = buf_append(b, &sections[f], sizeof(sections[f]));
	}
	if (!rc && sections[HEADER_RINGTAIL_SYMBOLS].size)
		rc = pd_own_section_put(b, sections[HEADER_RINGTAIL_SYMBOLS], false);
	return rc;
}

/* Size of the resume record for these features; 0: they need none. */
static size_t resume_size(const uint64_t features[4])
{
	for (size_t i = 0; i < VITAL; i++)
		if (feature_has(features, vital[i]))
			return sizeof(struct resume_record);
	return 0;
}

/* The writer's state after a flush. It replaces the old state when all is written. */
struct next {
	struct pd_header header;
	struct pd_section sections[HEADER_FEAT_BITS];
	uint64_t visible;
	struct buf tail; /* written behind the data: resume record, table, late contents */
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
	int rc;

	for (i = 0; i < nr_features; i++)
		feature_add(&features[i], h, n->sections);
	if (!nr_features)
		n->table_at = resume_size(h->features);
	n->visible = w->pos + n->table_at;
	n->table_len = table_size(h, n->sections);
	offset = n->visible + n->table_len;
	for (i = 0; i < nr_features; i++) {
		n->sections[features[i].feature].offset = offset;
		offset += features[i].len;
	}

	h->data.size = n->visible - h->data.offset;
	resume.hdr.size = (uint16_t)n->table_at;
	for (i = 0; i < VITAL; i++)
		if (feature_has(h->features, vital[i]))
			resume.vital[nr_vital++] = n->sections[vital[i]];
	rc = buf_append(&n->tail, &resume, n->table_at);
	if (!rc)
		rc = table_put(&n->tail, h, n->sections);
	for (i = 0; i < nr_features && !rc; i++)
		rc = buf_append(&n->tail, features[i].data, features[i].len);
	return rc;
}

/* Returns the header of step 2, for a file whose header is @now. */
static struct pd_header header_between(const struct pd_header *now)
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

/* Steps 2 to 4. @held replaces the old table. */
static int switch_over(struct writer *w, const struct buf *held, const struct pd_header *header)
{
	struct pd_header between = header_between(&w->header);
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
	/*
	 * Restores the old table. Its blocks exist, so this works on a full disk, if not on a
	 * broken one.
	 */
	if (!writer_put_at(w, w->table.data, w->table.len, w->visible))
		writer_put_at(w, &w->header, sizeof(w->header), 0);
	return rc;
}

static int next_write(struct writer *w, const struct next *n)
{
	uint64_t table_end = w->visible + w->table.len;
	struct buf held = {0};
	size_t in_held = 0; /* bytes of the tail that replace a part of the old table */
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

/* Makes the appended bytes and @features visible. */
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

/* Appends the ids of all events, then the events, each with the section of its ids. */
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

/* Writes everything before the data and the first table, and the header last. */
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
		feature_add(&features[i], &h, w->sections);
		w->sections[features[i].feature].offset = b.len;
		rc = buf_append(&b, features[i].data, features[i].len);
		if (!rc)
			rc = buf_zero(&b, -b.len & 7);
	}
	/*
	 * Readers take a size of 0 for an unfinished file, and then the table for records. The
	 * preface makes the data longer than 0.
	 */
	h.data.offset = b.len;
	if (!rc)
		rc = writer_preface_begin(w, list, &b);
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

int writer_replace(struct writer *w, unsigned int feature, const void *data, size_t len,
		   struct error *err)
{
	const struct pd_section *section = &w->sections[feature];
	int rc;

	if (!w->form->has_header || section->size != len ||
	    !feature_has(w->header.features, feature))
		return error_set(err, -EINVAL, "%s: the size of feature %u is not %zu bytes",
				 w->path, feature, len);
	rc = writer_put_at(w, data, len, section->offset);
	return rc ? writer_fail(w, rc, NULL, err) : 0;
}

static int file_open(struct writer *w, struct error *err)
{
	int rc = output_backup_keep(w->path, err);

	return rc ? rc : writer_open_new(w, err);
}

static int file_flush(struct writer *w)
{
	return w->pos == w->visible ? 0 : commit(w, NULL, 0);
}

static int file_finish(struct writer *w, const struct writer_feature *features, size_t nr_features,
		       struct error *err)
{
	int rc = nr_features ? commit(w, features, nr_features) : 0;

	return rc ? writer_fail(w, rc, "cannot write the features", err) : 0;
}

static int file_put_back(struct writer *w, const struct writer_mark *m)
{
	struct pd_header between = header_between(&m->header);
	int rc = writer_put_at(w, &between, sizeof(between), 0);

	if (!rc)
		rc = writer_put_at(w, m->table.data, m->table.len, m->visible);
	return rc ? rc : writer_put_at(w, &m->header, sizeof(m->header), 0);
}

const struct writer_form writer_form_file = {
	.has_header = true,
	.open = file_open,
	.begin = file_begin,
	.flush = file_flush,
	.flush_last = file_flush,
	.finish = file_finish,
	.put_back = file_put_back,
};
