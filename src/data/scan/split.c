// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the beginning of a record in the middle of a file.
 *
 * Records have a size and no mark to search for. The bytes at a guessed place are accepted as
 * records if many follow one another, each with a type that occurs in the midst of data, and with
 * contents that fit its size. (Types and sizes alone do not suffice: samples are often all alike,
 * and then false headers in them form a chain of their own.) A chain that begins inside a record
 * soon meets the true one and continues with it, so the result is some records down the chain.
 *
 * Records of the ring's last lap also form a chain. Where a stack is shorter than the copy that was
 * asked for, the kernel leaves in the ring what was there, with the headers of old samples. Their
 * times tell them from the true ones, which are later.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "data/scan/split.h"
#include "perfdata/sample.h"

#define LOOK_BYTES (64u << 10) /* a chain must begin within these */

/* A chain is long enough with so many records, or with fewer large ones. */
#define CHAIN_RECORDS	32
#define CHAIN_FEW	6
#define CHAIN_FEW_BYTES (128u << 10)

/* Bounds what else a search reads, so that no crafted file can make it long. */
#define FAR_BYTES 4096
#define FAR_READS 256

/* Bytes of a file: around the guessed place, and at one more place. */
struct peeker {
	const struct data_file *df;
	int fd;
	uint64_t end; /* of the records */
	uint64_t near_at, far_at;
	size_t near_len, far_len;
	unsigned int reads;
	uint8_t far[FAR_BYTES] __attribute__((aligned(8)));
	uint8_t near[LOOK_BYTES] __attribute__((aligned(8)));
	uint8_t record[FAR_BYTES] __attribute__((aligned(8))); /* a record that was copied */
};

/* Returns @need bytes at @offset, or NULL. */
static const uint8_t *look(struct peeker *p, uint64_t offset, size_t need)
{
	ssize_t n;

	if (offset > p->end || need > p->end - offset)
		return NULL;
	if (offset >= p->near_at && offset + need <= p->near_at + p->near_len)
		return p->near + (offset - p->near_at);
	if (offset < p->far_at || offset + need > p->far_at + p->far_len) {
		if (++p->reads > FAR_READS)
			return NULL;
		n = file_read(p->fd, p->far, FAR_BYTES, offset);
		p->far_at = offset;
		p->far_len = n < 0 ? 0 : (size_t)n;
		if (p->far_len < need)
			return NULL;
	}
	return p->far + (offset - p->far_at);
}

static bool is_container(uint32_t type)
{
	return type == PERF_RECORD_COMPRESSED || type == PERF_RECORD_COMPRESSED2;
}

/* Whether the contents of the kernel's record at @offset fit. Large records always pass. */
static bool fits(struct peeker *p, uint64_t offset, uint16_t size)
{
	const struct perf_event_header *hdr;
	const struct pd_evsel *evsel;
	struct pd_record record;
	struct pd_sample sample;
	const uint8_t *bytes;

	if (size > FAR_BYTES || p->df->swapped)
		return true;
	bytes = look(p, offset, size);
	if (!bytes)
		return false;
	if ((uintptr_t)bytes % 8)
		bytes = memcpy(p->record, bytes, size);
	hdr = (const struct perf_event_header *)bytes;
	evsel = pd_evlist_of_record(p->df->list, hdr, false);
	if (!evsel)
		return false;
	if (hdr->type == PERF_RECORD_SAMPLE)
		return !pd_sample_decode(hdr, evsel, &sample, NULL);
	return !pd_record_decode(hdr, evsel, &record);
}

/* Whether records of this type occur in the midst of data. */
static bool may_begin(uint32_t type)
{
	return (type && type <= PERF_RECORD_CALLCHAIN_DEFERRED) || is_container(type) ||
	       type == PERF_RECORD_FINISHED_ROUND;
}

/* Size of a possible record at @offset; 0: no record, or one that cannot be in a chain. */
static uint32_t plausible(struct peeker *p, uint64_t offset, uint32_t *ret_type)
{
	const uint8_t *bytes = look(p, offset, RECORD_MIN);
	struct perf_event_header hdr;

	if (!bytes)
		return 0;
	hdr = pd_record_header(bytes, p->df->swapped);
	*ret_type = hdr.type;
	if (hdr.type == PERF_RECORD_FINISHED_ROUND)
		return hdr.size == RECORD_MIN ? hdr.size : 0;
	if (is_container(hdr.type))
		return hdr.size > RECORD_MIN ? hdr.size : 0;
	if (!may_begin(hdr.type) || hdr.size <= RECORD_MIN || hdr.size % 8)
		return 0;
	return fits(p, offset, hdr.size) ? hdr.size : 0;
}

