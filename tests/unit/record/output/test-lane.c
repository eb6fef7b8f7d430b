// SPDX-License-Identifier: Apache-2.0
/*
 * A lane with a file, and lanes that share a stream. After each flush the counts are those of the
 * records, and a reader finds all samples that the lane counts as flushed: also after a roll back,
 * on a full disk, and when another process has truncated the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "data-walk.h"
#include "process-limits.h"
#include "record/output/lane.h"

#define EVENTS 2

struct setup {
	char dir[64], path[96];
	struct pd_evlist *list;
	struct open_fd fds[EVENTS];
	struct opened opened;
	struct meter meter;
	struct lane lane;
	uint64_t samples; /* that were written */
	uint64_t tags;	  /* their sum */
};

static int begin(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));
	struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE,
			       .sample_period = 1000,
			       .sample_type = IMAGE_SAMPLE_TYPE,
			       .flags = PD_ATTR_SAMPLE_ID_ALL};

	if (!s)
		return -1;
	strcpy(s->dir, "/tmp/ringtail-lane-XXXXXX");
	if (!mkdtemp(s->dir))
		return -1;
	snprintf(s->path, sizeof(s->path), "%s/perf.data", s->dir);
	s->list = pd_evlist_new();
	for (unsigned int i = 0; i < EVENTS; i++) {
		s->fds[i] = (struct open_fd){.fd = -1, .id = IMAGE_ID + i, .event = i, .cpu = 3};
		if (pd_evlist_add(s->list, &attr, NULL, &s->fds[i].id, 1))
			return -1;
	}
	s->opened = (struct opened){.fds = s->fds, .nr_fds = EVENTS};
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct setup *s = *state;

	lane_release(&s->lane);
	pd_evlist_free(s->list);
	unlink(s->path);
	rmdir(s->dir);
	free(s);
	return 0;
}

/* Makes @lane write to @writer. */
static void make_lane(struct setup *s, struct lane *lane, struct writer *writer,
		      pthread_mutex_t *shared, bool borrowed)
{
	const struct lane_opts opts = {
		.writer = writer,
		.borrowed = borrowed,
		.shared = shared,
		.time_at = 32,
		.opened = &s->opened,
		.meter = &s->meter,
	};

	assert_int_equal(lane_init(lane, &opts), 0);
}

static void make_file(struct setup *s)
{
	static const uint8_t memory[8] = {1};
	const struct writer_feature feature = {HEADER_TOTAL_MEM, memory, sizeof(memory)};
	struct writer *writer;

	assert_int_equal(writer_create(s->path, s->list, &feature, 1, &writer, NULL), 0);
	make_lane(s, &s->lane, writer, NULL, false);
}

static int write_bytes(struct lane *lane, const struct image *im, struct error *err)
{
	const struct run run = {.a = im->b.data, .a_len = im->b.len, .cpu = 3};

	return sink_write(lane->chain, &run, err);
}

/* Writes @nr samples. Returns as sink_write() does. */
static int write_samples(struct setup *s, struct lane *lane, unsigned int nr, struct error *err)
{
	struct image im = {0};
	int rc;

	s->tags += image_numbered(&im, EVENTS, nr, &s->samples);
	rc = write_bytes(lane, &im, err);
	image_release(&im);
	return rc;
}

/* Appends a record of @type: LOST with @id, or LOST_SAMPLES. */
static void add_lost(struct image *im, uint32_t type, uint16_t misc, uint64_t id, uint64_t lost)
{
	image_u32(im, type);
	image_u16(im, misc);
	image_u16(im, type == PERF_RECORD_LOST ? 48 : 40);
	if (type == PERF_RECORD_LOST)
		image_u64(im, id);
	image_u64(im, lost);
	image_u64(im, 7 | 8ull << 32);
	image_u64(im, 500);
	image_u64(im, id);
}

/* The samples that a reader finds, and the sum of their tags. */
static uint64_t count_readable(const struct setup *s, uint64_t *ret_tags)
{
	struct data_file *df;
	struct walk w;

	assert_int_equal(data_open(s->path, false, &df, NULL), 0);
	w = walk(df, 0);
	data_close(df);
	if (ret_tags)
		*ret_tags = w.tag_sum;
	return w.samples;
}

static void assert_readable(const struct setup *s, uint64_t samples, uint64_t tags)
{
	uint64_t sum;

	assert_int_equal(count_readable(s, &sum), samples);
	assert_int_equal(sum, tags);
}

