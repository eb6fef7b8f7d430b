// SPDX-License-Identifier: Apache-2.0
/* The consumer of an AUX area, in malloc'ed memory: both modes, both kinds of heads. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ring/aux.h"

#define SIZE   4096u
#define RECORD 32u

/* A PMU as the kernel drives it. */
struct producer {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	bool offset;	  /* what it publishes in overwrite mode */
	uint64_t written; /* bytes since the ring began */
	struct aux_ring ring;
};

/* No two records are alike, and no byte of them is 0. */
static uint8_t pattern(uint64_t n)
{
	uint32_t record = (uint32_t)(n / RECORD) * 2654435761u;

	return (uint8_t)((record >> (8 * (n % 4))) ^ (n % RECORD)) | 1;
}

static void setup(struct producer *p, bool overwrite, bool offset)
{
	*p = (struct producer){.page = calloc(1, sizeof(*p->page)),
			       .data = calloc(1, SIZE), /* on its own, for ASan */
			       .offset = offset};
	assert_int_equal(aux_ring_init(&p->ring, p->page, p->data, SIZE, overwrite), 0);
}

static void teardown(struct producer *p)
{
	free(p->data);
	free(p->page);
}

static void produce(struct producer *p, uint64_t bytes)
{
	for (; bytes; bytes--, p->written++)
		p->data[p->written & (SIZE - 1)] = pattern(p->written);
}

/* The event stops: its head is published. */
static void halt(struct producer *p)
{
	p->page->aux_head = p->offset ? p->written & (SIZE - 1) : p->written;
}

/* As when a recorder has stopped the event. */
static uint64_t look(struct aux_ring *r)
{
	uint64_t more;

	aux_ring_move(r, aux_ring_head(r));
	assert_true(aux_ring_settle(r, NULL, NULL, &more));
	return more;
}

/* The window is all that the area holds, and nothing that is new counts as old. */
static void check_window(struct producer *p, uint64_t taken, struct aux_window *ret)
{
	uint64_t held = p->written < SIZE ? p->written : SIZE;
	uint64_t added = p->written - taken < held ? p->written - taken : held;
	uint8_t *out = malloc(SIZE);

	look(&p->ring);
	aux_ring_window(&p->ring, ret);
	assert_int_equal(ret->to - ret->from, held);
	assert_int_equal(ret->wrapped, p->written >= SIZE);
	assert_true(ret->from <= ret->fresh && ret->fresh <= ret->to);
	assert_int_equal(ret->to - ret->fresh, added);
	assert_int_equal(ret->to % SIZE, p->written % SIZE);
	if (!p->offset)
		assert_int_equal(ret->to, p->written);
	aux_ring_copy(&p->ring, ret->from, ret->to, out);
	for (uint64_t i = 0; i < held; i++)
		assert_int_equal(out[i], pattern(p->written - held + i));
	/* A piece of it, too. */
	aux_ring_copy(&p->ring, ret->fresh, ret->to, out);
	for (uint64_t i = 0; i < added; i++)
		assert_int_equal(out[i], pattern(p->written - added + i));
	free(out);
}

static void test_window_at_every_offset(void **state)
{
	/* From nothing over each partial fill, the exact turn and more; then again from there. */
	for (int offset = 0; offset < 2; offset++) {
		for (uint64_t first = 0; first <= 2 * SIZE + 64; first += 61) {
			static const uint64_t seconds[] = {
				0,	    1,	  32,	    SIZE / 2, SIZE - 1,
				SIZE - 100, SIZE, SIZE + 1, 3 * SIZE, 2 * SIZE + 77};

			for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
				struct aux_window w;
				struct producer p;

				setup(&p, true, offset);
				produce(&p, first);
				halt(&p);
				check_window(&p, 0, &w);
				aux_ring_taken(&p.ring, &w);
				check_window(&p, first, &w); /* a duplicate has nothing new */
				produce(&p, seconds[i]);
				halt(&p);
				check_window(&p, first, &w);
				teardown(&p);
			}
		}
	}
}

