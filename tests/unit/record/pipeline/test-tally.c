// SPDX-License-Identifier: Apache-2.0
/*
 * The stage that counts, with random records in runs of one or two spans, split at any word. After
 * each run the counts are those of the records, each function got its records whole and in order,
 * and the next stage got all bytes unchanged.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "perfdata/abi.h"
#include "record/live/task_table.h"
#include "record/pipeline/tally.h"

#define TIME_AT 24

struct keeper {
	struct sink sink;
	struct buf got;
	unsigned int flushes;
	int fail; /* errno of the next calls */
};

static int keep(struct sink *s, const struct run *run, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	if (k->fail)
		return error_set(err, k->fail, "as the test wants it");
	assert_int_equal(buf_append(&k->got, run->a, run->a_len), 0);
	assert_int_equal(buf_append(&k->got, run->b, run->b_len), 0);
	return 0;
}

static int flush(struct sink *s, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	k->flushes++;
	return k->fail ? error_set(err, k->fail, "as the test wants it") : 0;
}

static const struct sink_ops keeper_ops = {.write = keep, .flush = flush};

/* What the functions got, and what they were to get. */
struct shown {
	struct buf map, lost, sideband;
	int fail;
};

static int show(struct buf *b, const struct perf_event_header *hdr, int fail)
{
	assert_int_equal((uintptr_t)hdr % 8, 0);
	assert_int_equal(buf_append(b, hdr, hdr->size), 0);
	return fail;
}

static int show_map(const struct perf_event_header *hdr, void *arg)
{
	return show(&((struct shown *)arg)->map, hdr, ((struct shown *)arg)->fail);
}

static int show_lost(const struct perf_event_header *hdr, const struct run *run, void *arg)
{
	assert_int_equal(run->cpu, 3);
	return show(&((struct shown *)arg)->lost, hdr, 0);
}

static int show_sideband(const struct perf_event_header *hdr, void *arg)
{
	return show(&((struct shown *)arg)->sideband, hdr, 0);
}

struct setup {
	struct keeper next;
	struct shown got, want;
	struct buf bytes;		/* all that was written */
	size_t maps, losses, sidebands; /* bytes that the functions got */
	struct tally counts;
	struct sink *stage;
};

static void begin(struct setup *s, unsigned int time_at)
{
	const struct tally_opts opts = {.time_at = time_at,
					.map = show_map,
					.lost = show_lost,
					.sideband = show_sideband,
					.arg = &s->got};

	*s = (struct setup){.next.sink.ops = &keeper_ops};
	s->stage = tally_new(&s->next.sink, &opts);
	assert_non_null(s->stage);
}

static void shown_release(struct shown *shown)
{
	buf_release(&shown->map);
	buf_release(&shown->lost);
	buf_release(&shown->sideband);
}

static void end(struct setup *s)
{
	sink_free(s->stage);
	shown_release(&s->got);
	shown_release(&s->want);
	buf_release(&s->next.got);
	buf_release(&s->bytes);
}

/* Compares the bytes since the last call. Returns their number. */
static size_t check_same(struct buf *a, struct buf *b)
{
	size_t len = a->len;

	assert_int_equal(len, b->len);
	if (len)
		assert_memory_equal(a->data, b->data, len);
	a->len = b->len = 0;
	return len;
}

static void check_counts(struct setup *s)
{
	const struct tally *t = tally_get(s->stage);

	assert_memory_equal(t, &s->counts, sizeof(*t));
	s->maps += check_same(&s->got.map, &s->want.map);
	s->losses += check_same(&s->got.lost, &s->want.lost);
	s->sidebands += check_same(&s->got.sideband, &s->want.sideband);
}

/* Appends a record to the run's bytes @b, and to those that the functions are to get. */
static void add_record(struct setup *s, struct buf *b, uint32_t type, uint16_t size, uint64_t time)
{
	struct perf_event_header h = {.type = type, .size = size};
	size_t at = b->len;

	assert_int_equal(buf_append(b, &h, sizeof(h)), 0);
	for (size_t i = sizeof(h); i < size; i += 8) {
		uint64_t word = i == TIME_AT ? time : (uint64_t)rand();

		assert_int_equal(buf_append(b, &word, 8), 0);
	}
	s->counts.records++;
	s->counts.samples += type == PERF_RECORD_SAMPLE;
	if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
		assert_int_equal(buf_append(&s->want.map, b->data + at, size), 0);
	if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES ||
	    type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE)
		assert_int_equal(buf_append(&s->want.lost, b->data + at, size), 0);
	if (task_table_wants(type))
		assert_int_equal(buf_append(&s->want.sideband, b->data + at, size), 0);
}

/* A copy of @len bytes, behind which ASan sees every access; NULL for none. */
static uint8_t *copy(const uint8_t *p, size_t len)
{
	uint8_t *to = len ? malloc(len) : NULL;

	assert_true(to || !len);
	if (len)
		memcpy(to, p, len);
	return to;
}

/* A run of copies, for run_free(). */
static struct run split(const struct buf *b)
{
	size_t a_len = rand() % 3 ? 8 * ((size_t)rand() % (b->len / 8 + 1)) : b->len;

	return (struct run){.a = copy(b->data, a_len),
			    .a_len = a_len,
			    .b = copy(b->data + a_len, b->len - a_len),
			    .b_len = b->len - a_len,
			    .ring = 1,
			    .cpu = 3};
}

static void run_free(const struct run *run)
{
	free((void *)(uintptr_t)run->a);
	free((void *)(uintptr_t)run->b);
}

