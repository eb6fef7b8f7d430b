// SPDX-License-Identifier: Apache-2.0
/*
 * Reads feature sections. A table of {offset, size} follows the data, with one entry for each set
 * bit of the header, in the order of the bits; behind it may stand a struct pd_own_section. All
 * contents are read at once: they are small, and their sum is bounded by the size of the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/open/open_priv.h"
#include "perfdata/feature.h"

#define SIMPLEPERF_META_INFO 129

static size_t count_bits(const uint64_t bits[4])
{
	size_t n = 0;

	for (size_t i = 0; i < 4; i++)
		n += (size_t)__builtin_popcountll(bits[i]);
	return n;
}

/* Reads the table for @nr features. Returns the number of whole entries, or a negative errno. */
static int read_table(const struct data_file *df, size_t nr, struct pd_section *table)
{
	const struct segment *s = &df->segments[0];
	ssize_t n = file_read(s->fd, table, nr * sizeof(*table), s->end);

	if (n < 0)
		return (int)n;
	for (size_t i = 0; df->swapped && i < (size_t)n / sizeof(*table); i++) {
		table[i].offset = __builtin_bswap64(table[i].offset);
		table[i].size = __builtin_bswap64(table[i].size);
	}
	return (int)((size_t)n / sizeof(*table));
}

static int read_one(struct data_file *df, unsigned int feature, struct pd_section sec,
		    uint64_t *left)
{
	struct buf *b = &df->features[feature];
	ssize_t n;
	int rc;

	if (sec.size && (!section_inside(sec, df->segments[0].size) || sec.size > *left)) {
		data_finding_add(df, DATA_DAMAGED, 0, sec.offset,
				 "feature %u of %" PRIu64 " bytes does not lie inside of the file",
				 feature, sec.size);
		return -ENODATA;
	}
	*left -= sec.size;
	rc = buf_reserve(b, sec.size + 1);
	if (rc)
		return rc;
	n = file_read(df->segments[0].fd, b->data, sec.size, sec.offset);
	if (n < 0)
		return (int)n;
	b->len = (size_t)n;
	return 0;
}

static bool has_bit(const uint64_t bits[4], unsigned int feature)
{
	return bits[feature / 64] >> (feature % 64) & 1;
}

/* Whether the file ends before what names its machine, of @announced features. */
static bool lacks_machine(const struct data_file *df, const uint64_t announced[4], int have)
{
	static const unsigned int names[] = {HEADER_HOSTNAME, HEADER_OSRELEASE, HEADER_ARCH};
	bool lacks = !have;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		lacks |= has_bit(announced, names[i]) && !has_bit(df->header.features, names[i]);
	return lacks;
}

/*
 * Whether the header is that of the moment in which a flush replaces the table of features
 * (data/writer/writer_file.c): with feature 0, or with none although our recorder wrote it, whose
 * data begin with a record that others no longer write.
 */
static bool is_mid_flush(const struct data_file *df, const uint64_t announced[4])
{
	const struct segment *s = &df->segments[0];
	struct perf_event_header first;

	if (count_bits(announced))
		return has_bit(announced, HEADER_RESERVED);
	if (s->end - s->begin < sizeof(first) ||
	    file_read(s->fd, &first, sizeof(first), s->begin) != sizeof(first))
		return false;
	return (df->swapped ? __builtin_bswap32(first.type) : first.type) ==
	       PERF_RECORD_HEADER_EVENT_TYPE;
}

/* Reads a section for the table of features, or one that stands for itself. */
static int take_section(struct data_file *df, unsigned int feature, struct pd_section sec,
			uint64_t *left)
{
	int rc = read_one(df, feature, sec, left);

	if (!rc)
		df->header.features[feature / 64] |= 1ULL << (feature % 64);
	return rc == -ENODATA ? 0 : rc;
}

int features_read(struct data_file *df)
{
	struct pd_section table[HEADER_FEAT_BITS], own;
	struct segment *s = &df->segments[0];
	uint64_t bits[4], left = s->size;
	int nr = (int)count_bits(df->header.features), have, next = 0, rc;

	memcpy(bits, df->header.features, sizeof(bits));
	memset(df->header.features, 0, sizeof(df->header.features));
	have = read_table(df, (size_t)nr, table);
	if (have < 0)
		return have;
	if (have < nr)
		data_finding_add(df, df->header.data.size ? DATA_DAMAGED : DATA_ODD, 0, s->end,
				 "a table of %d features expected behind the data, found %d", nr,
				 have);
	for (unsigned int f = 0; f < HEADER_FEAT_BITS && next < have; f++) {
		if (!has_bit(bits, f))
			continue;
		if (f == HEADER_RESERVED) { /* no contents: see data/writer/writer_file.c */
			next++;
			continue;
		}
		rc = take_section(df, f, table[next++], &left);
		if (rc)
			return rc;
	}
	df->mid_flush = is_mid_flush(df, bits);
	df->features_cut = df->mid_flush || (nr && lacks_machine(df, bits, have));
	if (have < nr || !own_section_read(df, s->end + (size_t)nr * sizeof(*table), &own))
		return 0;
	return take_section(df, HEADER_RINGTAIL_SYMBOLS, own, &left);
}

/* Takes a line "name,type,config" of simpleperf's list of events. */
static int take_event_info(struct data_file *df, const char *line)
{
	size_t name_len = strcspn(line, ",");
	unsigned long type, config;
	char name[128];

	if (line[name_len] != ',' || name_len >= sizeof(name) ||
	    sscanf(line + name_len, ",%lu,%lu", &type, &config) != 2)
		return 0;
	memcpy(name, line, name_len);
	name[name_len] = '\0';
	return type == PERF_TYPE_TRACEPOINT ? tracepoint_set_name(df, config, name) : 0;
}

/*
 * Applies simpleperf's META_INFO: pairs of strings, key and value. Its names of tracepoints may be
 * the only ones in the file; other events have perf's names.
 */
static int apply_meta_info(struct data_file *df)
{
	const struct buf *b = &df->features[SIMPLEPERF_META_INFO];
	const char *p = (const char *)b->data, *end;
	bool found = false;
	int rc = 0;

	if (!feature_has(df, SIMPLEPERF_META_INFO) || !p)
		return 0;
	end = p + b->len;
	for (bool value = false; p < end; value = !value) {
		size_t len = strnlen(p, (size_t)(end - p));

		if (len == (size_t)(end - p))
			break; /* no NUL */
		for (const char *line = p; value && found && !rc && *line;) {
			rc = take_event_info(df, line);
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
		if (rc)
			return rc;
		if (!value)
			found = !strcmp(p, "event_type_info");
		p += len + 1;
	}
	return 0;
}

int features_apply(struct data_file *df)
{
	static const struct {
		unsigned int feature;
		int (*decode)(const uint8_t *p, size_t len, bool swap, struct pd_evlist *list);
	} about_events[] = {
		{HEADER_EVENT_DESC, pd_feature_event_desc_decode},
		{HEADER_GROUP_DESC, pd_feature_group_desc_decode},
	};

	for (size_t i = 0; i < sizeof(about_events) / sizeof(about_events[0]); i++) {
		unsigned int f = about_events[i].feature;
		struct buf *b = &df->features[f];
		int rc;

		if (!feature_has(df, f))
			continue;
		rc = about_events[i].decode(b->data, b->len, df->swapped, df->list);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			data_finding_add(df, DATA_DAMAGED, 0, 0, "feature \"%s\" cannot be decoded",
					 pd_feature_name(f) ?: "?");
	}
	return apply_meta_info(df);
}
