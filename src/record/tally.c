// SPDX-License-Identifier: Apache-2.0
#include "record/tally.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "record/live.h"

struct tally_stage {
	struct sink sink;
	struct sink *next;
	struct tally_opts opts;
	struct tally counts;
	_Alignas(8) uint8_t record[UINT16_MAX + 1]; /* one that wraps, made whole */
};

static uint64_t sample_time(const struct tally_stage *t, const struct run *run, size_t at,
			    size_t size)
{
	uint64_t time = 0;

	if (t->opts.time_at && size >= t->opts.time_at + sizeof(time))
		run_copy(run, at + t->opts.time_at, &time, sizeof(time));
	return time;
}

/* A record that somebody asked for. */
static int tally_show(struct tally_stage *t, const struct run *run, size_t at,
		      const struct perf_event_header *h)
{
	bool map = t->opts.map && (h->type == PERF_RECORD_MMAP || h->type == PERF_RECORD_MMAP2);
	bool lost = t->opts.lost &&
		    (h->type == PERF_RECORD_LOST || h->type == PERF_RECORD_LOST_SAMPLES);
	bool sideband = t->opts.sideband && live_wants(h->type);
	const struct perf_event_header *whole = (const void *)t->record;
	int code = 0;

	if (map || lost || sideband)
		run_copy(run, at, t->record, h->size);
	if (map)
		code = t->opts.map(whole, t->opts.arg);
	if (!code && lost)
		code = t->opts.lost(whole, run->cpu, t->opts.arg);
	if (!code && sideband)
		code = t->opts.sideband(whole, t->opts.arg);
	return code;
}

/*
 * Samples are the many: for them only the header is read, and the time of the first and the last
 * of the run, which is in order as one ring is.
 */
static int tally_run(struct tally_stage *t, const struct run *run)
{
	size_t at = 0, end = run_bytes(run), last_at = 0;
	uint64_t samples = 0, first = 0, last;
	struct perf_event_header h, last_h = {0};
	int code = 0;

	while (!code && end - at >= sizeof(h)) {
		run_copy(run, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - at)
			break;
		switch (h.type) {
		case PERF_RECORD_SAMPLE:
			if (!samples++)
				first = sample_time(t, run, at, h.size);
			last_at = at;
			last_h = h;
			break;
		default: code = tally_show(t, run, at, &h); break;
		}
		t->counts.records++;
		at += h.size;
	}
	t->counts.odd += !code && at != end;
	t->counts.samples += samples;
	if (samples) {
		last = sample_time(t, run, last_at, last_h.size);
		if (first && (!t->counts.first || first < t->counts.first))
			t->counts.first = first;
		if (last > t->counts.last)
			t->counts.last = last;
	}
	return code;
}

/* The next stage has answered @code to what was counted. */
static int tally_passed(struct tally_stage *t, int code)
{
	if (!code)
		t->counts.passed = t->counts.samples;
	return code;
}

static int tally_write(struct sink *s, const struct run *run, struct error *err)
{
	struct tally_stage *t = (struct tally_stage *)s;
	int code = tally_run(t, run);

	if (code)
		return error_sys(err, code, "counting records");
	return tally_passed(t, sink_write(t->next, run, err));
}

static int tally_take(struct sink *s, struct chunk *c, struct error *err)
{
	struct tally_stage *t = (struct tally_stage *)s;
	int code = tally_run(t, &c->run);

	if (code) {
		chunk_put(c);
		return error_sys(err, code, "counting records");
	}
	return tally_passed(t, sink_take(t->next, c, err));
}

static int tally_flush(struct sink *s, struct error *err)
{
	struct tally_stage *t = (struct tally_stage *)s;
	int code = sink_flush(t->next, err);

	if (!code)
		t->counts.flushed = t->counts.passed;
	return code;
}

static void tally_free(struct sink *s)
{
	free(s);
}

static const struct sink_ops tally_ops = {
	.write = tally_write,
	.take = tally_take,
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

void tally_add(struct tally *to, const struct tally *from)
{
	to->records += from->records;
	to->samples += from->samples;
	to->odd += from->odd;
	if (from->first && (!to->first || from->first < to->first))
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
}
