// SPDX-License-Identifier: Apache-2.0
/* Slices give what walk_ordered() gives, in its order; and are refused where they would not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "data-image.h"
#include "report/script/slices.h"

#define RINGS  3
#define PIECE  5000u /* samples, at most, of a ring that are together in the file */
#define ROUNDS 40

struct list {
	uint64_t *tag;
	size_t nr, cap;
	uint64_t newest;
};

static int take(const struct walk_sample *ws, void *arg)
{
	struct list *l = arg;

	assert_true(ws->s.time >= l->newest);
	l->newest = ws->s.time;
	assert_int_equal(array_grow(&l->tag, &l->cap, l->nr + 1, sizeof(*l->tag)), 0);
	l->tag[l->nr++] = ws->s.ip;
	return 0;
}

static struct trace *open_image(struct image *im)
{
	struct trace_opts opts = {.workers = 2};
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct error err = ERROR_INIT;
	struct trace *t = NULL;
	char path[64];

	image_end(im);
	assert_int_equal(write(fd, im->b.data, im->b.len), im->b.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opts.path = path;
	assert_int_equal(trace_open(&opts, &t, &err), 0);
	close(fd);
	t->opts.path = "image";
	t->by_time = true;
	assert_int_equal(trace_prepare(t, &err), 0);
	image_release(im);
	return t;
}

/* Writes pieces of rings in turn: each in order, all of one round of about the same time. */
static void write_rounds(struct image *im, uint64_t *tags)
{
	uint64_t ring[RINGS], begin = 1000;

	for (int round = 0; round < ROUNDS; round++) {
		for (int r = 0; r < RINGS; r++) {
			unsigned int nr = 1 + (unsigned int)rand() % PIECE;

			ring[r] = begin + (uint64_t)rand() % 100;
			for (unsigned int i = 0; i < nr; i++, ring[r] += (uint64_t)rand() % 3)
				image_sample(im, 0, ring[r], ++*tags);
		}
		begin += PIECE;
	}
}

static void test_order(void **state)
{
	struct image im = {0};
	struct list ordered = {0}, sliced = {0};
	struct error err = ERROR_INIT;
	struct slice_walker *w;
	struct slices *s;
	uint64_t tags = 0;
	struct trace *t;

	image_begin(&im, 1, IMAGE_STRIDE);
	write_rounds(&im, &tags);
	t = open_image(&im);
	assert_int_equal(
		walk_ordered(t, &(struct walk_takers){.sample = take, .arg = &ordered}, &err), 0);
	assert_int_equal(ordered.nr, tags);
	assert_int_equal(slices_new(t, &s), 0);
	assert_true(slices_count(s) > 2);
	assert_int_equal(slice_walker_new(s, &w), 0);
	for (size_t i = 0; i < slices_count(s); i++)
		assert_int_equal(slice_walk(w, i, take, &sliced), 0);
	assert_int_equal(sliced.nr, tags);
	assert_memory_equal(sliced.tag, ordered.tag, tags * sizeof(*sliced.tag));
	slices_hand_in_findings(s);
	slice_walker_free(w);
	slices_free(s);
	trace_close(t);
	free(ordered.tag);
	free(sliced.tag);
}

static int refuse(struct image *im)
{
	struct trace *t = open_image(im);
	struct slices *s;
	int rc = slices_new(t, &s);

	trace_close(t);
	return rc;
}

static void test_refused(void **state)
{
	struct image im = {0};
	uint64_t tags = 0;

	/* Every chunk reaches from the beginning to the end. */
	image_begin(&im, 1, IMAGE_STRIDE);
	for (uint64_t i = 0; i < 400000; i++)
		image_sample(&im, 0, 1 + i % 8 * 1000, i);
	assert_int_equal(refuse(&im), -ENOTSUP);
	/* One sample has no time. */
	image_begin(&im, 1, IMAGE_STRIDE);
	write_rounds(&im, &tags);
	image_sample(&im, 0, 0, 1);
	assert_int_equal(refuse(&im), -ENOTSUP);
}

/* Without samples there is nothing to walk. */
static void test_empty(void **state)
{
	struct image im = {0};
	struct slices *s;
	struct trace *t;

	image_begin(&im, 1, IMAGE_STRIDE);
	image_comm(&im, 5, "one");
	t = open_image(&im);
	assert_int_equal(slices_new(t, &s), 0);
	assert_int_equal(slices_count(s), 0);
	slices_free(s);
	trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
