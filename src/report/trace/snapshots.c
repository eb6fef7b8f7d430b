// SPDX-License-Identifier: Apache-2.0
#include "report/trace/snapshots.h"

#include <errno.h>
#include <stdlib.h>

/* Most records of a stream that replace the header of a file, and so precede the log. */
#define LOOK_AT 10000

/* From this place on, records of the segment belong to the snapshot. */
struct snapshot_mark {
	uint32_t segment;
	uint64_t offset, inner;
	uint64_t number;
};

static bool is_log(const struct perf_event_header *hdr)
{
	struct pd_snapshot_log log;

	return !pd_snapshot_decode(hdr, &log) && log.kind <= PD_SNAPSHOT_END;
}

static bool is_trace_info(const struct perf_event_header *hdr)
{
	return hdr->type == PERF_RECORD_AUXTRACE_INFO;
}

/* Whether such a record is among the first, before those of the kernel. */
static bool begins_with(struct data_file *df, bool (*is)(const struct perf_event_header *hdr))
{
	struct data_scan *scan;
	struct data_record rec;
	bool found = false;

	if (data_scan_new(df, 0, 0, DATA_WHOLE, 0, &scan))
		return false;
	for (int i = 0; i < LOOK_AT && !found && data_scan_next(scan, &rec) > 0; i++) {
		if (rec.hdr->type < PERF_RECORD_HEADER_ATTR)
			break;
		found = is(rec.hdr);
	}
	data_scan_free(scan);
	return found;
}

bool snapshots_are_in(struct data_file *df)
{
	return begins_with(df, is_log);
}

bool trace_info_is_in(struct data_file *df)
{
	const uint8_t *p;
	size_t len;

	return !data_feature(df, HEADER_AUXTRACE, &p, &len) || begins_with(df, is_trace_info);
}

bool snapshots_may_be_in(struct data_file *df)
{
	return snapshots_are_in(df) || trace_info_is_in(df);
}

static int add_mark(struct snapshots *s, const struct data_record *rec, uint64_t number)
{
	if (array_grow(&s->marks, &s->cap, s->nr + 1, sizeof(*s->marks)))
		return -ENOMEM;
	s->marks[s->nr++] = (struct snapshot_mark){
		.segment = rec->segment,
		.offset = rec->offset,
		.inner = rec->inner,
		.number = number,
	};
	return 0;
}

/* Only the first file of a directory has the whole log. The others mark where snapshots begin. */
int snapshots_add(struct snapshots *s, const struct data_record *rec)
{
	struct pd_snapshot_log log;

	if (pd_snapshot_decode(rec->hdr, &log))
		return 0;
	s->traces |= log.kind == PD_SNAPSHOT_AUX_RING && log.number;
	if (log.kind > PD_SNAPSHOT_END)
		return 0;
	if (log.kind == PD_SNAPSHOT_REQUEST && add_mark(s, rec, log.number))
		return -ENOMEM;
	if (rec->segment)
		return 0;
	if (array_grow(&s->entries, &s->cap_records, s->nr_records + 1, sizeof(*s->entries)))
		return -ENOMEM;
	s->entries[s->nr_records] = (struct snapshot_entry){
		.number = log.number,
		.kind = log.kind,
		.at = s->records.len,
	};
	if (buf_append(&s->records, rec->hdr, rec->hdr->size) ||
	    buf_zero(&s->records, -s->records.len & 7))
		return -ENOMEM;
	s->nr_records++;
	return 0;
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct snapshot_mark *x = a, *y = b;

	if (x->segment != y->segment)
		return by_number(x->segment, y->segment);
	return x->offset != y->offset ? by_number(x->offset, y->offset)
				      : by_number(x->inner, y->inner);
}

static int by_snapshot(const void *a, const void *b)
{
	const struct snapshot_entry *x = a, *y = b;

	if (x->number != y->number)
		return by_number(x->number, y->number);
	return x->kind != y->kind ? by_number(x->kind, y->kind) : by_number(x->at, y->at);
}

void snapshots_finish(struct snapshots *s)
{
	if (s->nr)
		qsort(s->marks, s->nr, sizeof(*s->marks), by_place);
	if (s->nr_records)
		qsort(s->entries, s->nr_records, sizeof(*s->entries), by_snapshot);
}

void snapshots_release(struct snapshots *s)
{
	free(s->marks);
	free(s->entries);
	buf_release(&s->records);
	*s = (struct snapshots){0};
}

/* Returns the number of marks at @place or before it. */
static size_t marks_until(const struct snapshots *s, const struct snapshot_mark *place)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&s->marks[middle], place) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t snapshots_of(const struct snapshots *s, const struct data_record *rec)
{
	const struct snapshot_mark place = {
		.segment = rec->segment,
		.offset = rec->offset,
		.inner = rec->inner,
	};
	size_t n = marks_until(s, &place);

	return n && s->marks[n - 1].segment == rec->segment ? s->marks[n - 1].number : 0;
}

bool snapshots_gap(const struct snapshots *s, const struct data_record *rec, uint64_t *newest)
{
	uint64_t number = s->nr ? snapshots_of(s, rec) : 0, before = *newest;

	if (number > before)
		*newest = number;
	return before && number > before;
}

bool snapshots_reach(const struct snapshots *s, uint64_t first, uint64_t last,
		     const struct sweep_run *run)
{
	const struct snapshot_mark from = {.segment = run->segment, .offset = run->from};
	size_t i = marks_until(s, &from);

	/*
	 * Begins with the snapshot under way at the beginning; adds those that begin before the
	 * end.
	 */
	for (i -= i > 0; i < s->nr && s->marks[i].segment <= run->segment; i++) {
		if (s->marks[i].segment < run->segment)
			continue;
		if (s->marks[i].offset >= run->to)
			break;
		if (s->marks[i].number >= first && s->marks[i].number <= last)
			return true;
	}
	return false;
}

bool snapshots_have(const struct snapshots *s, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->marks[i].number >= first && s->marks[i].number <= last)
			return true;
	return false;
}

void snapshots_read(const struct snapshots *s, size_t i, struct pd_snapshot_log *ret)
{
	/* Cannot fail: snapshots_add() has decoded it. */
	pd_snapshot_decode((const struct perf_event_header *)(s->records.data + s->entries[i].at),
			   ret);
}

size_t snapshots_count(const struct snapshots *s, uint64_t *ret_first, uint64_t *ret_last)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_records; i++)
		nr += !i || s->entries[i].number != s->entries[i - 1].number;
	if (nr) {
		*ret_first = s->entries[0].number;
		*ret_last = s->entries[s->nr_records - 1].number;
	}
	return nr;
}
