// SPDX-License-Identifier: Apache-2.0
#include "data/scan/resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/file/tail_cover.h"
#include "perfdata/sample.h"

#define WINDOW	   (1u << 20)
#define COPY_MAX   1024u	  /* bytes of a record that are copied to be decoded */
#define OTHER_MAX  8192u	  /* bytes of a record that is not a sample: a path has 4096 */
#define TIME_BACK  10000000000ull /* ns; rings are written one after the other */
#define TIME_AHEAD (3600 * 1000000000ull)

struct resume {
	uint64_t at; /* file offset of window[0] */
	size_t len;
	uint8_t window[WINDOW] __attribute__((aligned(8)));
};

/* The bytes to search for records. */
struct view {
	const struct data_file *df;
	const uint8_t *p;
	size_t len;
	bool ends;     /* nothing follows them */
	uint64_t left; /* bytes that follow them in the file */
};

enum verdict {
	NO,
	YES,
	LAST,	/* a record, and no record follows: the run ends and needs no more */
	BEYOND, /* not known: the view ends too early */
};

/* Whether the aligned record @hdr, in the file's order, decodes. */
static bool decodes(const struct data_file *df, struct perf_event_header *copy,
		    const struct perf_event_header *hdr)
{
	const struct pd_evsel *evsel;
	struct pd_record record;
	struct pd_sample sample;
	int rc;

	if (df->swapped && pd_record_to_host(copy, df->list))
		return false;
	evsel = pd_evlist_of_record(df->list, hdr, false);
	if (hdr->type == PERF_RECORD_SAMPLE)
		return evsel && !pd_sample_decode(hdr, evsel, &sample, NULL);
	if (!evsel && hdr->type < PERF_RECORD_HEADER_ATTR)
		return false;
	rc = pd_record_decode(hdr, evsel, &record);
	return !rc || rc == -ENOTSUP;
}

/* Whether the record at @p decodes, at any alignment. *@ret_time is its time, 0 if not known. */
static bool fits(const struct data_file *df, const uint8_t *p, const struct perf_event_header *hdr,
		 uint64_t *ret_time)
{
	uint64_t buf[COPY_MAX / 8];
	struct perf_event_header *copy = (struct perf_event_header *)buf;
	const struct perf_event_header *record = (const struct perf_event_header *)p;

	*ret_time = 0;
	if (df->swapped || (uintptr_t)p % 8) {
		memcpy(buf, p, hdr->size < COPY_MAX ? hdr->size : COPY_MAX);
		*copy = *hdr;
		record = copy;
		/* Of a long record only the event is checked: its id is at the beginning. */
		if (hdr->size > COPY_MAX)
			return hdr->type == PERF_RECORD_SAMPLE &&
			       pd_evlist_of_record(df->list, copy, df->swapped);
	}
	if (!decodes(df, copy, record))
		return false;
	*ret_time = pd_record_time(record, pd_evlist_of_record(df->list, record, false));
	return true;
}

static enum verdict auxtrace(const struct view *v, size_t at, const struct perf_event_header *hdr)
{
	const uint8_t *p = v->p + at;
	uint64_t size, left = v->len - at + v->left;

	if (hdr->size != sizeof(struct tail_cover))
		return NO;
	size = load_u64(p + offsetof(struct tail_cover, size), v->df->swapped);
	return size <= left - hdr->size || load_u64(p + offsetof(struct tail_cover, reference),
						    v->df->swapped) == COVER_REFERENCE
		       ? LAST
		       : NO;
}

/* Whether @hdr may be a header. The rest of the record is not read. */
static bool may_be(const struct perf_event_header *hdr)
{
	if (hdr->type >= PERF_RECORD_HEADER_ATTR)
		return hdr->type <= PERF_RECORD_SCHEDSTAT_DOMAIN && hdr->size >= RECORD_MIN;
	return hdr->type && hdr->type <= PERF_RECORD_CALLCHAIN_DEFERRED && hdr->size > RECORD_MIN &&
	       hdr->size % 8 == 0 && (hdr->type == PERF_RECORD_SAMPLE || hdr->size <= OTHER_MAX);
}

static enum verdict judge(const struct view *v, size_t at, uint16_t *ret_size, uint64_t *ret_time)
{
	const uint8_t *p = v->p + at;
	struct perf_event_header hdr;

	*ret_time = 0;
	if (v->len - at < RECORD_MIN)
		return v->ends ? NO : BEYOND;
	hdr = pd_record_header(p, v->df->swapped);
	*ret_size = hdr.size;
	if (!may_be(&hdr))
		return NO;
	if (hdr.size > v->len - at)
		return v->ends ? NO : BEYOND;
	switch (hdr.type) {
	case PERF_RECORD_FINISHED_ROUND: return hdr.size == RECORD_MIN ? YES : NO;
	case PERF_RECORD_COMPRESSED:
	case PERF_RECORD_COMPRESSED2: return hdr.size > 2 * RECORD_MIN ? YES : NO;
	case PERF_RECORD_HEADER_TRACING_DATA: return NO; /* bytes that are no records follow */
	case PERF_RECORD_AUXTRACE: return auxtrace(v, at, &hdr);
	default: return fits(v->df, p, &hdr, ret_time) ? YES : NO;
	}
}