static void test_counts_are_of_the_last_flush(void **state)
{
	struct setup *s = *state;
	uint64_t flushed = 0, tags = 0, bytes = 0;

	make_file(s);
	for (unsigned int i = 0; i < 6; i++) {
		struct lane_view view = lane_view(&s->lane);

		assert_int_equal(view.samples, flushed);
		assert_int_equal(view.bytes, bytes);
		assert_int_equal(lane_flushed_size(&s->lane).bytes, bytes);
		if (i)
			assert_readable(s, flushed, tags);
		assert_int_equal(write_samples(s, &s->lane, 1 + 500 * i, NULL), 0);
		if (i % 2)
			continue;
		assert_int_equal(lane_flush(&s->lane, NULL), 0);
		flushed = s->samples;
		tags = s->tags;
		bytes = lane_bytes(&s->lane);
		assert_int_equal(lane_flushed_size(&s->lane).records, flushed);
		assert_true(bytes >= flushed * 40);
	}
}

/* Each loss has the cause that its record tells, and the event that its id tells. */
static void test_losses_have_causes(void **state)
{
	static const struct {
		enum loss_cause cause;
		unsigned int event;
		uint64_t count;
	} want[] = {
		{LOSS_PMU, LOSS_NO_EVENT, 7}, {LOSS_POOL, 1, 3 + 5}, {LOSS_POOL, LOSS_NO_EVENT, 2}};
	struct setup *s = *state;
	struct image im = {0};

	make_file(s);
	add_lost(&im, PERF_RECORD_LOST, 0, IMAGE_ID, 100);
	add_lost(&im, PERF_RECORD_LOST_SAMPLES, 0, IMAGE_ID, 7);
	add_lost(&im, PERF_RECORD_LOST_SAMPLES, PD_MISC_LOST_POOL, IMAGE_ID + 1, 3);
	add_lost(&im, PERF_RECORD_LOST_SAMPLES, PD_MISC_LOST_POOL, IMAGE_ID + 1, 5);
	add_lost(&im, PERF_RECORD_LOST_SAMPLES, PD_MISC_LOST_POOL, 4711, 2);
	image_head(&im, PERF_RECORD_LOST, 8); /* without a count */
	assert_int_equal(write_bytes(&s->lane, &im, NULL), 0);
	image_release(&im);
	assert_int_equal(lane_view(&s->lane).lost, 0);
	assert_int_equal(lane_flush(&s->lane, NULL), 0);
	assert_int_equal(lane_view(&s->lane).lost, 100);
	assert_int_equal(lane_view(&s->lane).dropped, 7 + 3 + 5 + 2);
	assert_int_equal(s->lane.lost_records.nr, 1);
	assert_int_equal(s->lane.lost_records.entries[0].cause, LOSS_RING);
	assert_int_equal(s->lane.lost_records.entries[0].event, LOSS_NO_EVENT);
	assert_int_equal(s->lane.lost_records.entries[0].cpu, 3);
	assert_int_equal(s->lane.dropped.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(s->lane.dropped.entries[i].cause, want[i].cause);
		assert_int_equal(s->lane.dropped.entries[i].event, want[i].event);
		assert_int_equal(s->lane.dropped.entries[i].count, want[i].count);
	}
}

static void test_merge_adds_losses(void **state)
{
	struct setup *s = *state;
	struct lane other;

	make_file(s);
	make_lane(s, &other, s->lane.writer, NULL, true);
	assert_int_equal(loss_add(&s->lane.lost_records, LOSS_RING, LOSS_NO_EVENT, 1, 5), 0);
	assert_int_equal(loss_add(&other.lost_records, LOSS_RING, LOSS_NO_EVENT, 1, 6), 0);
	assert_int_equal(loss_add(&other.dropped, LOSS_PMU, LOSS_NO_EVENT, 2, 7), 0);
	assert_int_equal(lane_merge(&s->lane, &other), 0);
	assert_int_equal(s->lane.lost_records.total, 11);
	assert_int_equal(s->lane.lost_records.nr, 1);
	assert_int_equal(s->lane.dropped.total, 7);
	lane_release(&other);
}