/* A driver may publish the size itself for the end of the area, and 0 for the same place later. */
static void test_offset_that_is_the_size(void **state)
{
	struct aux_window w;
	struct producer p;

	setup(&p, true, true);
	produce(&p, SIZE);
	p.page->aux_head = SIZE;
	check_window(&p, 0, &w);
	aux_ring_taken(&p.ring, &w);
	p.page->aux_head = 0;
	check_window(&p, SIZE, &w);
	produce(&p, 96);
	halt(&p);
	check_window(&p, SIZE, &w);
	assert_int_equal(w.to, SIZE + 96);
	teardown(&p);
}

/* Several stops from 0 on may end at the size, before anybody looks: no turn is behind this head.
 */
static void test_head_that_counts_on_to_the_size(void **state)
{
	for (uint64_t first = RECORD; first < SIZE; first += RECORD) {
		struct aux_window w;
		struct producer p;

		setup(&p, true, false);
		produce(&p, first);
		halt(&p);
		aux_ring_move(&p.ring, p.page->aux_head);
		produce(&p, SIZE - first);
		halt(&p);
		check_window(&p, 0, &w);
		aux_ring_taken(&p.ring, &w);
		produce(&p, first);
		halt(&p);
		check_window(&p, SIZE, &w);
		teardown(&p);
	}
}

/* The first head that anybody reads is behind a turn: only the content tells. */
static void test_turn_before_the_first_look(void **state)
{
	/* Zeros at the end of the area, where one would look first, are found out, too. */
	for (uint64_t zeros = 0; zeros < SIZE - 200; zeros += 97) {
		struct aux_window w;
		struct producer p;

		setup(&p, true, true);
		produce(&p, SIZE);
		memset(p.data + SIZE - zeros, 0, zeros);
		produce(&p, 100);
		halt(&p);
		look(&p.ring);
		aux_ring_window(&p.ring, &w);
		assert_true(w.wrapped);
		assert_int_equal(w.to - w.from, SIZE);
		assert_int_equal(w.fresh, w.from);
		teardown(&p);
	}
}

/* Whole records: a turn replaces none of them by an equal one, as it may a single byte. */
static void produce_some(struct producer *p, uint64_t max)
{
	produce(p, (uint64_t)rand() % (max / RECORD) * RECORD);
}

static bool say_no(void *arg)
{
	++*(int *)arg;
	return false;
}

/*
 * Each stop is reported, and now and then somebody looks at the content, in vain while the event
 * runs. Then bytes are never more than they were, and a turn is found at the next look in peace.
 */
static void test_stops_and_turns(void **state)
{
	srand(3);
	for (int round = 0; round < 3000; round++) {
		uint64_t known = 0, more, at_look = 0;
		struct aux_window w;
		struct producer p;
		int asked = 0;

		setup(&p, true, round % 2);
		if (round % 2 == 0) { /* a head that counts on has exceeded the size */
			p.written = p.page->aux_head = known = at_look = 3 * SIZE;
			assert_int_equal(aux_ring_init(&p.ring, p.page, p.data, SIZE, true), 0);
		}
		for (int i = 0; i < 20; i++) {
			produce_some(&p, rand() % 2 ? SIZE / 3 : 3 * SIZE);
			halt(&p);
			known += aux_ring_move(&p.ring, p.page->aux_head);
			assert_true(known <= p.written);
			assert_int_equal(known % SIZE, p.written % SIZE);
			if (round % 2 == 0)
				assert_int_equal(known, p.written);
			if (rand() % 2) {
				assert_false(aux_ring_settle(&p.ring, say_no, &asked, &more));
				assert_int_equal(p.ring.position, known);
			}
			if (rand() % 3)
				continue;
			assert_true(aux_ring_settle(&p.ring, NULL, NULL, &more));
			known += more;
			/* At least a turn is counted, if there was one, and in doubt one too many.
			 */
			assert_true(known == p.written || known - at_look >= SIZE);
			assert_true(round % 2 || known == p.written);
			at_look = known = p.written;
			p.ring.position = p.ring.probed = known;
		}
		known += look(&p.ring);
		aux_ring_window(&p.ring, &w);
		assert_int_equal(w.to, known);
		teardown(&p);
	}
}

