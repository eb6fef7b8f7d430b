// SPDX-License-Identifier: Apache-2.0
/* Drains overwrite rings in malloc'ed memory; the functions below replace pausing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/pipeline/overwrite_drain.h"
#include "sys/kernel/perf_event.h"

#define RINGS 3
#define SIZE  (1u << 20)

/* --- the kernel ----------------------------------------------------------------------------------
 */

struct producer {
	struct perf_event_mmap_page *page; /* data behind it */
	uint8_t *data;
	int fd;
	uint64_t written, bytes; /* records, bytes */
	bool paused;
};

static struct producer producers[RINGS];
static bool awaited, refuse;

int perf_event_pause_output(int fd, bool pause)
{
	if (refuse)
		return -EINVAL;
	producers[fd].paused = pause;
	awaited = false;
	return 0;
}

void perf_event_await_writers(void)
{
	awaited = true;
}

/* A sample of @size bytes that has its number behind the header. */
static void produce(struct producer *p, uint16_t size)
{
	const struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = size};
	uint64_t head = p->page->data_head - size;

	assert_false(p->paused);
	for (unsigned int i = 0; i < size; i += 8) {
		uint64_t word = p->written;

		memcpy(p->data + ((head + i) & (SIZE - 1)), i ? (const void *)&word : &h, 8);
	}
	p->written++;
	p->bytes += size;
	p->page->data_head = head;
}

/* --- who takes it --------------------------------------------------------------------------------
 */

struct consumer {
	struct fifo *fifo;
	pthread_t thread;
	uint64_t next[RINGS];  /* number of the newest record that is known, and one */
	uint64_t upper[RINGS]; /* in the dump that is coming: what must come next is below */
	uint64_t bytes, records;
	bool wrong;
};

/* Within a ring and a dump, each number is one less than that before it. */
static void consume(struct consumer *c, const struct run *run)
{
	size_t at = 0;

	while (run->a_len - at >= 16) {
		struct perf_event_header h;
		uint64_t number;

		memcpy(&h, run->a + at, 8);
		memcpy(&number, run->a + at + 8, 8);
		if (c->upper[run->ring] && number != c->upper[run->ring] - 1)
			c->wrong = true;
		if (!c->upper[run->ring])
			c->next[run->ring] = number + 1;
		c->upper[run->ring] = number;
		c->records++;
		at += h.size;
	}
	c->wrong |= at != run->a_len;
	c->bytes += at;
}

static void *consumer_main(void *arg)
{
	struct consumer *c = arg;
	struct run run;

	while (!fifo_wait(c->fifo, &run)) {
		consume(c, &run);
		fifo_done(c->fifo);
	}
	return NULL;
}

/* --- tests ---------------------------------------------------------------------------------------
 */

static struct overwrite_drain *lab_new(struct consumer *c)
{
	struct overwrite_drain *d;

	*c = (struct consumer){.fifo = fifo_new(FIFO_MIN)};
	d = overwrite_drain_new(c->fifo);
	assert_non_null(d);
	for (int i = 0; i < RINGS; i++) {
		struct producer *p = &producers[i];

		*p = (struct producer){.page = calloc(1, 4096 + SIZE), .fd = i};
		p->data = (uint8_t *)p->page + 4096;
		assert_int_equal(
			overwrite_drain_add(d,
					    &(struct reader_source){.memory = p->page,
								    .page_size = 4096,
								    .data_size = SIZE,
								    .ring = (unsigned int)i,
								    .cpu = i,
								    .fds = &p->fd,
								    .nr_fds = 1},
					    NULL),
			0);
	}
	assert_int_equal(overwrite_drain_rings(d), RINGS);
	return d;
}

static void lab_free(struct overwrite_drain *d, struct consumer *c)
{
	overwrite_drain_free(d);
	fifo_free(c->fifo);
	for (int i = 0; i < RINGS; i++)
		free(producers[i].page);
}

/* All rings of a dump, through a fifo that is smaller than one of them. */
static void dump_all(struct overwrite_drain *d, struct consumer *c, bool go_on)
{
	struct error err = ERROR_INIT;

	memset(c->upper, 0, sizeof(c->upper));
	assert_int_equal(pthread_create(&c->thread, NULL, consumer_main, c), 0);
	assert_int_equal(overwrite_drain_pause(d, &err), 0);
	assert_true(awaited);
	for (int i = 0; i < RINGS; i++)
		assert_true(producers[i].paused);
	for (size_t i = 0; i < RINGS; i++) {
		assert_int_equal(overwrite_drain_take(d, i, go_on, &err), 0);
		/* It goes on at once; those that were not taken yet do not. */
		for (size_t k = 0; k < RINGS; k++)
			assert_int_equal(producers[k].paused, k > i || !go_on);
	}
	fifo_mark(c->fifo, 1);
	pthread_join(c->thread, NULL);
	assert_false(c->wrong);
}

static void test_each_record_once_or_overwritten(void **state)
{
	struct consumer c;
	struct overwrite_drain *d = lab_new(&c);

	srand(3);
	for (int round = 0; round < 12; round++) {
		uint64_t before[RINGS], bytes = 0;

		for (int i = 0; i < RINGS; i++) {
			/* Nothing, some, or more than there is room for. */
			unsigned int n = (unsigned int)rand() % 3 * ((unsigned int)rand() % 20000);

			before[i] = producers[i].written;
			while (n--)
				produce(&producers[i], (uint16_t)(16 + 8 * (rand() % 20)));
		}
		dump_all(d, &c, round < 11);
		for (int i = 0; i < RINGS; i++) {
			/* The newest is there, and nothing that an earlier dump had. */
			if (producers[i].written > before[i])
				assert_int_equal(c.next[i], producers[i].written);
			assert_true(!c.upper[i] || c.upper[i] >= before[i]);
			bytes += producers[i].bytes;
		}
		assert_int_equal(overwrite_drain_stats(d)->taken, c.bytes);
		assert_int_equal(overwrite_drain_stats(d)->taken +
					 overwrite_drain_stats(d)->overwritten,
				 bytes);
		assert_int_equal(overwrite_drain_stats(d)->drains, round + 1);
	}
	assert_true(overwrite_drain_stats(d)->overwritten > SIZE);
	lab_free(d, &c);
}

static void test_largest_records(void **state)
{
	struct consumer c;
	struct overwrite_drain *d = lab_new(&c);

	for (int i = 0; i < 100; i++)
		produce(&producers[1], 65528);
	dump_all(d, &c, false);
	assert_int_equal(c.records, SIZE / 65528);
	assert_int_equal(overwrite_drain_stats(d)->overwritten, 100 * 65528 - c.bytes);
	lab_free(d, &c);
}

static void test_pause_that_is_refused(void **state)
{
	struct error err = ERROR_INIT;
	struct consumer c;
	struct overwrite_drain *d = lab_new(&c);

	refuse = true;
	assert_int_equal(overwrite_drain_pause(d, &err), -EINVAL);
	assert_non_null(strstr(err.text, "CPU 0"));
	refuse = false;
	lab_free(d, &c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_record_once_or_overwritten),
		cmocka_unit_test(test_largest_records),
		cmocka_unit_test(test_pause_that_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