/* Whether the container at @offset begins a frame. Otherwise it continues the one before. */
static bool begins_frame(struct peeker *p, uint64_t offset, uint32_t type)
{
	size_t head = type == PERF_RECORD_COMPRESSED2 ? RECORD_MIN + 8 : RECORD_MIN;
	const uint8_t *bytes = look(p, offset, head + sizeof(uint32_t));

	return bytes &&
	       load_u32(bytes + head, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) == ZSTD_MAGICNUMBER;
}

/* Records that follow one another. */
struct chain {
	uint64_t middle; /* to split at; UINT64_MAX: there is no chain, or no use of it */
	uint64_t sample; /* the first sample; UINT64_MAX: none */
};

/* Follows the chain from @offset on. Returns chain.middle. */
static uint64_t follow(struct peeker *p, uint64_t offset, struct chain *ret)
{
	uint64_t start = offset, middle = 0;
	bool container = false;

	*ret = (struct chain){UINT64_MAX, UINT64_MAX};

	for (unsigned int n = 0; n < CHAIN_RECORDS; n++) {
		uint32_t type, size = plausible(p, offset, &type);

		if (!size)
			return UINT64_MAX;
		if (type == PERF_RECORD_SAMPLE && ret->sample == UINT64_MAX)
			ret->sample = offset;
		if (n == CHAIN_RECORDS / 2 || (!middle && n >= CHAIN_FEW / 2 && size > 4096))
			middle = offset;
		if (middle && !container && is_container(type)) {
			container = true;
			if (!begins_frame(p, offset, type))
				return UINT64_MAX;
		}
		offset += size;
		if (middle && n >= CHAIN_FEW && offset - start >= CHAIN_FEW_BYTES)
			break;
	}
	ret->middle = middle;
	return middle;
}

#define TIME_WITHIN 64 /* bytes of a sample that have its time and its event */

/* Returns the time of a possible sample near the guessed place; 0: it is none, or has no time. */
static uint64_t sample_time(struct peeker *p, uint64_t offset, uint32_t *ret_size)
{
	const struct perf_event_header *hdr;
	const struct pd_evsel *evsel;
	const uint8_t *bytes;

	if (offset + TIME_WITHIN > p->near_at + p->near_len)
		return 0;
	bytes = look(p, offset, TIME_WITHIN);
	hdr = (const struct perf_event_header *)bytes;
	if (!bytes || (uintptr_t)bytes % 8 || hdr->type != PERF_RECORD_SAMPLE ||
	    hdr->size < TIME_WITHIN || hdr->size % 8)
		return 0;
	evsel = pd_evlist_of_record(p->df->list, hdr, false);
	*ret_size = hdr->size;
	return evsel ? pd_sample_time(hdr, evsel) : 0;
}

/* Returns the type that a record at @at of the bytes near the guessed place would have. */
static uint32_t type_near(const struct peeker *p, size_t at)
{
	return load_u32(p->near + at, p->df->swapped);
}

/* Changes @c to a chain of later samples that begins within its first one. */
static bool find_later(struct peeker *p, struct chain *c)
{
	uint32_t size = 0, unused;
	uint64_t first = c->sample, time = sample_time(p, first, &size);
	uint64_t end = p->near_at + p->near_len;
	struct chain later;

	if (end > first + size)
		end = first + size;
	for (uint64_t at = first + 8; time && at + RECORD_MIN <= end; at += 8)
		if (type_near(p, at - p->near_at) == PERF_RECORD_SAMPLE &&
		    sample_time(p, at, &unused) > time && follow(p, at, &later) != UINT64_MAX) {
			*c = later;
			return true;
		}
	return false;
}

/* Whether samples may have old records in them, which the kernel did not overwrite. */
static bool may_hold_records(const struct peeker *p)
{
	return !p->df->swapped && pd_evlist_sample_type(p->df->list) & PERF_SAMPLE_STACK_USER;
}

uint64_t split_find(const struct data_file *df, const struct segment *seg, int fd, uint64_t from)
{
	struct peeker *p = malloc(sizeof(*p));
	struct chain found = {UINT64_MAX, UINT64_MAX};
	ssize_t n;

	if (!p)
		return UINT64_MAX;
	/* In most files records are at multiples of 8 from the first one. */
	from += (seg->begin - from) % 8;
	n = file_read(fd, p->near, LOOK_BYTES, from);
	p->df = df;
	p->fd = fd;
	p->end = seg->end;
	p->near_at = from;
	p->near_len = n < 0 ? 0 : (size_t)n;
	p->far_at = 0;
	p->far_len = p->reads = 0;
	for (size_t at = 0; found.middle == UINT64_MAX && at + RECORD_MIN <= p->near_len; at += 8)
		if (may_begin(type_near(p, at)))
			follow(p, from + at, &found);
	while (found.middle != UINT64_MAX && found.sample != UINT64_MAX && may_hold_records(p) &&
	       find_later(p, &found))
		continue;
	free(p);
	return found.middle;
}
