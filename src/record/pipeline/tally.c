// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/tally.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/aux_record.h"
#include "record/live/task_table.h"

#define PREFETCH 8 /* samples ahead */

struct tally_stage {
	struct sink sink;
	struct sink *next;
	struct tally_opts opts;
	struct tally counts;
	_Alignas(8) uint8_t record[UINT16_MAX + 1]; /* a whole record for the callbacks */
};

static uint64_t sample_time(const struct tally_stage *t, const struct run *run, size_t at)
{
	struct perf_event_header h;
	uint64_t time = 0;

	run_copy(run, at, &h, sizeof(h));
	if (t->opts.time_at && h.size >= t->opts.time_at + sizeof(time))
		run_copy(run, at + t->opts.time_at, &time, sizeof(time));
	return time;
}

bool tally_is_loss(uint32_t type)
{
	return type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES ||
	       type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE;
}

/* Calls the functions that want this record. */
static int tally_show(struct tally_stage *t, const struct run *run, size_t at,
		      const struct perf_event_header *h)
{
	bool map = t->opts.map && (h->type == PERF_RECORD_MMAP || h->type == PERF_RECORD_MMAP2);
	bool lost = t->opts.lost && tally_is_loss(h->type);
	bool sideband = t->opts.sideband && task_table_wants(h->type);
	const struct perf_event_header *whole = (const void *)t->record;
	int rc = 0;

	if (map || lost || sideband)
		run_copy(run, at, t->record, h->size);
	if (map)
		rc = t->opts.map(whole, t->opts.arg);
	if (!rc && lost)
		rc = t->opts.lost(whole, run, t->opts.arg);
	if (!rc && sideband)
		rc = t->opts.sideband(whole, t->opts.arg);
	return rc;
}

static void count_time(struct tally *counts, uint64_t time)
{
	if (time && (!counts->first || time < counts->first))
		counts->first = time;
	if (time > counts->last)
		counts->last = time;
}

/* The samples of a run: their number, and the offsets of the first and the last. */
struct samples {
	uint64_t nr;
	size_t first, last;
};

/*
 * Counts the samples from @at up to another record or the end of the first span. Another CPU has
 * copied the samples, so it prefetches the next ones while it counts. Returns the offset behind
 * them.
 */
static size_t walk_samples(struct hits *hits, const struct run *run, size_t at, struct samples *s)
{
	struct perf_event_header h;

	for (; run->a_len - at >= sizeof(h); at += h.size) {
		memcpy(&h, run->a + at, sizeof(h));
		if (h.type != PERF_RECORD_SAMPLE || h.size < sizeof(h) || h.size > run->a_len - at)
			break;
		__builtin_prefetch(run->a + at + (size_t)PREFETCH * h.size);
		if (hits)
			hits_add(hits, (const void *)(run->a + at));
		if (!s->nr++)
			s->first = at;
		s->last = at;
	}
	return at;
}

/* Counts a sample, or passes another record to tally_show(); the record may lie in both spans. */
static int tally_record(struct tally_stage *t, const struct run *run, size_t at,
			const struct perf_event_header *h, struct samples *s)
{
	if (h->type != PERF_RECORD_SAMPLE)
		return tally_show(t, run, at, h);
	if (t->opts.hits) {
		run_copy(run, at, t->record, h->size);
		hits_add(t->opts.hits, (const void *)t->record);
	}
	if (!s->nr++)
		s->first = at;
	s->last = at;
	return 0;
}

/*
 * Reads only the headers of samples, and the times of the first and the last one: a run is in order
 * of time as its ring is, forward or backward.
 */
static int tally_run(struct tally_stage *t, const struct run *run)
{
	size_t at = 0, end = run_bytes(run);
	struct samples samples = {0};
	uint64_t others = 0;
	struct perf_event_header h;
	int rc = 0;

	if (run_is_aux(run)) {
		t->counts.records++;
		t->counts.trace += run_bytes(run) - sizeof(struct pd_auxtrace_record);
		return 0;
	}
	while (!rc && end - at >= sizeof(h)) {
		if (at < run->a_len)
			at = walk_samples(t->opts.hits, run, at, &samples);
		if (end - at < sizeof(h))
			break;
		run_copy(run, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - at)
			break;
		rc = tally_record(t, run, at, &h, &samples);
		others += h.type != PERF_RECORD_SAMPLE;
		at += h.size;
	}
	t->counts.odd += !rc && at != end;
	t->counts.records += samples.nr + others;
	t->counts.samples += samples.nr;
	if (samples.nr) {
		count_time(&t->counts, sample_time(t, run, samples.first));
		count_time(&t->counts, sample_time(t, run, samples.last));
	}
	return rc;
}

/* Notes whether the next stage has taken all counted samples; returns its @rc. */
static int tally_passed(struct tally_stage *t, int rc)
{
	if (!rc)
		t->counts.passed = t->counts.samples;
	if (!rc)
		t->counts.passed_trace = t->counts.trace;
	return rc;
}

static int tally_write(struct sink *s, const struct run *run, struct error *err)
{
	struct tally_stage *t = (struct tally_stage *)s;
	int rc = tally_run(t, run);

	if (rc)
		return error_sys(err, rc, "counting records");
	return tally_passed(t, sink_write(t->next, run, err));
}

static int tally_flush(struct sink *s, struct error *err)
{
	struct tally_stage *t = (struct tally_stage *)s;
	int rc = sink_flush(t->next, err);

	if (!rc)
		t->counts.flushed = t->counts.passed;
	return rc;
}

static void tally_free(struct sink *s)
{
	free(s);
}

static const struct sink_ops tally_ops = {
	.write = tally_write,
	.flush = tally_flush,
	.free = tally_free,
};

struct sink *tally_new(struct sink *next, const struct tally_opts *opts)
{
	struct tally_stage *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->sink.ops = &tally_ops;
	t->next = next;
	t->opts = *opts;
	return &t->sink;
}

const struct tally *tally_get(const struct sink *s)
{
	return &((const struct tally_stage *)s)->counts;
}

void tally_restore(struct sink *s, const struct tally *counts)
{
	((struct tally_stage *)s)->counts = *counts;
}

void tally_discard(struct sink *s, const struct run *run)
{
	tally_run((struct tally_stage *)s, run);
}

int tally_passed_by(struct sink *s, const struct tally *more, int rc)
{
	struct tally_stage *t = (struct tally_stage *)s;

	tally_add(&t->counts, more);
	return tally_passed(t, rc);
}

void tally_add(struct tally *to, const struct tally *from)
{
	to->records += from->records;
	to->samples += from->samples;
	to->trace += from->trace;
	to->odd += from->odd;
	if (from->first && (!to->first || from->first < to->first))
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
}