/* The output is full at its limit, and not after a roll back below it. */
static void test_meter(void **state)
{
	struct setup *s = *state;
	struct lane_mark mark;
	uint64_t start;

	make_file(s);
	assert_false(lane_measure(&s->lane));
	start = s->meter.bytes;
	assert_int_equal(lane_mark(&s->lane, &mark), 0);
	s->meter.limit = start + 400;
	assert_int_equal(write_samples(s, &s->lane, 9, NULL), 0);
	assert_false(lane_measure(&s->lane));
	assert_int_equal(s->meter.bytes, start + 360);
	assert_int_equal(write_samples(s, &s->lane, 1, NULL), 0);
	assert_true(lane_measure(&s->lane));
	assert_true(lane_measure(&s->lane));
	assert_int_equal(s->meter.bytes, start + 400);
	assert_int_equal(lane_roll_back(&s->lane, &mark, NULL), 0);
	assert_int_equal(s->meter.bytes, start);
	assert_false(lane_measure(&s->lane));
	s->meter.limit = 0;
	assert_int_equal(write_samples(s, &s->lane, 100, NULL), 0);
	assert_false(lane_measure(&s->lane));
	lane_mark_release(&mark);
}

static void test_roll_back(void **state)
{
	struct setup *s = *state;
	struct lane_mark mark;
	uint64_t samples, tags;

	make_file(s);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(write_samples(s, &s->lane, 10 + i, NULL), 0);
		assert_int_equal(lane_flush(&s->lane, NULL), 0);
		assert_int_equal(lane_mark(&s->lane, &mark), 0);
		samples = s->samples;
		tags = s->tags;
		/* more than the writer holds back, flushed or not */
		assert_int_equal(write_samples(s, &s->lane, 50000, NULL), 0);
		if (i % 2)
			assert_int_equal(lane_flush(&s->lane, NULL), 0);
		assert_int_equal(lane_roll_back(&s->lane, &mark, NULL), 0);
		lane_mark_release(&mark);
		s->samples = samples;
		s->tags = tags;
		assert_int_equal(tally_get(s->lane.chain)->samples, samples);
		assert_int_equal(lane_view(&s->lane).samples, samples);
		assert_int_equal(lane_view(&s->lane).bytes, lane_bytes(&s->lane));
		assert_readable(s, samples, tags);
	}
	lane_mark_release(&(struct lane_mark){0});
}

/* The records of traces that were rolled back are not in the index. */
static void test_roll_back_of_traces(void **state)
{
	struct setup *s = *state;
	struct lane_mark mark;
	struct image im = {0};
	struct run run;
	size_t nr;

	image_head(&im, PERF_RECORD_AUXTRACE, 48);
	image_u64(&im, 64);
	assert_int_equal(buf_zero(&im.b, 32 + 64), 0);
	run = (struct run){.a = im.b.data, .a_len = 48, .b = im.b.data + 48, .b_len = 64};
	make_file(s);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(sink_write(s->lane.chain, &run, NULL), 0);
		assert_int_equal(lane_flush(&s->lane, NULL), 0);
		assert_int_equal(lane_view(&s->lane).trace, 64 * (i + 1));
		assert_int_equal(lane_mark(&s->lane, &mark), 0);
		assert_int_equal(sink_write(s->lane.chain, &run, NULL), 0);
		sink_file_traces(s->lane.file, &nr);
		assert_int_equal(nr, i + 2);
		assert_int_equal(lane_roll_back(&s->lane, &mark, NULL), 0);
		lane_mark_release(&mark);
		sink_file_traces(s->lane.file, &nr);
		assert_int_equal(nr, i + 1);
		assert_int_equal(lane_view(&s->lane).trace, 64 * (i + 1));
	}
	image_release(&im);
}

/* Lanes that share a stream: each counts its own bytes, and none can be rolled back. */
static void test_shared_stream(void **state)
{
	struct setup *s = *state;
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int ends[2], kept = dup(STDOUT_FILENO);
	struct lane_mark mark;
	struct writer *writer;
	struct lane other;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	assert_int_equal(writer_create("-", s->list, NULL, 0, &writer, NULL), 0);
	make_lane(s, &s->lane, writer, &lock, false);
	make_lane(s, &other, writer, &lock, true);
	assert_int_equal(write_samples(s, &s->lane, 3, NULL), 0);
	assert_int_equal(write_samples(s, &other, 5, NULL), 0);
	assert_int_equal(lane_bytes(&s->lane), 3 * 40);
	assert_int_equal(lane_bytes(&other), 5 * 40);
	assert_int_equal(lane_flush(&s->lane, NULL), 0);
	assert_int_equal(lane_flush(&other, NULL), 0);
	assert_int_equal(lane_view(&s->lane).samples, 3);
	assert_int_equal(lane_view(&other).samples, 5);
	assert_int_equal(lane_mark(&s->lane, &mark), -ENOTSUP);
	lane_mark_release(&mark);
	assert_int_equal(lane_rest(&other, true), 0);
	lane_save(&other, -EPIPE);
	assert_int_equal(lane_view(&other).samples, 5);
	lane_release(&other);
	lane_release(&s->lane);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(ends[0]);
}

