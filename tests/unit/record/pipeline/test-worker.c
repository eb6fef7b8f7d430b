// SPDX-License-Identifier: Apache-2.0
/*
 * Workers with rings in plain memory and a sink that counts: they carry out commands, deliver all
 * records, report errors, and count records after an error. Run it with -Db_sanitize=thread, too.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perfdata/abi.h"
#include "record/pipeline/worker.h"

#define PAGE	4096u
#define RING	(64u << 10)
#define WORKERS 2u

/* --- a sink that counts --------------------------------------------------------------------------
 */

struct counter {
	struct sink sink;
	uint64_t bytes, fail_after; /* 0: never */
	uint64_t at_flush;	    /* bytes */
	_Atomic unsigned int flushed;
	int failed;	    /* argument of worker_opts.failed */
	uint64_t discarded; /* bytes, after that */
	uint64_t limit;	    /* of an output that is full; 0: never */
	sem_t *gate;	    /* NULL, or it takes nothing until this is posted */
};

static int counter_write(struct sink *s, const struct run *run, struct error *err)
{
	struct counter *c = (struct counter *)s;

	while (c->gate && sem_wait(c->gate) < 0)
		;
	c->gate = NULL;
	c->bytes += run_bytes(run);
	if (c->fail_after && c->bytes > c->fail_after)
		return error_set(err, -ENOSPC, "full");
	return 0;
}

static int counter_flush(struct sink *s, struct error *err)
{
	((struct counter *)s)->at_flush = ((struct counter *)s)->bytes;
	return 0;
}

static const struct sink_ops counter_ops = {.write = counter_write, .flush = counter_flush};

static void has_failed(void *arg, int rc)
{
	((struct counter *)arg)->failed = rc;
}

static void is_discarded(void *arg, const struct run *run)
{
	((struct counter *)arg)->discarded += run_bytes(run);
}

static bool has_passed(void *arg)
{
	const struct counter *c = arg;

	return c->limit && c->bytes >= c->limit;
}

static void was_flushed(void *arg)
{
	atomic_fetch_add(&((struct counter *)arg)->flushed, 1);
}

/* --- workers with a ring each --------------------------------------------------------------------
 */

struct lab {
	int report;
	struct worker *workers[WORKERS];
	struct counter counters[WORKERS];
	uint8_t *rings[WORKERS];
	int fds[WORKERS]; /* stand for events: readable, a ring is ready */
	uint64_t heads[WORKERS];
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	lab->report = eventfd(0, EFD_NONBLOCK);
	for (unsigned int i = 0; i < WORKERS; i++) {
		const struct worker_opts opts = {
			.number = i,
			.buffer = FIFO_MIN,
			.sink = &lab->counters[i].sink,
			.flushed = was_flushed,
			.passed = has_passed,
			.failed = has_failed,
			.discard = is_discarded,
			.arg = &lab->counters[i],
			.report = lab->report,
			.direct = i == 1,
		};
		struct reader_source source = {
			.page_size = PAGE, .data_size = RING, .cpu = (int)i, .nr_fds = 1};

		lab->counters[i].sink.ops = &counter_ops;
		assert_int_equal(posix_memalign((void **)&lab->rings[i], PAGE, PAGE + RING), 0);
		memset(lab->rings[i], 0, PAGE + RING);
		lab->fds[i] = eventfd(0, EFD_NONBLOCK);
		source.memory = lab->rings[i];
		source.fds = &lab->fds[i];
		assert_int_equal(worker_new(&opts, &lab->workers[i], NULL), 0);
		assert_int_equal(worker_add_ring(lab->workers[i], &source, NULL), 0);
	}
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	for (unsigned int i = 0; i < WORKERS; i++) {
		worker_free(lab->workers[i]);
		free(lab->rings[i]);
		close(lab->fds[i]);
	}
	close(lab->report);
	free(lab);
	return 0;
}

