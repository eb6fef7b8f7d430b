// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the file header: magic, byte order, and the sections.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.c (for files
 * of version 1 and of other word sizes).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "data/open/open_priv.h"

#define HEADER_MIN	   56u /* up to and including the section of data */
#define HEADER_NO_FEATURES 72u /* of very old files: they end before the feature bits */
#define HEADER_PLAUSIBLE   65536u

/*
 * In version 2 the magic gives the byte order. In version 1 the magic is the same on every machine,
 * so the size of the header, a small number, gives it.
 */
static void detect_order(struct data_file *df, const uint8_t *raw)
{
	uint64_t magic = load_u64(raw, false);

	if (!memcmp(raw, "PERFFILE", 8)) {
		uint64_t size = load_u64(raw + 8, false);

		df->swapped =
			size > HEADER_PLAUSIBLE && __builtin_bswap64(size) <= HEADER_PLAUSIBLE;
		df->header.magic = PD_MAGIC1;
		return;
	}
	df->swapped = magic != PD_MAGIC;
	df->header.magic = PD_MAGIC;
}

int header_check_magic(const char *path, const uint8_t *raw, struct error *err)
{
	uint64_t magic = load_u64(raw, false);

	if (!memcmp(raw, "PERFFILE", 8) || magic == PD_MAGIC ||
	    magic == __builtin_bswap64(PD_MAGIC))
		return 0;
	return error_at(err, -EBADMSG, path, 0,
			"\"PERFILE2\" expected, found 0x%016" PRIx64 ": this is no perf.data file",
			__builtin_bswap64(magic));
}

/* Every file with features has one of these: HOSTNAME since perf 3.2, the others before. */
static bool has_common(const uint64_t bits[4])
{
	return bits[0] &
	       (1u << HEADER_TRACING_DATA | 1u << HEADER_BUILD_ID | 1u << HEADER_HOSTNAME);
}

/*
 * Takes the feature bits, an array of the recorder's unsigned longs. In a file of the other byte
 * order, words of 8 or of 4 bytes may have to be swapped. Source of this guess:
 * tools/perf/util/header.c, perf_file_header__read().
 */
static void take_feature_bits(struct data_file *df, const uint8_t *raw, size_t len)
{
	uint64_t wide[4] = {0}, narrow[4] = {0};

	for (size_t i = 0; i < 4 && (i + 1) * 8 <= len; i++) {
		uint64_t v = load_u64(raw + i * 8, false);

		wide[i] = df->swapped ? __builtin_bswap64(v) : v;
		narrow[i] = (uint64_t)load_u32(raw + i * 8, df->swapped) |
			    (uint64_t)load_u32(raw + i * 8 + 4, df->swapped) << 32;
	}
	if (df->swapped && !has_common(wide) && has_common(narrow))
		memcpy(df->header.features, narrow, sizeof(narrow));
	else
		memcpy(df->header.features, wide, sizeof(wide));
}

/* Clamps the section of data to the file, with a finding. */
static void place_data(struct data_file *df)
{
	struct pd_header *h = &df->header;
	struct segment *s = &df->segments[0];

	s->begin = h->data.offset;
	if (h->data.offset > s->size) {
		data_finding_add(df, DATA_DAMAGED, 0, 40,
				 "data expected at 0x%" PRIx64 ", the file ends at 0x%" PRIx64,
				 h->data.offset, s->size);
		s->begin = s->end = s->size;
		return;
	}
	if (h->data.offset < HEADER_MIN) {
		data_finding_add(df, DATA_DAMAGED, 0, 40,
				 "data expected behind the header, found at 0x%" PRIx64,
				 h->data.offset);
		s->begin = section_inside(h->attrs, s->size) && h->attrs.size
				   ? h->attrs.offset + h->attrs.size
				   : sizeof(*h);
		if (s->begin > s->size)
			s->begin = s->size;
	}
	if (h->data.size == 0) {
		data_finding_add(
			df, DATA_ODD, 0, 48,
			"size of data is 0, because the recorder was killed: reading to the end");
		s->end = s->size;
	} else if (!section_inside(h->data, s->size)) {
		data_finding_add(df, DATA_DAMAGED, 0, h->data.offset,
				 "%" PRIu64 " bytes of data expected, found %" PRIu64
				 ": the file is truncated",
				 h->data.size, s->size - h->data.offset);
		s->end = s->size;
	} else {
		s->end = h->data.offset + h->data.size;
	}
	if (s->begin > s->end)
		s->begin = s->end;
}