/* On a full disk, at many places: what the lane then counts is what a reader finds. */
static void test_full_disk(void **state)
{
	struct setup *s = *state;

	signal(SIGXFSZ, SIG_IGN);
	for (uint64_t room = 100000; room < 101000; room += 104) {
		struct error err = ERROR_INIT;
		uint64_t before, view;

		s->samples = s->tags = 0;
		make_file(s);
		assert_int_equal(write_samples(s, &s->lane, 1000, NULL), 0);
		assert_int_equal(lane_flush(&s->lane, NULL), 0);
		before = lane_view(&s->lane).samples;
		limit_files(room);
		assert_int_equal(write_samples(s, &s->lane, 40000, &err)
					 ?: lane_flush(&s->lane, &err),
				 -EFBIG);
		assert_int_equal(lane_view(&s->lane).samples, before);
		lane_save(&s->lane, -EFBIG);
		limit_files(0);
		view = lane_view(&s->lane).samples;
		assert_uint_in_range(view, 2400, 2550);
		assert_int_equal(lane_flushed_size(&s->lane).records, view);
		assert_readable(s, view, view * (view + 1) / 2);
		assert_false(s->lane.stale);
		lane_save(&s->lane, -EFBIG); /* does nothing */
		assert_int_equal(lane_view(&s->lane).samples, view);
		lane_release(&s->lane);
		assert_readable(s, view, view * (view + 1) / 2);
	}
	signal(SIGXFSZ, SIG_DFL);
}

/* Another failure than that of a full disk: all that was taken is written first. */
static void test_saved_before_the_disk_is_full(void **state)
{
	struct setup *s = *state;

	make_file(s);
	assert_int_equal(write_samples(s, &s->lane, 100, NULL), 0);
	lane_save(&s->lane, -EIO);
	assert_int_equal(lane_view(&s->lane).samples, 100);
	assert_readable(s, s->samples, s->tags);
}

/* Another process has truncated the file: the counts are of what remains of it. */
static void test_truncated_by_others(void **state)
{
	struct setup *s = *state;
	struct stat st;
	uint64_t view;

	make_file(s);
	assert_int_equal(write_samples(s, &s->lane, 30000, NULL), 0);
	assert_int_equal(lane_flush(&s->lane, NULL), 0);
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(truncate(s->path, st.st_size / 2), 0);
	assert_int_equal(write_samples(s, &s->lane, 30000, NULL), 0);
	assert_int_equal(lane_flush(&s->lane, NULL), -ESTALE);
	lane_save(&s->lane, -ESTALE);
	assert_true(s->lane.stale);
	view = lane_view(&s->lane).samples;
	assert_uint_in_range(view, 14000, 15000);
	assert_int_equal(lane_flushed_size(&s->lane).records, view);
	assert_true(count_readable(s, NULL) >= view);
}

/* Records that come after a failure are counted, and are not written. */
static void test_discarded(void **state)
{
	struct setup *s = *state;
	struct image im = {0};
	struct run run;

	make_file(s);
	assert_int_equal(write_samples(s, &s->lane, 4, NULL), 0);
	image_sample(&im, 0, 5000, 5);
	run = (struct run){.a = im.b.data, .a_len = im.b.len, .cpu = 3};
	lane_discard(&s->lane, &run);
	image_release(&im);
	assert_int_equal(lane_flush(&s->lane, NULL), 0);
	assert_int_equal(tally_get(s->lane.chain)->samples, 5);
	assert_int_equal(lane_view(&s->lane).samples, 4);
	assert_readable(s, 4, 1 + 2 + 3 + 4);
}

#define LANE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LANE_TEST(test_counts_are_of_the_last_flush),
		LANE_TEST(test_losses_have_causes),
		LANE_TEST(test_merge_adds_losses),
		LANE_TEST(test_meter),
		LANE_TEST(test_roll_back),
		LANE_TEST(test_roll_back_of_traces),
		LANE_TEST(test_shared_stream),
		LANE_TEST(test_full_disk),
		LANE_TEST(test_saved_before_the_disk_is_full),
		LANE_TEST(test_truncated_by_others),
		LANE_TEST(test_discarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