/* Whether a run of records begins at @at: YES, NO or BEYOND. *@ret_time is its time, or 0. */
static enum verdict run_at(const struct view *v, size_t at, uint64_t *ret_time)
{
	uint64_t time, before = 0;
	uint16_t size;

	*ret_time = 0;
	for (unsigned int n = 0; n < RESUME_RECORDS; n++) {
		enum verdict is;

		if (at == v->len && v->ends)
			return n > 1 ? YES : NO;
		is = judge(v, at, &size, &time);
		if (is == LAST)
			return n > 1 ? YES : NO;
		if (is != YES)
			return is;
		if (time && before && (time + TIME_BACK < before || time > before + TIME_AHEAD))
			return NO;
		before = time ? time : before;
		*ret_time = *ret_time ? *ret_time : before;
		at += size;
	}
	return YES;
}

/*
 * Finds the newest run that begins within the record at @at, which begins a run at @time.
 *
 * The kernel does not clear the unused part of a stack copy: it still holds bytes of earlier
 * records in the ring. Old records of the same size stand there, and they lead from one such part
 * to the next. But a run of true records begins within the first of them, and its times are newer.
 * Returns YES with the place, or BEYOND.
 */
static enum verdict newest_run(const struct view *v, size_t at, uint64_t time, size_t *ret_at)
{
	size_t end = at + pd_record_header(v->p + at, v->df->swapped).size, newest = at;

	while (++at < end && time) {
		uint64_t other;
		enum verdict is = run_at(v, at, &other);

		if (is == BEYOND)
			return is;
		if (is == YES && other > time) {
			newest = at;
			time = other;
		}
	}
	*ret_at = newest;
	return YES;
}

/* Whether no record begins within the word at @p. Most skipped bytes are zeros. */
static bool is_void(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !word;
}

/*
 * Searches from @at on. Returns YES with the place, BEYOND with the first undecided place, or NO.
 */
static enum verdict search(const struct view *v, size_t at, size_t *ret_at)
{
	for (; at < v->len; at++) {
		enum verdict is;
		uint64_t time;

		/* The last byte of a void may begin a record of the other byte order. */
		while (v->len - at > 16 && is_void(v->p + at) && is_void(v->p + at + 8))
			at += 8;
		is = run_at(v, at, &time);
		*ret_at = at;
		if (is == YES)
			return newest_run(v, at, time, ret_at);
		if (is == BEYOND)
			return is;
	}
	*ret_at = v->len;
	return NO;
}

int resume_find_in(const struct data_file *df, const uint8_t *p, size_t len, bool ends,
		   size_t *ret_at)
{
	const struct view v = {.df = df, .p = p, .len = len, .ends = ends};

	return search(&v, 0, ret_at) == YES;
}

/* Reads the window again from @from, unless it reaches far enough. Returns 0, -ENOMEM or -EIO. */
static int fill(struct resume **r, const struct segment *seg, int fd, uint64_t from)
{
	struct resume *w = *r;
	uint64_t need = seg->end - from < RESUME_SPAN ? seg->end - from : RESUME_SPAN;
	ssize_t n;

	if (!w) {
		w = malloc(sizeof(*w));
		if (!w)
			return -ENOMEM;
		w->at = w->len = 0;
		*r = w;
	}
	if (from >= w->at && from - w->at + need <= w->len)
		return 0;
	/* Keeps the alignment of records, which are whole words unless they are compressed. */
	w->at = from - (from - seg->begin) % 8;
	n = file_read(fd, w->window, seg->end - w->at < WINDOW ? seg->end - w->at : WINDOW, w->at);
	w->len = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -EIO : 0;
}

int resume_find(struct resume **r, const struct data_file *df, const struct segment *seg, int fd,
		uint64_t from, uint64_t *ret_offset)
{
	uint64_t begin = from;

	while (from < seg->end && from - begin < RESUME_MAX) {
		struct view v = {.df = df};
		enum verdict is;
		size_t at;
		int rc = fill(r, seg, fd, from);

		if (rc)
			return rc;
		v.p = (*r)->window;
		v.len = (*r)->len;
		v.left = seg->end - (*r)->at - v.len;
		v.ends = !v.left;
		if (from - (*r)->at >= v.len)
			return 0; /* the file became shorter */
		is = search(&v, (size_t)(from - (*r)->at), &at);
		*ret_offset = (*r)->at + at;
		if (is == YES)
			return 1;
		if (is == BEYOND && *ret_offset == from)
			return 0; /* the file became shorter */
		from = *ret_offset;
	}
	return 0;
}

void resume_free(struct resume *r)
{
	free(r);
}
