// SPDX-License-Identifier: Apache-2.0
/* The consumer of an overwrite ring, in malloc'ed memory: a wrap at every offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ring/backward.h"

#define SIZE	256u
#define RECORDS 4096u /* in the whole of a test */

/* A producer as the kernel is one. */
struct producer {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	struct backward ring;
	uint16_t sizes[RECORDS]; /* of what was written, oldest first */
	unsigned int nr, taken;
	uint64_t overwritten; /* as was found out so far, bytes */
};

static void setup(struct producer *p, uint64_t head)
{
	*p = (struct producer){.page = calloc(1, sizeof(*p->page)), .data = calloc(1, SIZE)};
	p->page->data_head = head;
	assert_int_equal(backward_init(&p->ring, p->page, p->data, SIZE), 0);
}

static void teardown(struct producer *p)
{
	free(p->data);
	free(p->page);
}

static uint8_t pattern(unsigned int record, unsigned int at)
{
	return (uint8_t)(record * 37 + at * 11 + 1);
}

static void produce(struct producer *p, uint16_t size)
{
	struct perf_event_header h = {.type = p->nr, .size = size};
	uint64_t head = p->page->data_head - size;

	for (unsigned int i = 0; i < size; i++) {
		const uint8_t *header = (const uint8_t *)&h;

		p->data[(head + i) & (SIZE - 1)] = i < sizeof(h) ? header[i] : pattern(p->nr, i);
	}
	p->sizes[p->nr++] = size;
	p->page->data_head = head;
}

/* The record that begins at @at is number @nr, whole. */
static void check_record(const struct producer *p, const struct ring_spans *s, size_t at,
			 unsigned int nr)
{
	struct perf_event_header h;
	uint8_t record[SIZE];

	ring_spans_copy(s, at, record, p->sizes[nr]);
	memcpy(&h, record, sizeof(h));
	assert_int_equal(h.type, nr);
	assert_int_equal(h.size, p->sizes[nr]);
	for (unsigned int i = sizeof(h); i < h.size; i++)
		assert_int_equal(record[i], pattern(nr, i));
	assert_int_equal(ring_whole_records(record, h.size), h.size);
	assert_int_equal(ring_whole_records(record, h.size - 1u), 0);
}

/*
 * What is found are the newest records that nobody took, newest first, as many as the ring can hold
 * whole; the bytes of all others are those that are said to be overwritten.
 */
static void check_find(struct producer *p)
{
	struct backward_records found;
	size_t bytes = backward_find(&p->ring, &found), at = 0;
	unsigned int nr = p->nr;
	uint64_t gone = 0;

	assert_int_equal(found.spans.a_len + found.spans.b_len, bytes);
	assert_true(found.spans.a >= p->data &&
		    found.spans.a + found.spans.a_len <= p->data + SIZE);
	assert_true(!found.spans.b_len || found.spans.b == p->data);
	while (at < bytes) {
		assert_true(nr > p->taken);
		check_record(p, &found.spans, at, --nr);
		at += p->sizes[nr];
	}
	assert_int_equal(at, bytes);
	if (nr > p->taken)
		assert_true(bytes + p->sizes[nr - 1] > SIZE);
	while (nr-- > p->taken)
		gone += p->sizes[nr];
	assert_int_equal(found.overwritten, gone);
	backward_done(&p->ring, &found);
	p->overwritten += gone;
	p->taken = p->nr;
	/* Nothing is found twice. */
	assert_int_equal(backward_find(&p->ring, &found), 0);
	assert_int_equal(found.overwritten, 0);
}

static void test_wrap_at_every_offset(void **state)
{
	/* Not filled, filled exactly, overrun up to some times. */
	for (uint64_t start = 0; start < SIZE; start += 8) {
		for (uint16_t size = 8; size <= SIZE; size += 8) {
			for (unsigned int n = 0; n <= 4 * SIZE / size; n++) {
				struct producer p;

				setup(&p, start);
				for (unsigned int i = 0; i < n; i++)
					produce(&p, size);
				check_find(&p);
				teardown(&p);
			}
		}
	}
}

static void test_of_all_sizes_read_now_and_then(void **state)
{
	struct producer p;
	uint64_t written = 0;

	setup(&p, 0); /* as the kernel begins */
	srand(2);
	while (p.nr < RECORDS) {
		uint16_t size = (uint16_t)(8 + 8 * (rand() % (rand() % 4 ? 6 : SIZE / 8)));

		produce(&p, size);
		written += size;
		if (rand() % 8 == 0)
			check_find(&p);
	}
	check_find(&p);
	assert_int_equal(p.page->data_head, 0 - written);
	assert_true(p.overwritten > 0 && p.overwritten < written);
	teardown(&p);
}

/* What was there before belongs to somebody else. */
static void test_begins_where_the_ring_stands(void **state)
{
	struct producer p;

	setup(&p, 0);
	produce(&p, 64);
	produce(&p, 64);
	assert_int_equal(backward_init(&p.ring, p.page, p.data, SIZE), 0);
	p.taken = p.nr;
	check_find(&p);
	produce(&p, 24);
	check_find(&p);
	assert_int_equal(p.overwritten, 0);
	teardown(&p);
}

/* Memory that is no records ends the walk, and is not read beyond. */
static void test_what_is_no_record(void **state)
{
	static const uint16_t sizes[] = {0, 4, 12, SIZE + 8, UINT16_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_header h = {.type = 1, .size = sizes[i]};
		struct backward_records found;
		struct producer p;

		setup(&p, 0);
		produce(&p, 64);
		produce(&p, 32);
		memcpy(p.data + SIZE - 64, &h, sizeof(h)); /* the older one's header */
		assert_int_equal(backward_find(&p.ring, &found), 32);
		assert_int_equal(found.overwritten, 64);
		teardown(&p);
	}
}

static void test_sizes(void **state)
{
	struct perf_event_mmap_page page = {0};
	struct backward b;

	assert_int_equal(backward_init(&b, &page, &page, 0), -EINVAL);
	assert_int_equal(backward_init(&b, &page, &page, 4), -EINVAL);
	assert_int_equal(backward_init(&b, &page, &page, 24), -EINVAL);
	assert_int_equal(backward_init(&b, &page, &page, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap_at_every_offset),
		cmocka_unit_test(test_of_all_sizes_read_now_and_then),
		cmocka_unit_test(test_begins_where_the_ring_stands),
		cmocka_unit_test(test_what_is_no_record),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
