// SPDX-License-Identifier: Apache-2.0
/*
 * Takes events and features from records. A pipe stream has them only in records, anywhere; a file
 * has a few at the beginning of its data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/open/open_priv.h"
#include "data/scan/scan_priv.h"
#include "perfdata/symbols/symbols.h"

#define FILE_PRESCAN_MAX \
	(4u << 20) /* bytes at the beginning of a file's data, searched for such records */

#define EVENT_UPDATE_NAME 2u
#define SYMBOLS_WORDS	  24u /* bytes before a piece of a table of symbols */

struct stream_record {
	const uint8_t *body; /* behind the header, file order */
	size_t len;
	const struct data_record *rec;
	struct data_scan *scan; /* the scan that delivered it */
};

/* Makes room for the contents; the caller writes them to *@ret. */
static int make_feature(struct data_file *df, unsigned int feature, size_t len, uint8_t **ret)
{
	struct buf *b = &df->features[feature];
	int rc;

	b->len = 0;
	rc = buf_reserve(b, len + 1);
	if (rc)
		return rc;
	b->len = len;
	*ret = b->data;
	df->header.features[feature / 64] |= 1ULL << (feature % 64);
	return 0;
}

static int set_feature(struct data_file *df, unsigned int feature, const uint8_t *p, size_t len)
{
	uint8_t *to;
	int rc = make_feature(df, feature, len, &to);

	if (!rc && len)
		memcpy(to, p, len);
	return rc;
}

static int take_attr(struct data_file *df, const struct stream_record *s)
{
	struct pd_attr attr;
	uint64_t *ids;
	size_t size, nr;
	int rc;

	if (s->len < PD_ATTR_SIZE_VER0)
		return -EBADMSG;
	size = load_u32(s->body + 4, df->swapped);
	if (!size)
		size = PD_ATTR_SIZE_VER0;
	if (size < PD_ATTR_SIZE_VER0 || size > s->len)
		return -EBADMSG;
	rc = attr_decode_lenient(df, s->body, size, s->rec->offset, &attr);
	if (rc)
		return rc;
	nr = (s->len - size) / 8;
	ids = malloc(nr * 8 + 1);
	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		ids[i] = load_u64(s->body + size + i * 8, df->swapped);
	rc = pd_evlist_add(df->list, &attr, NULL, ids, nr);
	free(ids);
	return rc;
}

/* A file has its attributes in the header; the record serves only if none could be read there. */
static int take_missing_attr(struct data_file *df, const struct stream_record *s)
{
	return pd_evlist_count(df->list) ? 0 : take_attr(df, s);
}

/*
 * Adds a piece of the recording's own table of symbols. A later table replaces the one before.
 * Behind a gap nothing is added.
 */
static int take_symbols(struct data_file *df, const struct stream_record *s)
{
	struct buf *b = &df->features[HEADER_RINGTAIL_SYMBOLS];
	uint64_t offset = load_u64(s->body + 8, df->swapped);
	uint64_t total = load_u64(s->body + 16, df->swapped);
	size_t len = s->len - SYMBOLS_WORDS;

	/* Not of a compressed one; who uses the places looks whether the record is there. */
	if (array_grow(&df->symbol_records, &df->cap_symbol_records, df->nr_symbol_records + 1,
		       sizeof(*df->symbol_records)))
		return -ENOMEM;
	df->symbol_records[df->nr_symbol_records++] =
		(struct pd_section){s->rec->offset, s->rec->hdr->size};
	if (!offset)
		b->len = 0;
	if (offset != b->len || total <= offset)
		return -EBADMSG;
	if (len > total - offset)
		len = total - offset;
	if (buf_append(b, s->body + SYMBOLS_WORDS, len))
		return -ENOMEM;
	df->header.features[HEADER_RINGTAIL_SYMBOLS / 64] |= 1ULL << HEADER_RINGTAIL_SYMBOLS % 64;
	return 0;
}

