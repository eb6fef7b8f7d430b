// SPDX-License-Identifier: Apache-2.0
/* Counts the records of a file that is being written. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/scan/decompress.h"
#include "data/writer/writer_priv.h"
#include "perfdata/record.h"

struct walk {
	const struct writer *w;
	struct inflater *inflater; /* NULL: compressed records are not counted */
	uint64_t table_end;	   /* bytes before this offset are in held, the others in the
				    * file */
	struct writer_rescued found;
	uint64_t from, to; /* the part of the file in @window */
	uint8_t window[(size_t)32 << 10];
};

/* Returns at least @len bytes from offset @at, or NULL. They must not span table_end. */
static const uint8_t *look(struct walk *walk, uint64_t at, size_t len)
{
	const struct writer *w = walk->w;
	ssize_t n;

	if (at < walk->table_end)
		return at + len <= w->visible + w->held.len ? w->held.data + (at - w->visible)
							    : NULL;
	if (at < walk->from || at + len > walk->to) {
		n = pread(w->fd, walk->window, sizeof(walk->window), (off_t)at);
		walk->from = at;
		walk->to = at + (uint64_t)(n > 0 ? n : 0);
	}
	return at + len <= walk->to ? walk->window + (at - walk->from) : NULL;
}

/* As look(), but copies to @to, and the bytes may span table_end. */
static bool fetch(struct walk *walk, uint64_t at, void *to, size_t len)
{
	const uint8_t *p;

	for (size_t i = 0; i < len; i++) {
		p = look(walk, at + i, 1);
		if (!p)
			return false;
		((uint8_t *)to)[i] = *p;
	}
	return true;
}

/* The beginning of a record: of LOST_SAMPLES with a count, of AUXTRACE with the bytes behind it. */
struct start {
	struct perf_event_header hdr;
	uint64_t word;
};

static void count(struct writer_rescued *found, const struct start *record)
{
	found->records += record->hdr.type != PERF_RECORD_COMPRESSED &&
			  record->hdr.type != PERF_RECORD_HEADER_EVENT_TYPE;
	found->samples += record->hdr.type == PERF_RECORD_SAMPLE;
	if (record->hdr.type == PERF_RECORD_LOST_SAMPLES && record->hdr.size >= sizeof(*record))
		found->lost += record->word;
	if (record->hdr.type == PERF_RECORD_AUXTRACE && record->hdr.size >= sizeof(*record))
		found->trace += record->word;
}

/* Counts the whole records that have been decompressed. */
static void count_decompressed(struct walk *walk)
{
	struct start r = {0};
	size_t len, at = 0;
	const uint8_t *p = inflater_peek(walk->inflater, &len);

	while (pd_record_at(p + at, len - at, &r.hdr)) {
		if (r.hdr.size >= sizeof(r))
			memcpy(&r, p + at, sizeof(r));
		count(&walk->found, &r);
		at += r.hdr.size;
	}
	inflater_consume(walk->inflater, at);
}

/* Decompresses and counts the contents of a COMPRESSED record, from @at to @end. */
static void count_compressed(struct walk *walk, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	const char *why;
	uint64_t n;

	for (; walk->inflater && at < end; at += n) {
		n = end - at < sizeof(walk->window) ? end - at : sizeof(walk->window);
		if (at < walk->table_end && n > walk->table_end - at)
			n = walk->table_end - at;
		p = look(walk, at, n);
		if (!p)
			return;
		inflater_input(walk->inflater, p, n, at);
		while (inflater_fill(walk->inflater, &why) > 0)
			count_decompressed(walk);
	}
}

/* Counts the whole records from @at to @end. Returns the end of the last one. */
static uint64_t walk_records(struct walk *walk, uint64_t at, uint64_t end)
{
	struct start r = {0};

	while (at + sizeof(r.hdr) <= end && fetch(walk, at, &r.hdr, sizeof(r.hdr))) {
		if (r.hdr.size < sizeof(r.hdr) || at + r.hdr.size > end ||
		    (r.hdr.size % 8 && r.hdr.type != PERF_RECORD_COMPRESSED))
			break;
		if (r.hdr.type == PERF_RECORD_COMPRESSED)
			count_compressed(walk, at + sizeof(r.hdr), at + r.hdr.size);
		if (r.hdr.size >= sizeof(r) && !fetch(walk, at, &r, sizeof(r)))
			break;
		if (r.hdr.type == PERF_RECORD_AUXTRACE && r.hdr.size >= sizeof(r)) {
			if (r.word > end - at - r.hdr.size)
				break;
			at += r.word;
		}
		count(&walk->found, &r);
		at += r.hdr.size;
	}
	return at;
}

uint64_t writer_whole_records(const struct writer *w, uint64_t end, struct writer_rescued *ret)
{
	struct walk walk = {
		.w = w,
		.inflater = inflater_new(),
		.table_end = w->visible + w->table.len,
	};

	end = walk_records(&walk, w->visible, end);
	inflater_free(walk.inflater);
	*ret = walk.found;
	return end;
}

void writer_remains(const struct writer *w, struct writer_rescued *ret)
{
	/* Reads everything from the file; held is empty. */
	struct walk walk = {.w = w, .inflater = inflater_new()};
	uint64_t end = w->visible;
	struct stat st;

	/* The file may be shorter now; a record counts only if it is there in whole. */
	if (!fstat(w->fd, &st) && (uint64_t)st.st_size < end)
		end = (uint64_t)st.st_size;
	/* Without a header the data begin at offset 0. */
	if (!writer_is_headless(w))
		walk_records(&walk, w->header.data.offset, end);
	inflater_free(walk.inflater);
	*ret = walk.found;
}
