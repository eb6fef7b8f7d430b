// SPDX-License-Identifier: Apache-2.0
/*
 * Queue of build-ids: each entry arrives, whole and in order, whatever the threads do; entries
 * without room are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "record/initial/buildid_queue.h"

#define PRODUCERS 4
#define MESSAGES  50000
#define LONGEST	  300

struct head {
	unsigned int producer, number, len; /* len: of the bytes behind it */
};

struct producer {
	pthread_t thread;
	struct buildid_queue *queue;
	unsigned int number;
};

static void *produce(void *arg)
{
	const struct producer *p = arg;
	unsigned int seed = p->number;
	uint8_t bytes[LONGEST];

	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct head head = {p->number, i, (unsigned int)rand_r(&seed) % LONGEST};

		memset(bytes, (int)(i + p->number), head.len);
		while (!buildid_queue_put(p->queue, &head, sizeof(head), bytes, head.len))
			sched_yield();
	}
	return NULL;
}

static void many_put_and_one_takes(void **state)
{
	struct buildid_queue *q = buildid_queue_new(4096);
	struct producer producers[PRODUCERS];
	unsigned int next[PRODUCERS] = {0}, left = PRODUCERS * MESSAGES;
	struct {
		struct head head;
		uint8_t bytes[LONGEST];
	} m;

	for (unsigned int i = 0; i < PRODUCERS; i++) {
		producers[i] = (struct producer){.queue = q, .number = i};
		assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]),
				 0);
	}
	while (left) {
		size_t len = buildid_queue_take(q, &m, sizeof(m));

		if (!len) {
			sched_yield();
			continue;
		}
		assert_true(m.head.producer < PRODUCERS);
		assert_int_equal(m.head.number, next[m.head.producer]++);
		assert_int_equal(len, sizeof(m.head) + m.head.len);
		for (unsigned int i = 0; i < m.head.len; i++)
			assert_int_equal(m.bytes[i], (uint8_t)(m.head.number + m.head.producer));
		left--;
	}
	for (unsigned int i = 0; i < PRODUCERS; i++)
		pthread_join(producers[i].thread, NULL);
	assert_int_equal(buildid_queue_take(q, &m, sizeof(m)), 0);
	buildid_queue_free(q);
}

static void what_has_no_room_is_refused(void **state)
{
	struct buildid_queue *q = buildid_queue_new(256);
	uint64_t in[40] = {0}, out[40];

	for (size_t round = 0; round < 1000; round++) {
		size_t words = 1 + round % 9, bytes = words * 8 - round % 8, nr = 0;

		while (in[0] = round * 100 + nr, buildid_queue_put(q, in, bytes - 1, in, 1))
			nr++;
		/* A word for each length, and the end of the ring may be too short for one. */
		assert_in_range(nr, (32 - words) / (words + 1), 32 / (words + 1));
		for (size_t i = 0; i < nr; i++) {
			assert_int_equal(buildid_queue_take(q, out, sizeof(out)), bytes);
			if (bytes > 8)
				assert_int_equal(out[0], round * 100 + i);
		}
		assert_int_equal(buildid_queue_take(q, out, sizeof(out)), 0);
	}
	/* More than there is in all, and more than whoever takes it has room for. */
	assert_false(buildid_queue_put(q, in, 249, in, 0));
	assert_true(buildid_queue_put(q, in, 8, in + 1, 20));
	out[2] = 77;
	assert_int_equal(buildid_queue_take(q, out, 16), 28);
	assert_int_equal(out[2], 77);
	buildid_queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_put_and_one_takes),
		cmocka_unit_test(what_has_no_room_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
