// SPDX-License-Identifier: Apache-2.0
/*
 * Outputs of every form, from their creation to their end, with made-up samples and losses. What
 * was flushed is readable after each step; at the end a reader finds each sample once, or its loss.
 * Reads output_end.c, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "data-walk.h"
#include "process-limits.h"
#include "perfdata/aux_record.h"
#include "perfdata/feature.h"
#include "record/output/output.h"
#include "tree.h"

#define EVENTS	 2
#define FIRST_FD 1000 /* of the events; nobody opens so many */

/* What the kernel has counted as lost, by event. */
static uint64_t kernel_lost[EVENTS];
static bool kernel_is_old; /* it does not count so */

int __wrap_perf_event_read(int fd, uint64_t *ret, size_t words);
int __wrap_perf_event_read(int fd, uint64_t *ret, size_t words)
{
	assert_int_equal(words, 3);
	assert_uint_in_range(fd, FIRST_FD, FIRST_FD + EVENTS - 1);
	if (kernel_is_old)
		return -EINVAL;
	memcpy(ret, (uint64_t[]){0, 0, kernel_lost[fd - FIRST_FD]}, 24);
	return 3;
}

struct setup {
	struct tree tree;
	char path[PATH_MAX];
	struct output_opts opts;
	struct plan_opts plan_opts;
	struct plan_event events[EVENTS];
	struct plan plan;
	struct open_fd fds[EVENTS];
	struct opened opened;
	struct output out;
	uint64_t samples, tags; /* that were written */
};

static int begin(void **state)
{
	static const char *const argv[] = {"test"};
	struct setup *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	tree_make(&s->tree);
	tree_path(&s->tree, "perf.data", s->path);
	s->opts = (struct output_opts){.path = s->path, .argc = 1, .argv = argv};
	for (unsigned int i = 0; i < EVENTS; i++) {
		s->events[i] = (struct plan_event){
			.attr = {.type = PERF_TYPE_SOFTWARE,
				 .sample_period = 1000,
				 .sample_type = IMAGE_SAMPLE_TYPE,
				 .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
				 .flags = PD_ATTR_SAMPLE_ID_ALL},
			.name = (char *)(uintptr_t)(i ? "two" : "one"),
			.leader = i,
			.members = 1};
		s->fds[i] = (struct open_fd){
			.fd = FIRST_FD + (int)i, .id = IMAGE_ID + i, .event = i, .cpu = 2};
		kernel_lost[i] = 0;
	}
	kernel_is_old = false;
	s->plan = (struct plan){.opts = &s->plan_opts, .events = s->events, .nr = EVENTS};
	s->opened = (struct opened){.fds = s->fds, .nr_fds = EVENTS};
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct setup *s = *state;

	output_release(&s->out);
	tree_remove(&s->tree);
	free(s);
	return 0;
}

