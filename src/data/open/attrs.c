// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the section of attributes: entries of header.attr_size bytes, each an attribute and the
 * section of its ids. Reads also the table of names (event_types) of files before perf 3.10.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/open/open_priv.h"

#define ENTRY_MAX	4096u
#define EVENT_TYPE_SIZE 72u /* u64 config, char name[64] */

int attr_decode_lenient(struct data_file *df, const uint8_t *p, size_t len, uint64_t offset,
			struct pd_attr *ret)
{
	uint8_t copy[ENTRY_MAX];
	bool unknown = false;
	uint32_t size;
	int rc = pd_attr_decode(p, len, df->swapped, ret, &unknown);

	if (rc && len >= PD_ATTR_SIZE_VER0) {
		if (len > sizeof(copy))
			len = sizeof(copy);
		data_finding_add(df, DATA_DAMAGED, 0, offset,
				 "size of attribute: 64 to %zu expected, found %" PRIu32, len,
				 load_u32(p + 4, df->swapped));
		memcpy(copy, p, len);
		size = (uint32_t)len;
		if (df->swapped)
			size = __builtin_bswap32(size);
		memcpy(copy + 4, &size, sizeof(size));
		rc = pd_attr_decode(copy, len, df->swapped, ret, &unknown);
	}
	if (rc)
		return rc;
	if (unknown)
		data_finding_add(df, DATA_ODD, 0, offset,
				 "attribute of %" PRIu32
				 " bytes with settings newer than this program",
				 ret->size);
	return 0;
}

/*
 * Bytes of ids that may still be read. Sections that overlap must not multiply the work beyond the
 * file's size.
 */
struct id_budget {
	uint64_t left;
};

static bool ids_plausible(const struct data_file *df, struct pd_section s)
{
	return section_inside(s, df->segments[0].size) && s.size % 8 == 0;
}

/*
 * Finds the section of ids at the end of the entry. Some writers put it behind the attribute's own
 * size; that place is used only if no other makes sense.
 */
static struct pd_section find_ids(struct data_file *df, const uint8_t *entry, size_t stride,
				  uint32_t attr_size, uint64_t offset)
{
	const uint8_t *p = entry + stride - sizeof(struct pd_section);
	struct pd_section end = {load_u64(p, df->swapped), load_u64(p + 8, df->swapped)};
	struct pd_section near = end;

	if (attr_size >= PD_ATTR_SIZE_VER0 && attr_size < stride - sizeof(struct pd_section)) {
		p = entry + attr_size;
		near = (struct pd_section){load_u64(p, df->swapped), load_u64(p + 8, df->swapped)};
	}
	if (ids_plausible(df, end) && (end.size || !near.size || !ids_plausible(df, near)))
		return end;
	if (near.size && ids_plausible(df, near))
		return near;
	data_finding_add(df, DATA_DAMAGED, 0, offset,
			 "ids of an event: 0x%" PRIx64 " bytes at 0x%" PRIx64
			 " expected, file of 0x%" PRIx64,
			 end.size, end.offset, df->segments[0].size);
	return (struct pd_section){0, 0};
}

static int read_ids(struct data_file *df, struct pd_section s, struct id_budget *budget,
		    uint64_t **ret, size_t *ret_nr)
{
	ssize_t n;

	*ret = NULL;
	*ret_nr = 0;
	if (!s.size)
		return 0;
	if (s.size > budget->left) {
		data_finding_add(df, DATA_DAMAGED, 0, s.offset,
				 "ids of the events overlap: more of them than the file can hold");
		return 0;
	}
	budget->left -= s.size;
	*ret = malloc(s.size);
	if (!*ret)
		return -ENOMEM;
	n = file_read(df->segments[0].fd, *ret, s.size, s.offset);
	if (n < 0) {
		free(*ret);
		*ret = NULL;
		return (int)n;
	}
	*ret_nr = (size_t)n / 8;
	for (size_t i = 0; df->swapped && i < *ret_nr; i++)
		(*ret)[i] = __builtin_bswap64((*ret)[i]);
	return 0;
}

static int add_entry(struct data_file *df, const uint8_t *entry, size_t stride, uint64_t offset,
		     struct id_budget *budget)
{
	struct pd_attr attr;
	uint64_t *ids;
	size_t nr_ids;
	int rc = attr_decode_lenient(df, entry, stride - sizeof(struct pd_section), offset, &attr);

	if (rc == -EBADMSG) {
		data_finding_add(df, DATA_DAMAGED, 0, offset, "cannot decode an attribute");
		return 0;
	}
	if (rc)
		return rc;
	rc = read_ids(df, find_ids(df, entry, stride, attr.size, offset), budget, &ids, &nr_ids);
	if (rc)
		return rc;
	rc = pd_evlist_add(df->list, &attr, NULL, ids, nr_ids);
	free(ids);
	return rc;
}