static void test_full_wraps_at_every_offset(void **state)
{
	for (uint64_t start = 0; start < 2 * SIZE; start += 37) {
		struct ring_spans s;
		struct producer p;
		uint8_t *out = malloc(SIZE);

		setup(&p, false, false);
		p.written = p.page->aux_head = p.page->aux_tail = start;
		assert_int_equal(aux_ring_init(&p.ring, p.page, p.data, SIZE, false), 0);
		assert_int_equal(aux_ring_peek(&p.ring, &s), 0);
		produce(&p, SIZE);
		halt(&p);
		assert_int_equal(aux_ring_peek(&p.ring, &s), SIZE);
		ring_spans_copy(&s, 0, out, SIZE);
		for (uint64_t i = 0; i < SIZE; i++)
			assert_int_equal(out[i], pattern(start + i));
		assert_int_equal(p.page->aux_tail, start); /* a peek gives nothing back */
		aux_ring_release(&p.ring, 33);
		assert_int_equal(p.page->aux_tail, start + 33);
		assert_int_equal(aux_ring_peek(&p.ring, &s), SIZE - 33);
		aux_ring_release(&p.ring, SIZE - 33);
		assert_int_equal(aux_ring_peek(&p.ring, &s), 0);
		p.page->aux_head += SIZE + 1; /* not a head of the kernel's */
		assert_int_equal(aux_ring_peek(&p.ring, &s), 0);
		free(out);
		teardown(&p);
	}
}

#define RECORDS 50000u

/* As perf_aux_output_begin() and _end(): what is published is below tail and size. */
static void *produce_records(void *arg)
{
	struct producer *p = arg;
	uint64_t seq = 0, head = 0;

	while (seq < RECORDS) {
		uint64_t tail = __atomic_load_n(&p->page->aux_tail, __ATOMIC_ACQUIRE);
		uint64_t room = (SIZE - (head - tail)) / RECORD;

		for (; room && seq < RECORDS; room--, seq++, head += RECORD)
			for (unsigned int i = 0; i < RECORD; i += sizeof(seq))
				memcpy(p->data + (head & (SIZE - 1)) + i, &seq, sizeof(seq));
		__atomic_store_n(&p->page->aux_head, head, __ATOMIC_RELEASE);
		if (head - tail == SIZE)
			sched_yield();
	}
	return NULL;
}

static void test_full_beside_a_producer(void **state)
{
	uint64_t record[RECORD / sizeof(uint64_t)], seq = 0;
	struct producer p;
	pthread_t thread;

	setup(&p, false, false);
	assert_int_equal(pthread_create(&thread, NULL, produce_records, &p), 0);
	while (seq < RECORDS) {
		struct ring_spans s;
		size_t bytes = aux_ring_peek(&p.ring, &s), at = 0;

		assert_true(bytes <= SIZE && bytes % RECORD == 0);
		for (; at < bytes; at += RECORD, seq++) {
			ring_spans_copy(&s, at, record, RECORD);
			for (size_t i = 0; i < RECORD / sizeof(uint64_t); i++)
				assert_int_equal(record[i], seq);
		}
		aux_ring_release(&p.ring, bytes);
		if (!bytes)
			sched_yield();
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	teardown(&p);
}

static void test_sizes(void **state)
{
	struct perf_event_mmap_page page = {0};
	struct aux_ring r;
	static const uint8_t area[4096];

	assert_int_equal(aux_ring_init(&r, &page, area, 0, true), -EINVAL);
	assert_int_equal(aux_ring_init(&r, &page, area, 2048, true), -EINVAL);
	assert_int_equal(aux_ring_init(&r, &page, area, 12288, false), -EINVAL);
	assert_int_equal(aux_ring_init(&r, &page, area, 4096, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_at_every_offset),
		cmocka_unit_test(test_offset_that_is_the_size),
		cmocka_unit_test(test_head_that_counts_on_to_the_size),
		cmocka_unit_test(test_turn_before_the_first_look),
		cmocka_unit_test(test_stops_and_turns),
		cmocka_unit_test(test_full_wraps_at_every_offset),
		cmocka_unit_test(test_full_beside_a_producer),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