/* Puts @n records of 8 bytes into ring @i, as the kernel does. */
static void put(struct lab *lab, unsigned int i, unsigned int n)
{
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)lab->rings[i];
	const struct perf_event_header hdr = {.type = PERF_RECORD_COMM, .size = sizeof(hdr)};

	for (; n; n--, lab->heads[i] += sizeof(hdr))
		memcpy(lab->rings[i] + PAGE + (lab->heads[i] & (RING - 1)), &hdr, sizeof(hdr));
	__atomic_store_n(&page->data_head, lab->heads[i], __ATOMIC_RELEASE);
}

/* A reader that never says that it runs would make each test wait. */
static void start(struct lab *lab)
{
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_start(lab->workers[i], NULL), 0);
	for (unsigned int i = 0; i < WORKERS; i++)
		worker_await(lab->workers[i], UINT64_MAX / 2);
}

static void ask(struct lab *lab, enum worker_command command)
{
	for (unsigned int i = 0; i < WORKERS; i++)
		worker_ask(lab->workers[i], command);
}

static bool is_ended(const struct worker_view *view)
{
	return view->ended;
}

static bool is_flushed(const struct worker_view *view)
{
	return view->flushed;
}

static bool is_failed(const struct worker_view *view)
{
	return view->code;
}

/* Waits for news until @i has what is wanted. */
static struct worker_view await(struct lab *lab, unsigned int i,
				bool (*wanted)(const struct worker_view *view))
{
	struct pollfd polled = {.fd = lab->report, .events = POLLIN};
	struct worker_view view = worker_view(lab->workers[i]);
	uint64_t n;

	while (!wanted(&view)) {
		assert_int_equal(poll(&polled, 1, 60000), 1);
		assert_int_equal(read(lab->report, &n, sizeof(n)), sizeof(n));
		view = worker_view(lab->workers[i]);
	}
	return view;
}

/* --- tests ---------------------------------------------------------------------------------------
 */

static void flush_takes_everything(void **state)
{
	struct lab *lab = *state;

	start(lab);
	for (unsigned int round = 1; round <= 20; round++) {
		for (unsigned int i = 0; i < WORKERS; i++)
			put(lab, i, 100 * (i + 1));
		ask(lab, WORKER_FLUSH);
		for (unsigned int i = 0; i < WORKERS; i++) {
			struct worker_view view = await(lab, i, is_flushed);

			assert_false(view.ended);
			assert_int_equal(view.code, 0);
			assert_int_equal(atomic_load(&lab->counters[i].flushed), round);
		}
	}
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++) {
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
		assert_int_equal(lab->counters[i].bytes, 20 * 100 * (i + 1) * 8);
		assert_int_equal(lab->counters[i].at_flush, lab->counters[i].bytes);
	}
}

/* Several commands before the worker looks: DRAIN wins, and answers all. */
static void drain_includes_flush(void **state)
{
	struct lab *lab = *state;

	for (unsigned int i = 0; i < WORKERS; i++)
		put(lab, i, 500);
	ask(lab, WORKER_FLUSH);
	ask(lab, WORKER_FINISH);
	ask(lab, WORKER_FLUSH);
	start(lab);
	for (unsigned int i = 0; i < WORKERS; i++) {
		struct worker_view view = await(lab, i, is_ended);

		assert_true(view.flushed && view.ended);
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
		assert_int_equal(lab->counters[i].bytes, 500 * 8);
		assert_int_equal(atomic_load(&lab->counters[i].flushed), 1);
	}
}