/* Distance of entries; 0 if neither the header nor the first attribute gives one. */
static uint64_t entry_stride(struct data_file *df)
{
	const struct pd_header *h = &df->header;
	uint64_t least = PD_ATTR_SIZE_VER0 + sizeof(struct pd_section);
	uint8_t first[8];
	uint32_t size;

	if (h->attr_size >= least && h->attr_size <= ENTRY_MAX)
		return h->attr_size;
	data_finding_add(df, DATA_DAMAGED, 0, 16,
			 "size of attributes: 80 or more expected, found %" PRIu64, h->attr_size);
	if (file_read(df->segments[0].fd, first, sizeof(first), h->attrs.offset) != sizeof(first))
		return 0;
	size = load_u32(first + 4, df->swapped);
	if (!size)
		size = PD_ATTR_SIZE_VER0;
	if (size < PD_ATTR_SIZE_VER0 || size > ENTRY_MAX - sizeof(struct pd_section))
		return 0;
	return size + sizeof(struct pd_section);
}

/*
 * Bounds the search for names: each costs one step for each event, and a file may have any number
 * of them.
 */
#define NAME_STEPS_MAX (64u << 20)

int tracepoint_set_name(struct data_file *df, uint64_t config, const char *name)
{
	size_t nr = pd_evlist_count(df->list);
	int rc = 0;

	if (!*name || df->name_steps > NAME_STEPS_MAX)
		return 0;
	df->name_steps += nr;
	for (size_t i = 0; i < nr && !rc; i++) {
		struct pd_evsel *evsel = pd_evlist_at(df->list, i);

		if (evsel->attr.type == PERF_TYPE_TRACEPOINT && evsel->attr.config == config)
			rc = pd_evsel_set_name(evsel, name);
	}
	return rc;
}

/* Only tracepoints need these names, and the numbers of other events are not unique. */
int event_type_name(struct data_file *df, const uint8_t *entry, size_t len)
{
	char name[65] = "";

	if (len < 9)
		return 0;
	memcpy(name, entry + 8, len - 8 < 64 ? len - 8 : 64);
	return tracepoint_set_name(df, load_u64(entry, df->swapped), name);
}

static int read_event_types(struct data_file *df)
{
	struct pd_section s = df->header.event_types;
	uint8_t entry[EVENT_TYPE_SIZE];

	if (!s.size)
		return 0;
	if (!section_inside(s, df->segments[0].size)) {
		data_finding_add(df, DATA_DAMAGED, 0, 56,
				 "names of events expected at 0x%" PRIx64 ", the file ends before",
				 s.offset);
		return 0;
	}
	for (uint64_t at = 0; at + EVENT_TYPE_SIZE <= s.size && at < (1u << 20);
	     at += EVENT_TYPE_SIZE) {
		ssize_t n = file_read(df->segments[0].fd, entry, sizeof(entry), s.offset + at);

		int rc = n < 0 ? (int)n : event_type_name(df, entry, (size_t)n);

		if (rc)
			return rc;
	}
	return 0;
}

int attrs_read(struct data_file *df)
{
	const struct segment *s = &df->segments[0];
	struct pd_section attrs = df->header.attrs;
	struct id_budget budget = {s->size};
	uint8_t entry[ENTRY_MAX];
	uint64_t stride, at;
	int rc = 0;

	if (attrs.offset > s->size) {
		data_finding_add(df, DATA_DAMAGED, 0, 24,
				 "attributes expected at 0x%" PRIx64
				 ", the file ends at 0x%" PRIx64,
				 attrs.offset, s->size);
		return 0;
	}
	if (!section_inside(attrs, s->size)) {
		data_finding_add(df, DATA_DAMAGED, 0, 32,
				 "%" PRIu64 " bytes of attributes expected, found %" PRIu64,
				 attrs.size, s->size - attrs.offset);
		attrs.size = s->size - attrs.offset;
	}
	stride = entry_stride(df);
	if (!stride)
		return 0;
	if (attrs.size % stride)
		data_finding_add(df, DATA_DAMAGED, 0, 32,
				 "attributes: a multiple of %" PRIu64
				 " bytes expected, found %" PRIu64,
				 stride, attrs.size);
	for (at = 0; attrs.size - at >= stride && !rc; at += stride) {
		ssize_t n = file_read(s->fd, entry, stride, attrs.offset + at);

		if (n < (ssize_t)stride)
			return n < 0 ? (int)n : 0;
		rc = add_entry(df, entry, stride, attrs.offset + at, &budget);
	}
	if (rc == -E2BIG) {
		data_finding_add(df, DATA_DAMAGED, 0, 32, "more events than can be told apart");
		rc = 0;
	}
	return rc ? rc : read_event_types(df);
}