static int parse_sections(struct data_file *df, const uint8_t *raw, size_t len, struct error *err)
{
	struct pd_header *h = &df->header;
	const char *path = df->segments[0].path;
	bool swap = df->swapped;

	if (len < HEADER_MIN)
		return error_at(err, -ENODATA, path, len,
				"a header of %" PRIu64 " bytes expected, the file ends", h->size);
	if (h->size < HEADER_MIN || h->size > HEADER_PLAUSIBLE) {
		data_finding_add(df, DATA_DAMAGED, 0, 8,
				 "size of header: 104 expected, found %" PRIu64, h->size);
		h->size = sizeof(*h);
	} else if (h->size != sizeof(*h) && h->size != HEADER_NO_FEATURES) {
		data_finding_add(df, DATA_ODD, 0, 8, "size of header: 104 expected, found %" PRIu64,
				 h->size);
	}
	if (len > h->size)
		len = h->size;
	else if (len < h->size && len < sizeof(*h))
		return error_at(err, -ENODATA, path, len,
				"a header of %" PRIu64 " bytes expected, the file ends", h->size);

	h->attr_size = load_u64(raw + 16, swap);
	h->attrs = (struct pd_section){load_u64(raw + 24, swap), load_u64(raw + 32, swap)};
	h->data = (struct pd_section){load_u64(raw + 40, swap), load_u64(raw + 48, swap)};
	if (len >= HEADER_NO_FEATURES)
		h->event_types =
			(struct pd_section){load_u64(raw + 56, swap), load_u64(raw + 64, swap)};
	place_data(df);
	if (len > HEADER_NO_FEATURES)
		take_feature_bits(df, raw + HEADER_NO_FEATURES, len - HEADER_NO_FEATURES);
	return 0;
}

static int read_file_parts(struct data_file *df)
{
	int rc = attrs_read(df);

	if (!rc && !df->header.data.size)
		rc = stream_find_end(df);
	if (!rc)
		rc = features_read(df);
	if (!rc)
		rc = stream_prescan(df);
	return rc ? rc : features_apply(df);
}

int header_read(struct data_file *df, struct error *err)
{
	struct segment *s = &df->segments[0];
	uint8_t raw[sizeof(struct pd_header)];
	ssize_t n = file_read(s->fd, raw, sizeof(raw), 0);
	struct stat st;
	int rc;

	if (n < 0)
		return error_sys(err, (int)n, "%s", s->path);
	/*
	 * The bytes that a header describes were written before it: get the file's size after
	 * reading it.
	 */
	if (!fstat(s->fd, &st) && (uint64_t)st.st_size > s->size)
		s->size = s->end = (uint64_t)st.st_size;
	if (n < PD_PIPE_HEADER_SIZE)
		return error_at(err, -ENODATA, s->path, (uint64_t)n,
				"a perf.data header expected, the file ends");
	rc = header_check_magic(s->path, raw, err);
	if (rc)
		return rc;
	detect_order(df, raw);
	memcpy(df->head, raw, (size_t)n);
	df->head_len = (size_t)n;
	df->header.size = load_u64(raw + 8, df->swapped);
	if (df->header.size == PD_PIPE_HEADER_SIZE) {
		if (df->kind == DATA_FILE)
			df->kind = DATA_PIPE;
		s->begin = PD_PIPE_HEADER_SIZE;
		rc = stream_prescan(df);
		if (!rc)
			rc = features_apply(df);
	} else {
		rc = parse_sections(df, raw, (size_t)n, err);
		if (rc)
			return rc;
		rc = read_file_parts(df);
	}
	if (rc)
		return error_sys(err, rc, "%s: reading the header", s->path);
	return 0;
}

bool header_changed(const struct data_file *df)
{
	uint8_t now[sizeof(df->head)];
	ssize_t n;

	if (!df->head_len)
		return false;
	n = file_read(df->segments[0].fd, now, df->head_len, 0);
	return n >= 0 && ((size_t)n != df->head_len || memcmp(now, df->head, df->head_len));
}