static int take_event_type(struct data_file *df, const struct stream_record *s)
{
	if (s->len >= SYMBOLS_WORDS && load_u64(s->body, df->swapped) == PD_SYMBOLS_MAGIC)
		return take_symbols(df, s);
	return event_type_name(df, s->body, s->len);
}

static int take_event_update(struct data_file *df, const struct stream_record *s)
{
	struct pd_evsel *evsel;
	char *name;
	int rc;

	if (s->len < 16)
		return -EBADMSG;
	if (load_u64(s->body, df->swapped) != EVENT_UPDATE_NAME || s->len == 16)
		return 0;
	evsel = pd_evlist_by_id(df->list, load_u64(s->body + 8, df->swapped));
	if (!evsel)
		return -ENOENT;
	name = strndup((const char *)s->body + 16, s->len - 16);
	if (!name)
		return -ENOMEM;
	rc = *name ? pd_evsel_set_name(evsel, name) : 0;
	free(name);
	return rc;
}

static int take_feature(struct data_file *df, const struct stream_record *s)
{
	uint64_t feature;

	if (s->len < 8)
		return -EBADMSG;
	feature = load_u64(s->body, df->swapped);
	if (feature >= HEADER_FEAT_BITS)
		return -ENOENT;
	return set_feature(df, (unsigned int)feature, s->body + 8, s->len - 8);
}

/* The data follow the record. */
static int take_payload(struct data_file *df, const struct stream_record *s, uint64_t size)
{
	uint8_t *to;
	int rc;

	if (size > s->rec->payload_size)
		size = s->rec->payload_size;
	rc = make_feature(df, HEADER_TRACING_DATA, size, &to);
	if (rc)
		return rc;
	rc = data_scan_payload(s->scan, to, size);
	if (rc) /* the file became shorter: no data are better than a part */
		df->header.features[0] &= ~(1ULL << HEADER_TRACING_DATA);
	return rc ? -EBADMSG : 0;
}

static int take_tracing_data(struct data_file *df, const struct stream_record *s)
{
	uint64_t size;

	if (s->len < 4)
		return -EBADMSG;
	size = load_u32(s->body, df->swapped);
	if (s->rec->payload_size)
		return take_payload(df, s, size);
	if (size > s->len - 4)
		return -EBADMSG;
	return set_feature(df, HEADER_TRACING_DATA, s->body + 4, size);
}

/* The BUILD_ID feature is a sequence of such records, header included, in the file's byte order. */
static int take_build_id(struct data_file *df, const struct stream_record *s)
{
	struct perf_event_header hdr = *s->rec->hdr;
	struct buf *b = &df->features[HEADER_BUILD_ID];
	int rc;

	if (df->swapped) {
		hdr.type = __builtin_bswap32(hdr.type);
		hdr.misc = __builtin_bswap16(hdr.misc);
		hdr.size = __builtin_bswap16(hdr.size);
	}
	rc = buf_append(b, &hdr, sizeof(hdr));
	if (!rc)
		rc = buf_append(b, s->body, s->len);
	if (!rc)
		df->header.features[0] |= 1ULL << HEADER_BUILD_ID;
	return rc;
}

struct taker {
	uint32_t type;
	int (*take)(struct data_file *df, const struct stream_record *s);
};

static const struct taker in_pipe[] = {
	{PERF_RECORD_HEADER_ATTR, take_attr},
	{PERF_RECORD_HEADER_EVENT_TYPE, take_event_type},
	{PERF_RECORD_EVENT_UPDATE, take_event_update},
	{PERF_RECORD_HEADER_FEATURE, take_feature},
	{PERF_RECORD_HEADER_TRACING_DATA, take_tracing_data},
	{PERF_RECORD_HEADER_BUILD_ID, take_build_id},
	{SIMPLEPERF_RECORD_TRACING_DATA, take_tracing_data},
	{0, NULL},
};