/* Fills @b with records whose samples have times from @time on; first and last are counted. */
static void fill(struct setup *s, struct buf *b, uint64_t time, bool backward)
{
	unsigned int nr = 1 + (unsigned int)rand() % 30, samples = 0;

	b->len = 0;
	for (unsigned int i = 0; i < nr; i++) {
		uint32_t type = rand() % 2 ? PERF_RECORD_SAMPLE : 1 + (uint32_t)rand() % 20;
		uint16_t size = (uint16_t)(rand() % 20 ? 40 + 8 * (rand() % 8) : 65528);
		uint64_t at = backward ? time + nr - i : time + i;

		add_record(s, b, type, size, at);
		if (type != PERF_RECORD_SAMPLE)
			continue;
		samples++;
		if (!s->counts.first || at < s->counts.first)
			s->counts.first = at;
		if (at > s->counts.last)
			s->counts.last = at;
	}
}

static void write_run(struct setup *s, const struct buf *b)
{
	const struct run run = split(b);
	struct error err = ERROR_INIT;

	assert_int_equal(sink_write(s->stage, &run, &err), 0);
	run_free(&run);
	assert_int_equal(buf_append(&s->bytes, b->data, b->len), 0);
	s->counts.passed = s->counts.samples;
	check_counts(s);
	check_same(&s->next.got, &s->bytes);
}

static void test_random_runs(void **state)
{
	struct error err = ERROR_INIT;
	struct buf b = {0};
	struct setup s;

	begin(&s, TIME_AT);
	srand(1);
	for (int i = 0; i < 300; i++) {
		fill(&s, &b, 1000 + (uint64_t)(rand() % 1000), rand() % 2);
		write_run(&s, &b);
		if (rand() % 5)
			continue;
		assert_int_equal(sink_flush(s.stage, &err), 0);
		s.counts.flushed = s.counts.samples;
		check_counts(&s);
	}
	assert_true(s.maps && s.losses && s.sidebands && s.next.flushes);
	buf_release(&b);
	end(&s);
}

/* Samples without a time, or too short for one, have none. */
static void test_no_time(void **state)
{
	struct buf b = {0};
	struct setup s;

	begin(&s, 0);
	add_record(&s, &b, PERF_RECORD_SAMPLE, 40, 77);
	write_run(&s, &b);
	end(&s);
	b.len = 0;
	begin(&s, TIME_AT);
	add_record(&s, &b, PERF_RECORD_SAMPLE, 16, 0);
	write_run(&s, &b);
	end(&s);
	buf_release(&b);
}

/* Bytes that are no whole record are counted as such, and passed on. */
static void test_odd(void **state)
{
	struct buf b = {0};
	struct setup s;

	begin(&s, TIME_AT);
	for (uint16_t bad = 0; bad < 16; bad += 4) {
		struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = bad};

		h.size = bad < 8 ? bad : 4096; /* too short, or longer than the run */
		b.len = 0;
		add_record(&s, &b, PERF_RECORD_SAMPLE, 40, 50);
		assert_int_equal(buf_append(&b, &h, sizeof(h)), 0);
		s.counts.first = s.counts.last = 50;
		s.counts.odd++;
		write_run(&s, &b);
	}
	buf_release(&b);
	end(&s);
}

/* Errors of the next stage and of a function are those of the stage; nothing has passed then. */
static void test_errors(void **state)
{
	struct error err = ERROR_INIT;
	struct tally before;
	struct buf b = {0};
	struct setup s;
	struct run run;

	begin(&s, TIME_AT);
	add_record(&s, &b, PERF_RECORD_SAMPLE, 40, 50);
	s.counts.first = s.counts.last = 50;
	write_run(&s, &b);
	before = s.counts;
	s.next.fail = -ENOSPC;
	run = split(&b);
	assert_int_equal(sink_write(s.stage, &run, &err), -ENOSPC);
	s.counts.records++;
	s.counts.samples++;
	check_counts(&s);
	assert_int_equal(sink_flush(s.stage, &err), -ENOSPC);
	check_counts(&s);
	tally_restore(s.stage, &before);
	s.counts = before;
	check_counts(&s);

	tally_discard(s.stage, &run); /* which fails no more */
	s.counts.records++;
	s.counts.samples++;
	check_counts(&s);

	run_free(&run);
	s.next.fail = 0;
	s.got.fail = -ENOMEM;
	b.len = 0;
	add_record(&s, &b, PERF_RECORD_MMAP, 64, 0);
	run = split(&b);
	assert_int_equal(sink_write(s.stage, &run, &err), -ENOMEM);
	run_free(&run);
	check_same(&s.next.got, &s.bytes);
	buf_release(&b);
	end(&s);
}

/* Counts of records that took another way. */
static void test_passed_by(void **state)
{
	const struct tally more = {.records = 9, .samples = 5, .first = 20, .last = 80, .odd = 1};
	struct setup s;

	begin(&s, TIME_AT);
	assert_int_equal(tally_passed_by(s.stage, &more, 0), 0);
	s.counts = more;
	s.counts.passed = 5;
	check_counts(&s);
	assert_int_equal(tally_passed_by(s.stage, &(struct tally){.samples = 2, .first = 10}, 0),
			 0);
	s.counts.samples = s.counts.passed = 7;
	s.counts.first = 10;
	check_counts(&s);
	assert_int_equal(tally_passed_by(s.stage, &(struct tally){.samples = 2}, -EIO), -EIO);
	s.counts.samples = 9;
	check_counts(&s);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_runs), cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_odd),	    cmocka_unit_test(test_errors),
		cmocka_unit_test(test_passed_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