/* One worker fails by itself; the other goes on until the test ends it. */
static void error_is_told(void **state)
{
	struct lab *lab = *state;
	struct error err = ERROR_INIT;
	struct worker_view view;

	lab->counters[0].fail_after = 80;
	start(lab);
	put(lab, 0, 11);
	put(lab, 1, 11);
	ask(lab, WORKER_FLUSH);
	view = await(lab, 0, is_failed);
	assert_int_equal(view.code, -ENOSPC);
	assert_false(view.flushed);
	view = await(lab, 1, is_flushed);
	assert_false(view.ended);
	put(lab, 0, 30);
	ask(lab, WORKER_FINISH);
	assert_int_equal(worker_join(lab->workers[0], &err), -ENOSPC);
	assert_int_equal(lab->counters[0].discarded, 240);
	assert_string_equal(err.text, "full");
	/* Who knows the sink was asked to save what can be saved; of the other nothing had to be.
	 */
	assert_int_equal(lab->counters[0].failed, -ENOSPC);
	assert_int_equal(lab->counters[0].at_flush, 0);
	assert_int_equal(lab->counters[1].failed, 0);
	assert_int_equal(worker_join(lab->workers[1], NULL), 0);
	assert_int_equal(lab->counters[1].bytes, 88);
}

/* Waits until all of ring @i is taken. */
static void await_taken(struct lab *lab, unsigned int i)
{
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)lab->rings[i];

	for (int n = 0; n < 6000; n++) {
		if (__atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) == lab->heads[i])
			break;
		usleep(10000);
	}
	assert_int_equal(__atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE), lab->heads[i]);
}

/* What had to stay since nobody wrote is taken when somebody does, and nobody asks for it. */
static void ring_is_taken_when_there_is_room(void **state)
{
	struct lab *lab = *state;
	struct fifo *fifo = worker_fifo(lab->workers[0]);
	sem_t gate;

	sem_init(&gate, 0, 0);
	lab->counters[0].gate = &gate;
	start(lab);
	while (fifo_fullness(fifo) < 80) {
		put(lab, 0, RING / 8);
		worker_ask(lab->workers[0], WORKER_FLUSH);
		await_taken(lab, 0);
	}
	put(lab, 0, RING / 8);
	worker_ask(lab->workers[0], WORKER_FLUSH);
	assert_true(fifo_is_hurried(fifo));
	usleep(50000); /* so that it is done before the gate opens; else there is nothing to see */
	sem_post(&gate);
	await_taken(lab, 0);
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
	assert_int_equal(lab->counters[0].bytes, lab->heads[0]);
	sem_destroy(&gate);
}

static void ready_ring_is_taken_unasked(void **state)
{
	struct lab *lab = *state;
	const uint64_t one = 1;

	start(lab);
	put(lab, 1, 50);
	assert_int_equal(write(lab->fds[1], &one, sizeof(one)), sizeof(one));
	await_taken(lab, 1);
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
	assert_int_equal(lab->counters[1].bytes, 400);
}

/* Returns the room that it filled. */
static uint8_t *hand(struct worker *w, size_t len)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_AUXTRACE, .size = 48};
	uint8_t *p = worker_room(w, len);

	assert_non_null(p);
	memset(p, 0, len);
	memcpy(p, &hdr, sizeof(hdr));
	worker_hand(w, p, len);
	return p;
}

/* What the main thread hands over is written before the next command is done. */
static void handed_records_are_written(void **state)
{
	struct lab *lab = *state;

	start(lab);
	for (unsigned int round = 1; round <= 20; round++) {
		put(lab, 0, 10);
		for (unsigned int i = 0; i < 3; i++)
			hand(lab->workers[0], 4096);
		ask(lab, WORKER_FLUSH);
		for (unsigned int i = 0; i < WORKERS; i++)
			assert_int_equal(await(lab, i, is_flushed).code, 0);
		assert_int_equal(lab->counters[0].at_flush, round * (80 + 3 * 4096));
		assert_int_equal(lab->counters[1].at_flush, 0);
	}
	hand(lab->workers[1], 4096);
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
	assert_int_equal(lab->counters[1].at_flush, 4096);
}

