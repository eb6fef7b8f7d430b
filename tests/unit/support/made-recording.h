/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up recording: a plan of two events, a ring in plain memory for each, and a folder for the
 * outputs. The test writes samples, numbered from 1, to rings or sinks, and counts them in files.
 */
#ifndef RINGTAIL_TESTS_MADE_RECORDING_H
#define RINGTAIL_TESTS_MADE_RECORDING_H

#include <errno.h>
#include <sys/eventfd.h>

#include "data-walk.h"
#include "process-limits.h"
#include "record/output/output.h"
#include "tree.h"

#define MADE_EVENTS 2
#define MADE_PAGE   4096u
#define MADE_RING   (256u << 10) /* bytes of data */

struct made {
	struct tree tree;
	char path[PATH_MAX];
	struct record_opts opts;
	struct plan_event events[MADE_EVENTS];
	struct plan plan;
	struct open_fd fds[MADE_EVENTS];
	struct open_ring rings[MADE_EVENTS];
	int ready[MADE_EVENTS]; /* stand for events, and wake nobody: readers come when asked */
	struct opened opened;
	struct messages messages;
	struct buf said;	/* all messages, one a line, with a NUL */
	uint64_t samples, tags; /* made so far, and the sum of their numbers */
};

static inline void made_hear(enum message_level level, const char *text, void *arg)
{
	struct made *m = arg;

	buf_append(&m->said, text, strlen(text));
	buf_append(&m->said, "\n", 2);
	m->said.len--;
}

/* A setup function of cmocka. */
static inline int made_new(void **state)
{
	static const char *const argv[] = {"test"};
	struct made *m = calloc(1, sizeof(*m));

	if (!m)
		return -1;
	tree_make(&m->tree);
	tree_path(&m->tree, "perf.data", m->path);
	m->opts.output = (struct output_opts){.path = m->path, .argc = 1, .argv = argv};
	for (unsigned int i = 0; i < MADE_EVENTS; i++) {
		m->events[i] = (struct plan_event){.attr = {.type = PERF_TYPE_SOFTWARE,
							    .sample_period = 1000,
							    .sample_type = IMAGE_SAMPLE_TYPE,
							    .flags = PD_ATTR_SAMPLE_ID_ALL},
						   .name = (char *)(uintptr_t)(i ? "two" : "one"),
						   .leader = i,
						   .members = 1};
		m->ready[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		m->fds[i] = (struct open_fd){.fd = m->ready[i],
					     .id = IMAGE_ID + i,
					     .event = i,
					     .ring = i,
					     .cpu = (int)i};
		m->rings[i] = (struct open_ring){.data_size = MADE_RING,
						 .memory = calloc(1, MADE_PAGE + MADE_RING),
						 .cpu = (int)i,
						 .fds = &m->ready[i],
						 .nr_fds = 1};
		if (m->ready[i] < 0 || !m->rings[i].memory)
			return -1;
	}
	m->plan = (struct plan){.opts = &m->opts.plan,
				.events = m->events,
				.nr = MADE_EVENTS,
				.ring_size = MADE_RING};
	m->opened = (struct opened){.fds = m->fds,
				    .nr_fds = MADE_EVENTS,
				    .rings = m->rings,
				    .nr_rings = MADE_EVENTS,
				    .nr_places = MADE_EVENTS,
				    .nr_tasks = 1};
	m->messages = (struct messages){made_hear, m};
	*state = m;
	return 0;
}

static inline int made_free(void **state)
{
	struct made *m = *state;

	for (unsigned int i = 0; i < MADE_EVENTS; i++) {
		close(m->ready[i]);
		free(m->rings[i].memory);
	}
	buf_release(&m->said);
	tree_remove(&m->tree);
	free(m);
	return 0;
}

/* Whether a message has @text in it. */
static inline bool made_said(const struct made *m, const char *text)
{
	return m->said.len && strstr((const char *)m->said.data, text);
}

/* Appends @nr samples of @event, a millisecond apart. */
static inline void made_samples(struct made *m, struct image *im, unsigned int event,
				unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t tag = ++m->samples;

		image_sample(im, event, 1000000000 + tag * 1000000, tag);
		m->tags += tag;
	}
}

/* Writes @im to a ring, which must have room, as the kernel does. */
static inline void made_fill(struct made *m, unsigned int ring, const struct image *im)
{
	struct perf_event_mmap_page *page = m->rings[ring].memory;
	uint64_t head = page->data_head;

	assert_true(head + im->b.len - __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) <=
		    MADE_RING);
	for (size_t at = 0; at < im->b.len; at += 8, head += 8)
		memcpy((uint8_t *)page + MADE_PAGE + head % MADE_RING, im->b.data + at, 8);
	__atomic_store_n(&page->data_head, head, __ATOMIC_RELEASE);
}

/* Writes @nr samples to a ring. */
static inline void made_fill_samples(struct made *m, unsigned int ring, unsigned int nr)
{
	struct image im = {0};

	made_samples(m, &im, ring, nr);
	made_fill(m, ring, &im);
	image_release(&im);
}

/* Writes @nr samples to a sink. Returns as sink_write() does. */
static inline int made_write_samples(struct made *m, struct sink *sink, unsigned int nr,
				     struct error *err)
{
	struct image im = {0};
	struct run run;
	int rc;

	made_samples(m, &im, 0, nr);
	run = (struct run){.a = im.b.data, .a_len = im.b.len, .cpu = 0};
	rc = sink_write(sink, &run, err);
	image_release(&im);
	return rc;
}

static inline void made_output(struct made *m, struct output *out, size_t workers)
{
	struct error err = ERROR_INIT;

	if (output_create(out, &m->opts.output, &m->plan, &m->opened, workers, NULL, &err) ||
	    output_persist(out, &err))
		fail_msg("%s", err.text);
}

/* Counts the samples of a file or directory, which must be sound, and adds up their numbers. */
static inline uint64_t made_count(const char *path, uint64_t *tags)
{
	struct error err = ERROR_INIT;
	struct data_file *df;
	struct walk w;

	if (data_open(path, false, &df, &err))
		fail_msg("%s", err.text);
	w = walk(df, 0);
	assert_no_notes(df);
	data_close(df);
	*tags += w.tag_sum;
	return w.samples;
}

/* Checks that the output has all samples that were made. */
static inline void made_all_there(const struct made *m)
{
	uint64_t tags = 0;

	assert_int_equal(made_count(m->path, &tags), m->samples);
	assert_int_equal(tags, m->tags);
}

#define MADE_TEST(f) cmocka_unit_test_setup_teardown(f, made_new, made_free)

#endif