static void create(struct setup *s, struct output *out, size_t workers)
{
	struct error err = ERROR_INIT;

	if (output_create(out, &s->opts, &s->plan, &s->opened, workers, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(output_persist(out, NULL), 0);
}

static int write_image(struct lane *lane, const struct image *im)
{
	const struct run run = {.a = im->b.data, .a_len = im->b.len, .cpu = 2};

	return sink_write(lane->chain, &run, NULL);
}

/* Writes @nr samples. Returns as sink_write() does. */
static int write_samples(struct setup *s, struct lane *lane, unsigned int nr)
{
	struct image im = {0};
	int rc;

	s->tags += image_numbered(&im, EVENTS, nr, &s->samples);
	rc = write_image(lane, &im);
	image_release(&im);
	return rc;
}

static void flush_all(struct output *out)
{
	for (size_t i = 0; i < out->nr; i++)
		assert_int_equal(lane_flush(&out->lanes[i], NULL), 0);
}

/* What a reader finds. */
struct found {
	uint64_t samples, tags;
	uint64_t lost[EVENTS]; /* in LOST_SAMPLES records, by event */
	uint64_t not_written;  /* in those of the output */
	size_t segments;
};

static void take_loss(const struct data_record *rec, struct found *f)
{
	struct pd_record r;

	assert_int_equal(pd_record_decode(rec->hdr, NULL, &r), 0);
	if (rec->hdr->misc & PD_MISC_LOST_OUTPUT)
		f->not_written += r.lost.lost;
	else
		f->lost[rec->evsel ? rec->evsel->attr.config : 0] += r.lost.lost;
}

static struct found find(struct data_file *df)
{
	struct found f = {.segments = data_segments(df)};
	struct data_record rec;
	struct data_scan *scan;

	for (unsigned int i = 0; i < f.segments; i++) {
		assert_int_equal(data_scan_new(df, i, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
		while (data_scan_next(scan, &rec) > 0) {
			if (rec.hdr->type == PERF_RECORD_LOST_SAMPLES)
				take_loss(&rec, &f);
			if (rec.hdr->type != PERF_RECORD_SAMPLE)
				continue;
			f.samples++;
			f.tags += image_tag(&rec);
		}
		data_scan_free(scan);
	}
	return f;
}

static struct found read_back(const char *path)
{
	struct error err = ERROR_INIT;
	struct data_file *df;
	struct found f;

	if (data_open(path, false, &df, &err))
		fail_msg("%s", err.text);
	f = find(df);
	assert_no_notes(df);
	data_close(df);
	return f;
}

static void assert_readable(const struct setup *s, const char *path)
{
	struct found f = read_back(path);

	assert_int_equal(f.samples, s->samples);
	assert_int_equal(f.tags, s->tags);
}

static void finish(struct setup *s, struct output *out)
{
	struct error err = ERROR_INIT;

	if (output_finish(out, &s->plan, &s->opened, &err))
		fail_msg("%s", err.text);
}

static void test_file(void **state)
{
	struct setup *s = *state;
	struct pd_sample_time time;
	struct data_file *df;
	struct found f;
	const uint8_t *p;
	size_t len;

	s->events[1].attr.config = 1;
	create(s, &s->out, 1);
	assert_int_equal(s->out.nr, 1);
	assert_ptr_equal(output_lane(&s->out, 0), &s->out.lanes[0]);
	assert_readable(s, s->path);
	assert_int_equal(write_samples(s, output_lane(&s->out, 0), 1000), 0);
	flush_all(&s->out);
	assert_readable(s, s->path);
	kernel_lost[0] = 3;
	kernel_lost[1] = 4;
	assert_int_equal(write_samples(s, output_lane(&s->out, 0), 1000), 0);
	finish(s, &s->out);
	assert_int_equal(s->out.tally.samples, 2000);
	assert_int_equal(s->out.loss.total, 7);
	assert_true(s->out.by_event);
	f = read_back(s->path);
	assert_int_equal(f.samples, 2000);
	assert_int_equal(f.tags, s->tags);
	assert_int_equal(f.lost[0], 3);
	assert_int_equal(f.lost[1], 4);
	assert_int_equal(data_open(s->path, false, &df, NULL), 0);
	assert_int_equal(data_feature(df, HEADER_SAMPLE_TIME, &p, &len), 0);
	assert_int_equal(pd_feature_sample_time_decode(p, len, false, &time), 0);
	assert_int_equal(time.first, 1001);
	assert_int_equal(time.last, 3000);
	assert_string_equal(pd_evlist_at(data_evlist(df), 1)->name, "two");
	data_close(df);
}

/* The counts of a kernel that does not count by event come from LOST records. */
static void test_losses_of_old_kernels(void **state)
{
	struct setup *s = *state;
	struct image im = {0};

	kernel_is_old = true;
	create(s, &s->out, 1);
	for (unsigned int i = 1; i <= 2; i++) {
		image_head(&im, PERF_RECORD_LOST, 48);
		image_u64(&im, IMAGE_ID);
		image_u64(&im, 10 * i);
		image_u64(&im, 7 | 8ull << 32);
		image_u64(&im, i);
		image_u64(&im, IMAGE_ID);
	}
	assert_int_equal(write_image(output_lane(&s->out, 0), &im), 0);
	image_release(&im);
	finish(s, &s->out);
	assert_false(s->out.by_event);
	assert_int_equal(s->out.loss.total, 30);
	assert_int_equal(s->out.loss.nr, 1);
	assert_int_equal(s->out.loss.entries[0].cause, LOSS_RING);
	assert_int_equal(read_back(s->path).lost[0], 0); /* the records report them */
}

/* Compressed or not: "data" knows what each data.N must hold. */
static void test_directory(void **state)
{
	struct setup *s = *state;

	s->opts.directory = true;
	for (int level = 0; level < 2; level++) {
		struct compress_stats stats;
		char part[PATH_MAX + 8];
		struct data_file *df;
		struct stat st;

		s->samples = s->tags = 0;
		s->opts.compression_level = level;
		create(s, &s->out, 2);
		assert_int_equal(s->out.nr, 3);
		assert_int_equal(output_compression(&s->out, &stats), level);
		for (size_t i = 0; i < 2; i++) {
			assert_ptr_equal(output_lane(&s->out, i), &s->out.lanes[i + 1]);
			assert_int_equal(write_samples(s, output_lane(&s->out, i), 500), 0);
		}
		flush_all(&s->out);
		assert_int_equal(output_checkpoint(&s->out, NULL), 0);
		snprintf(part, sizeof(part), "%s/data.1", s->path);
		finish(s, &s->out);
		assert_readable(s, s->path);
		assert_int_equal(read_back(s->path).segments, 3);
		assert_int_equal(output_compression(&s->out, &stats), level);
		assert_true(!level == !stats.frames);
		output_release(&s->out);
		assert_int_equal(stat(part, &st), 0);
		assert_int_equal(truncate(part, st.st_size + 64), 0);
		assert_int_equal(data_open(s->path, false, &df, NULL), 0);
		assert_int_equal(noted(df, DATA_ODD, "bytes expected"), 1);
		data_close(df);
		assert_int_equal(truncate(part, 16), 0);
		assert_int_equal(data_open(s->path, false, &df, NULL), 0);
		assert_int_equal(find(df).samples, 500);
		assert_true(noted(df, DATA_DAMAGED, "expected, found 16") > 0);
		data_close(df);
		/* The next one takes the name, and this one becomes PATH.old. */
	}
}

/* Makes @fd the standard output. Returns the one before. */
static int redirect(int fd)
{
	int kept = dup(STDOUT_FILENO);

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	return kept;
}

static void restore(int kept, int fd)
{
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(fd);
}

/* Workers that share a stream: one writer, closed once. */
static void test_stream(void **state)
{
	struct setup *s = *state;
	int fd = open(s->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), kept;

	assert_true(fd >= 0);
	kept = redirect(fd);
	s->opts.path = "-";
	create(s, &s->out, 2);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(write_samples(s, &s->out.lanes[i], 100), 0);
	assert_ptr_equal(s->out.lanes[0].writer, s->out.lanes[2].writer);
	finish(s, &s->out);
	assert_int_equal(output_deleted_samples(&s->out), 0);
	output_release(&s->out);
	restore(kept, fd);
	assert_readable(s, s->path);
}

/* As perf's --kcore: one worker writes all into "data". */
static void test_directory_of_one_file(void **state)
{
	struct setup *s = *state;
	struct data_file *df;
	const uint8_t *p;
	uint64_t version = 1;
	size_t len;

	s->opts.directory = true;
	create(s, &s->out, 1);
	assert_int_equal(s->out.nr, 1);
	assert_int_equal(write_samples(s, output_lane(&s->out, 0), 500), 0);
	flush_all(&s->out);
	assert_int_equal(output_checkpoint(&s->out, NULL), 0);
	assert_readable(s, s->path);
	finish(s, &s->out);
	assert_readable(s, s->path);
	assert_int_equal(read_back(s->path).segments, 1);
	assert_int_equal(data_open(s->path, false, &df, NULL), 0);
	assert_int_equal(data_feature(df, HEADER_DIR_FORMAT, &p, &len), 0);
	assert_int_equal(len, sizeof(version));
	memcpy(&version, p, sizeof(version));
	assert_int_equal(version, 0);
	data_close(df);
}

static void write_trace(struct lane *lane)
{
	static const uint8_t trace[64];
	const struct pd_auxtrace a = {.size = sizeof(trace), .cpu = 2};
	struct pd_auxtrace_record record;
	const struct run run = {.a = (const void *)&record,
				.a_len = sizeof(record),
				.b = trace,
				.b_len = sizeof(trace),
				.cpu = 2};

	pd_auxtrace_encode(&a, &record);
	assert_int_equal(sink_write(lane->chain, &run, NULL), 0);
}

static bool lists_traces(const char *path)
{
	struct data_file *df;
	const uint8_t *p;
	size_t len;
	bool listed;

	assert_int_equal(data_open(path, false, &df, NULL), 0);
	find(df); /* the features of a stream are among its records */
	listed = !data_feature(df, HEADER_AUXTRACE, &p, &len);
	assert_no_notes(df);
	data_close(df);
	return listed;
}

/* A file lists its traces. Streams do not: perf fails at a list in one. */
static void test_lists_of_traces(void **state)
{
	struct setup *s = *state;
	int kept, fd;

	create(s, &s->out, 1);
	write_trace(output_lane(&s->out, 0));
	finish(s, &s->out);
	output_release(&s->out);
	assert_true(lists_traces(s->path));
	fd = open(s->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	kept = redirect(fd);
	s->opts.path = "-";
	create(s, &s->out, 1);
	write_trace(output_lane(&s->out, 0));
	finish(s, &s->out);
	output_release(&s->out);
	restore(kept, fd);
	assert_false(lists_traces(s->path));
}

/* Losses before output_count() are the first output's, those behind it the next one's. */
static void test_rotation(void **state)
{
	struct setup *s = *state;
	struct lost_carryover *late = lost_carryover_new();
	struct output next;
	char path[PATH_MAX];

	create(s, &s->out, 1);
	assert_int_equal(write_samples(s, output_lane(&s->out, 0), 10), 0);
	kernel_lost[0] = 5;
	assert_int_equal(output_count(&s->out, &s->plan, late), 0);
	kernel_lost[0] = 9;
	tree_path(&s->tree, "next", path);
	s->opts.path = path;
	create(s, &next, 1);
	finish(s, &s->out);
	output_follow(&next, &s->out);
	assert_int_equal(s->out.loss.total, 5);
	assert_int_equal(read_back(s->path).lost[0], 5);
	output_release(&s->out);
	finish(s, &next);
	assert_int_equal(next.loss.total, 4);
	assert_int_equal(read_back(path).lost[0], 4);
	s->out = next;
	lost_carryover_free(late);
}

static void test_roll_back(void **state)
{
	struct setup *s = *state;

	for (int directory = 0; directory < 2; directory++) {
		struct output_mark mark;
		uint64_t samples, tags, size;

		s->opts.directory = directory;
		s->samples = s->tags = 0;
		create(s, &s->out, directory ? 2 : 1);
		assert_int_equal(write_samples(s, output_lane(&s->out, 0), 100), 0);
		flush_all(&s->out);
		assert_int_equal(output_mark(&s->out, &mark), 0);
		samples = s->samples;
		tags = s->tags;
		size = output_size(&s->out);
		assert_int_equal(write_samples(s, output_lane(&s->out, 0), 30000), 0);
		flush_all(&s->out);
		assert_true(output_size(&s->out) > size);
		assert_int_equal(output_roll_back(&s->out, &mark, NULL), 0);
		output_mark_release(&mark);
		s->samples = samples;
		s->tags = tags;
		assert_int_equal(write_samples(s, output_lane(&s->out, 0), 7), 0);
		finish(s, &s->out);
		assert_int_equal(s->out.tally.samples, 107);
		assert_readable(s, s->path);
		output_release(&s->out);
	}
}

/* The disk is full: each sample that was taken is readable, or among those not written. */
static void test_abandoned(void **state)
{
	struct setup *s = *state;

	signal(SIGXFSZ, SIG_IGN);
	for (int directory = 0; directory < 2; directory++) {
		struct lane *lane;
		struct found f;
		int rc = 0;

		s->opts.directory = directory;
		s->samples = s->tags = 0;
		kernel_lost[0] = 0;
		create(s, &s->out, directory ? 2 : 1);
		kernel_lost[0] = 11;
		lane = output_lane(&s->out, 0);
		if (directory) /* not flushed, and nothing is wrong with its file */
			assert_int_equal(write_samples(s, output_lane(&s->out, 1), 50), 0);
		limit_files(300000);
		while (!rc)
			rc = write_samples(s, lane, 1000);
		assert_int_equal(rc, -EFBIG);
		lane_save(lane, rc);
		output_abandon(&s->out, &s->plan, &s->opened);
		limit_files(0);
		if (directory)
			assert_int_equal(lane_view(output_lane(&s->out, 1)).samples, 50);
		f = read_back(s->path);
		assert_uint_in_range(f.samples, 6000, s->samples - 1);
		assert_int_equal(s->out.tally.samples, f.samples);
		assert_int_equal(f.samples + f.not_written, s->samples);
		assert_int_equal(f.lost[0], 11);
		assert_int_equal(s->out.loss.total, 11 + f.not_written);
		output_release(&s->out);
		assert_int_equal(read_back(s->path).samples, f.samples);
	}
	signal(SIGXFSZ, SIG_DFL);
}

/* A file that somebody deleted or moved, of a directory. */
static void test_places(void **state)
{
	struct setup *s = *state;
	char part[PATH_MAX + 8], moved[PATH_MAX], *at;

	s->opts.directory = true;
	create(s, &s->out, 2);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(write_samples(s, &s->out.lanes[i], 100 + i), 0);
	flush_all(&s->out);
	assert_int_equal(output_place(&s->out, &at), WRITER_THERE);
	assert_null(at);
	tree_path(&s->tree, "moved", moved);
	assert_int_equal(rename(s->path, moved), 0);
	assert_int_equal(output_place(&s->out, &at), WRITER_MOVED);
	assert_string_equal(at, moved);
	free(at);
	assert_int_equal(output_deleted_samples(&s->out), 0);
	assert_int_equal(rename(moved, s->path), 0);
	snprintf(part, sizeof(part), "%s/data.1", s->path);
	assert_int_equal(unlink(part), 0);
	assert_int_equal(output_place(&s->out, &at), WRITER_DELETED);
	assert_null(at);
	assert_int_equal(output_deleted_samples(&s->out), 102);
	/* Without the header nothing is readable. */
	snprintf(part, sizeof(part), "%s/data", s->path);
	assert_int_equal(unlink(part), 0);
	assert_int_equal(output_deleted_samples(&s->out), 303);
	output_abandon(&s->out, &s->plan, &s->opened);
	assert_int_equal(s->out.tally.samples, 0);
	assert_int_equal(s->out.loss.total, 303);
}

static void test_discarded(void **state)
{
	struct setup *s = *state;

	for (int directory = 0; directory < 2; directory++) {
		s->opts.directory = directory;
		create(s, &s->out, 2);
		assert_int_equal(access(s->path, F_OK), 0);
		output_discard(&s->out, &s->opts);
		assert_int_equal(access(s->path, F_OK), -1);
		output_release(&s->out);
	}
}

/* All lanes count into one meter. */
static void test_limit(void **state)
{
	struct setup *s = *state;
	uint64_t bytes;

	s->opts.directory = true;
	create(s, &s->out, 2);
	for (size_t i = 0; i < 3; i++)
		assert_false(lane_measure(&s->out.lanes[i]));
	bytes = output_metered(&s->out);
	output_limit(&s->out, bytes + 4000);
	assert_int_equal(write_samples(s, output_lane(&s->out, 0), 60), 0);
	assert_false(lane_measure(output_lane(&s->out, 0)));
	assert_int_equal(write_samples(s, output_lane(&s->out, 1), 40), 0);
	assert_true(lane_measure(output_lane(&s->out, 1)));
	assert_int_equal(output_metered(&s->out), bytes + 4000);
}

/* A directory that cannot be made as a whole is not made at all. */
static void test_not_created(void **state)
{
	struct setup *s = *state;
	struct error err = ERROR_INIT;
	struct rlimit was;

	s->opts.directory = true;
	for (unsigned int more = 2; more < 5; more++) {
		was = limit_descriptors(more);
		assert_int_equal(
			output_create(&s->out, &s->opts, &s->plan, &s->opened, 8, NULL, &err),
			-EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
		assert_true(*err.text);
		output_release(&s->out);
		assert_int_equal(access(s->path, F_OK), -1);
	}
	/* Where there is something else, it stays. */
	tree_file(&s->tree, "perf.data/precious", "text");
	assert_true(output_create(&s->out, &s->opts, &s->plan, &s->opened, 1, NULL, &err) < 0);
	output_release(&s->out);
	assert_int_equal(access(s->path, F_OK), 0);
	s->opts.directory = false;
	s->opts.path = "/nonexistent/perf.data";
	assert_int_equal(output_create(&s->out, &s->opts, &s->plan, &s->opened, 1, NULL, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/perf.data"));
}

#define OUTPUT_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OUTPUT_TEST(test_file),
		OUTPUT_TEST(test_losses_of_old_kernels),
		OUTPUT_TEST(test_directory),
		OUTPUT_TEST(test_stream),
		OUTPUT_TEST(test_directory_of_one_file),
		OUTPUT_TEST(test_lists_of_traces),
		OUTPUT_TEST(test_rotation),
		OUTPUT_TEST(test_roll_back),
		OUTPUT_TEST(test_abandoned),
		OUTPUT_TEST(test_places),
		OUTPUT_TEST(test_discarded),
		OUTPUT_TEST(test_limit),
		OUTPUT_TEST(test_not_created),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