/* The writer does not wait for a reader that is paused. Large room is used again. */
static void handed_records_are_written_now(void **state)
{
	struct lab *lab = *state;
	struct worker *w = lab->workers[0];
	const uint8_t *room, *before = NULL;

	start(lab);
	ask(lab, WORKER_PAUSE);
	for (unsigned int i = 0; i < WORKERS; i++)
		await(lab, i, is_flushed);
	/* The other one is idle, and may be borrowed. */
	hand(lab->workers[1], 4096);
	worker_write_now(lab->workers[1]);
	assert_int_equal(lab->counters[1].at_flush, 4096);
	for (unsigned int round = 1; round <= 20; round++) {
		hand(w, 4096);
		room = hand(w, 1 << 20);
		assert_true(!before || room == before);
		before = room;
		worker_write_now(w);
		while (atomic_load(&lab->counters[0].flushed) <= round)
			sched_yield();
		assert_int_equal(lab->counters[0].at_flush, round * (4096 + (1 << 20)));
		assert_int_equal(worker_handed(w), 0);
	}
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
}

static long page_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

/* Only such room is there in full. What is too large to be kept is not made. */
static void room_is_made_ahead(void **state)
{
	struct lab *lab = *state;
	struct worker *w = lab->workers[0];
	long before;
	uint8_t *p;

	worker_make_room(w, 1 << 20);
	worker_make_room(w, 18 << 20);
	before = page_faults();
	p = worker_room(w, 1 << 20);
	assert_non_null(p);
	memset(p, 1, 1 << 20);
	assert_true(page_faults() - before < 64); /* of 256 pages */
	worker_drop_room(p);
	for (unsigned int i = 0; i < 100; i++)
		worker_make_room(w, 4 << 20);
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
}

static bool is_full(const struct worker_view *view)
{
	return view->full;
}

/* The rings stay empty, so that only what was handed over can make the output full. */
static void handed_records_fill_the_output(void **state)
{
	struct lab *lab = *state;
	struct worker *w = lab->workers[0];

	lab->counters[0].limit = 8192;
	start(lab);
	hand(w, 4096);
	ask(lab, WORKER_FLUSH);
	assert_false(await(lab, 0, is_flushed).full);
	assert_false(fifo_is_hurried(worker_fifo(w)));
	hand(w, 4096);
	worker_write_now(w);
	await(lab, 0, is_full);
	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
}

/* Of a sink that fails all others are counted; those of a worker that never ran are freed. */
static void handed_records_are_discarded(void **state)
{
	struct lab *lab = *state;
	struct error err = ERROR_INIT;

	lab->counters[0].fail_after = 4096;
	for (unsigned int i = 0; i < 3; i++)
		hand(lab->workers[0], 4096);
	assert_int_equal(worker_start(lab->workers[0], NULL), 0);
	hand(lab->workers[1], 4096);
	worker_ask(lab->workers[0], WORKER_FLUSH);
	assert_int_equal(await(lab, 0, is_failed).code, -ENOSPC);
	hand(lab->workers[0], 512);
	ask(lab, WORKER_FINISH);
	assert_int_equal(worker_join(lab->workers[0], &err), -ENOSPC);
	assert_int_equal(worker_join(lab->workers[1], NULL), 0);
	assert_int_equal(lab->counters[0].discarded, 4096 + 512);
}

static void never_started(void **state)
{
	struct lab *lab = *state;

	ask(lab, WORKER_FINISH);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(worker_join(lab->workers[i], NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flush_takes_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(drain_includes_flush, setup, teardown),
		cmocka_unit_test_setup_teardown(error_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(ready_ring_is_taken_unasked, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_is_taken_when_there_is_room, setup, teardown),
		cmocka_unit_test_setup_teardown(handed_records_are_written, setup, teardown),
		cmocka_unit_test_setup_teardown(handed_records_are_written_now, setup, teardown),
		cmocka_unit_test_setup_teardown(room_is_made_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(handed_records_fill_the_output, setup, teardown),
		cmocka_unit_test_setup_teardown(handed_records_are_discarded, setup, teardown),
		cmocka_unit_test_setup_teardown(never_started, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
