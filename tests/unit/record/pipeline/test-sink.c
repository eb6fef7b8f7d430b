// SPDX-License-Identifier: Apache-2.0
/*
 * The sink that writes to a file: runs in one span and two, records made in user space, traces and
 * their places, and sinks of several threads that share a writer.
 */
#include <errno.h>
#include <pthread.h>

#include "data-walk.h"
#include "record/pipeline/sink.h"
#include "tree.h"

#define THREADS 3
#define SAMPLES 2000 /* of each thread */

struct setup {
	struct tree tree;
	char path[PATH_MAX];
	struct pd_evlist *list;
	struct writer *writer;
	pthread_mutex_t lock;
};

static int begin(void **state)
{
	const struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE,
				     .sample_period = 1000,
				     .sample_type = IMAGE_SAMPLE_TYPE,
				     .flags = PD_ATTR_SAMPLE_ID_ALL};
	struct setup *s = calloc(1, sizeof(*s));
	uint64_t id = IMAGE_ID;

	if (!s)
		return -1;
	tree_make(&s->tree);
	tree_path(&s->tree, "perf.data", s->path);
	pthread_mutex_init(&s->lock, NULL);
	s->list = pd_evlist_new();
	*state = s;
	return pd_evlist_add(s->list, &attr, NULL, &id, 1) ||
	       writer_create(s->path, s->list, NULL, 0, &s->writer, NULL);
}

static int end(void **state)
{
	struct setup *s = *state;

	writer_close(s->writer);
	pd_evlist_free(s->list);
	pthread_mutex_destroy(&s->lock);
	tree_remove(&s->tree);
	free(s);
	return 0;
}

static struct walk read_back(const struct setup *s)
{
	struct data_file *df;
	struct walk w;

	assert_int_equal(data_open(s->path, false, &df, NULL), 0);
	w = walk(df, 0);
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 0);
	data_close(df);
	return w;
}

/* Split at any word, nothing is lost and nothing comes twice. */
static void test_spans(void **state)
{
	struct setup *s = *state;
	struct sink *sink = sink_file_new(s->writer, NULL);
	uint64_t bytes = 0, samples = 0, tags = 0;
	struct image im = {0};

	for (uint64_t i = 0; i < 5; i++)
		image_sample(&im, 0, 100 + i, 1 + i);
	for (size_t at = 0; at <= im.b.len; at += 8) {
		const struct run run = {
			.a = im.b.data, .a_len = at, .b = im.b.data + at, .b_len = im.b.len - at};

		assert_int_equal(sink_write(sink, &run, NULL), 0);
		bytes += im.b.len;
		samples += 5;
		tags += 15;
		assert_int_equal(sink_file_bytes(sink), bytes);
		assert_int_equal(sink_flush(sink, NULL), 0);
		assert_int_equal(read_back(s).samples, samples);
		assert_int_equal(read_back(s).tag_sum, tags);
	}
	sink_free(sink);
	sink_free(NULL);
	image_release(&im);
}

static void test_records(void **state)
{
	struct setup *s = *state;
	struct sink *sink = sink_file_new(s->writer, NULL);
	struct error err = ERROR_INIT;
	struct sink_emit to = {sink, &err};
	struct image im = {0};

	image_sample(&im, 0, 100, 7);
	assert_int_equal(sink_record(sink, (struct perf_event_header *)im.b.data, &err), 0);
	assert_int_equal(sink_emit((struct perf_event_header *)im.b.data, &to), 0);
	assert_int_equal(sink_flush(sink, &err), 0);
	assert_int_equal(sink_file_bytes(sink), 80);
	assert_int_equal(read_back(s).tag_sum, 14);
	sink_free(sink);
	image_release(&im);
}

/* The places of traces are those where a reader finds them; in a shared writer they are not known.
 */
static void test_traces(void **state)
{
	struct setup *s = *state;
	struct sink *sink = sink_file_new(s->writer, NULL);
	struct sink *shared = sink_file_new(s->writer, &s->lock);
	struct image trace = {0}, sample = {0};
	struct data_record rec;
	struct data_scan *scan;
	struct data_file *df;
	const uint64_t *at;
	size_t nr, found = 0;

	image_head(&trace, PERF_RECORD_AUXTRACE, 48);
	image_u64(&trace, 64);
	assert_int_equal(buf_zero(&trace.b, 32 + 64), 0);
	image_sample(&sample, 0, 100, 7);
	for (unsigned int i = 0; i < 10; i++) {
		const struct run t = {.a = trace.b.data,
				      .a_len = 48,
				      .b = trace.b.data + 48,
				      .b_len = trace.b.len - 48};
		const struct run r = {.a = sample.b.data, .a_len = sample.b.len};

		assert_int_equal(sink_write(sink, &r, NULL), 0);
		assert_int_equal(sink_write(sink, &t, NULL), 0);
	}
	assert_int_equal(sink_flush(sink, NULL), 0);
	at = sink_file_traces(sink, &nr);
	assert_int_equal(nr, 10);
	assert_int_equal(data_open(s->path, false, &df, NULL), 0);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, 0, &scan), 0);
	while (data_scan_next(scan, &rec) > 0)
		if (rec.hdr->type == PERF_RECORD_AUXTRACE)
			assert_int_equal(rec.offset, at[found++]);
	assert_int_equal(found, 10);
	data_scan_free(scan);
	data_close(df);
	sink_file_rolled_back(sink); /* to where we are */
	sink_file_traces(sink, &nr);
	assert_int_equal(nr, 10);
	assert_int_equal(
		sink_write(shared, &(struct run){.a = trace.b.data, .a_len = trace.b.len}, NULL),
		0);
	sink_file_traces(shared, &nr);
	assert_int_equal(nr, 0);
	sink_free(shared);
	sink_free(sink);
	image_release(&trace);
	image_release(&sample);
}

static void *write_many(void *arg)
{
	struct setup *s = arg;
	struct sink *sink = sink_file_new(s->writer, &s->lock);
	struct image im = {0};

	image_sample(&im, 0, 100, 1);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		const struct run run = {.a = im.b.data, .a_len = im.b.len};

		assert_int_equal(sink_write(sink, &run, NULL), 0);
		if (i % 100 == 0)
			assert_int_equal(sink_flush(sink, NULL), 0);
	}
	assert_int_equal(sink_file_bytes(sink), 40 * SAMPLES);
	sink_free(sink);
	image_release(&im);
	return NULL;
}

static void test_threads(void **state)
{
	struct setup *s = *state;
	pthread_t threads[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, s), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(writer_flush(s->writer, NULL), 0);
	assert_int_equal(read_back(s).samples, THREADS * SAMPLES);
}

#define SINK_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SINK_TEST(test_spans),
		SINK_TEST(test_records),
		SINK_TEST(test_traces),
		SINK_TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
