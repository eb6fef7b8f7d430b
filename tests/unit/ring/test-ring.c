// SPDX-License-Identifier: Apache-2.0
/* The consumer of a data ring, in malloc'ed memory: a wrap at every offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

#define SIZE 256u

/* A producer as the kernel is one: writes below the tail's bound, then moves the head. */
struct producer {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t written; /* bytes since the ring began; byte n has value pattern(n) */
};

static uint8_t pattern(uint64_t n)
{
	return (uint8_t)(n * 31 + (n >> 8));
}

static int setup(struct producer *p, struct ring *r, uint64_t start)
{
	p->page = calloc(1, sizeof(*p->page));
	p->data = calloc(1, SIZE); /* on its own, so that ASan sees a step beyond it */
	p->page->data_head = p->page->data_tail = p->written = start;
	return ring_init(r, p->page, p->data, SIZE);
}

static void teardown(struct producer *p)
{
	free(p->data);
	free(p->page);
}

static uint64_t room(const struct producer *p)
{
	return SIZE - (p->written - p->page->data_tail);
}

static void produce(struct producer *p, uint64_t bytes)
{
	assert_true(bytes <= room(p));
	while (bytes--) {
		p->data[p->written & (SIZE - 1)] = pattern(p->written);
		p->written++;
	}
	p->page->data_head = p->written;
}

/* What peek gives is all between tail and head, within the ring, in order. */
static size_t check_peek(const struct producer *p, const struct ring *r)
{
	struct ring_spans s;
	size_t n = ring_peek(r, &s);
	uint64_t at = r->tail;

	assert_int_equal(n, p->written - r->tail);
	assert_int_equal(s.a_len + s.b_len, n);
	assert_true(s.a >= p->data && s.a + s.a_len <= p->data + SIZE);
	assert_true(!s.b_len || s.b == p->data);
	for (size_t i = 0; i < s.a_len; i++)
		assert_int_equal(s.a[i], pattern(at++));
	for (size_t i = 0; i < s.b_len; i++)
		assert_int_equal(s.b[i], pattern(at++));
	assert_int_equal(p->page->data_tail, r->tail); /* a peek gives nothing back */
	return n;
}

static void test_wrap_at_every_offset(void **state)
{
	for (uint64_t start = 0; start <= 2 * SIZE; start += 8) {
		for (uint64_t len = 0; len <= SIZE; len += 8) {
			struct producer p;
			struct ring r;

			assert_int_equal(setup(&p, &r, start), 0);
			produce(&p, len);
			assert_int_equal(check_peek(&p, &r), len);
			ring_release(&r, len);
			assert_int_equal(p.page->data_tail, start + len);
			assert_int_equal(check_peek(&p, &r), 0);
			teardown(&p);
		}
	}
}

static void test_released_in_parts_while_filled(void **state)
{
	struct producer p;
	struct ring r;

	/* Begins where the counters are about to pass 2^64. */
	assert_int_equal(setup(&p, &r, UINT64_MAX - 1023), 0);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		uint64_t in = (uint64_t)rand() % (room(&p) + 1);
		size_t there;

		produce(&p, in);
		there = check_peek(&p, &r);
		ring_release(&r, (size_t)rand() % (there + 1));
		check_peek(&p, &r);
	}
	teardown(&p);
}

static void test_head_beyond_size_is_not_read(void **state)
{
	struct ring_spans s;
	struct producer p;
	struct ring r;

	assert_int_equal(setup(&p, &r, 0), 0);
	p.page->data_head = SIZE + 8;
	assert_int_equal(ring_peek(&r, &s), 0);
	assert_int_equal(s.a_len + s.b_len, 0);
	teardown(&p);
}

static void test_sizes(void **state)
{
	struct perf_event_mmap_page page = {0};
	struct ring r;

	assert_int_equal(ring_init(&r, &page, &page, 0), -EINVAL);
	assert_int_equal(ring_init(&r, &page, &page, 4), -EINVAL);
	assert_int_equal(ring_init(&r, &page, &page, 24), -EINVAL);
	assert_int_equal(ring_init(&r, &page, &page, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap_at_every_offset),
		cmocka_unit_test(test_released_in_parts_while_filled),
		cmocka_unit_test(test_head_beyond_size_is_not_read),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