static const struct taker in_file[] = {
	{PERF_RECORD_HEADER_ATTR, take_missing_attr},
	{PERF_RECORD_EVENT_UPDATE, take_event_update},
	{PERF_RECORD_HEADER_TRACING_DATA, take_tracing_data},
	{SIMPLEPERF_RECORD_TRACING_DATA, take_tracing_data},
	{0, NULL},
};

static int take(struct data_file *df, const struct taker *takers, const struct data_record *rec,
		struct data_scan *scan)
{
	struct stream_record s = {(const uint8_t *)(rec->hdr + 1), rec->hdr->size - RECORD_MIN, rec,
				  scan};
	int rc;

	while (takers->take && takers->type != rec->hdr->type)
		takers++;
	if (!takers->take)
		return 0;
	rc = takers->take(df, &s);
	if (rc == -ENOMEM)
		return rc;
	if (rc)
		data_finding_add(df, rc == -ENOENT ? DATA_ODD : DATA_DAMAGED, 0, rec->offset,
				 rc == -ENOENT ? "%s record about an unknown event or feature"
					       : "cannot decode a %s record",
				 pd_record_name(rec->hdr->type) ?: "simpleperf");
	return 0;
}

int stream_prescan(struct data_file *df)
{
	const struct segment *s = &df->segments[0];
	bool whole = df->header.size == PD_PIPE_HEADER_SIZE;
	const struct taker *takers = whole ? in_pipe : in_file;
	struct data_record rec;
	struct data_scan *scan;
	int rc = data_scan_new(df, 0, 0, DATA_WHOLE, SCAN_RAW, &scan);

	if (rc)
		return rc;
	while ((rc = data_scan_next(scan, &rec)) > 0) {
		if (!whole && (rec.hdr->type == PERF_RECORD_SAMPLE ||
			       rec.offset - s->begin > FILE_PRESCAN_MAX)) {
			rc = 0;
			break;
		}
		rc = take(df, takers, &rec, scan);
		if (rc)
			break;
	}
	data_scan_free(scan);
	return rc;
}

/* The first 8 bytes of a record as the number that they would be in a section. */
static uint64_t header_as_offset(const struct data_file *df, const struct perf_event_header *h)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != df->swapped;

	return big ? (uint64_t)h->type << 32 | (uint64_t)h->misc << 16 | h->size
		   : (uint64_t)h->size << 48 | (uint64_t)h->misc << 32 | h->type;
}

/* Returns whether @first, at @at, can be the first word of a table of features of @size bytes. */
static bool begins_table(uint64_t first, uint64_t at, uint64_t size)
{
	return size && (first == at + size || first == at + size + sizeof(struct pd_own_section));
}

/*
 * Finds the end of the data if their size is 0: the end of the file, or the table of features, if
 * it is where a record should be. The first entry of the table points to the first byte behind it,
 * and behind a struct pd_own_section.
 */
int stream_find_end(struct data_file *df)
{
	struct segment *s = &df->segments[0];
	struct data_record rec;
	struct data_scan *scan;
	uint8_t first[8];
	uint64_t pos, table = 0;
	int rc = data_scan_new(df, 0, 0, DATA_WHOLE, SCAN_RAW | SCAN_NO_RESUME, &scan);

	if (rc)
		return rc;
	for (size_t i = 0; i < 4; i++)
		table += 16 * (uint64_t)__builtin_popcountll(df->header.features[i]);
	while ((rc = data_scan_next(scan, &rec)) > 0) {
		if (begins_table(header_as_offset(df, rec.hdr), rec.offset, table)) {
			s->end = rec.offset;
			break;
		}
	}
	pos = scan_position(scan);
	data_scan_free(scan);
	if (rc < 0)
		return rc;
	/* In a little-endian file the entry is no valid record: its size seems to be 0. */
	if (!rc && table && file_read(s->fd, first, sizeof(first), pos) == sizeof(first) &&
	    begins_table(load_u64(first, df->swapped), pos, table))
		s->end = pos;
	return 0;
}
