// SPDX-License-Identifier: Apache-2.0
/*
 * Sideband is shown once, in the order of its ring, whoever asks for it, and also if its reader has
 * released it.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/pipeline/reader.h"

#define PAGE	4096u
#define RING	16384u
#define RINGS	3u
#define RECORDS 100000u /* of a ring, with several threads */

/* --- rings as the kernel fills them --------------------------------------------------------------
 */

struct body {
	uint32_t ring, number;
};

struct fake_ring {
	uint8_t *memory;
	struct perf_event_mmap_page *page;
	uint64_t head;
	uint32_t made; /* records */
};

struct lab {
	struct fake_ring rings[RINGS];
	struct sideband_taps *taps;
	struct sideband_tap *tap[RINGS];
	_Atomic(uint32_t) shown[RINGS]; /* records */
	uint32_t marked;		/* of these: with the mark of a build-id */
	atomic_bool wrong;		/* not in order */
	atomic_bool end;
	sem_t *held, *go_on; /* of who shows, once; or NULL */
	struct fifo *fifo;
	struct reader *reader;
};

static void copy_in(struct fake_ring *f, const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		f->memory[PAGE + ((f->head + i) & (RING - 1))] = ((const uint8_t *)p)[i];
	f->head += len;
}

/* Puts a record of @size bytes, 16 or more, if there is room. */
static bool put(struct fake_ring *f, uint32_t ring, struct perf_event_header hdr)
{
	const struct body body = {ring, f->made};
	static const uint8_t rest[UINT16_MAX];

	if (f->head + hdr.size - __atomic_load_n(&f->page->data_tail, __ATOMIC_ACQUIRE) > RING)
		return false;
	copy_in(f, &hdr, sizeof(hdr));
	copy_in(f, &body, sizeof(body));
	copy_in(f, rest, hdr.size - sizeof(hdr) - sizeof(body));
	__atomic_store_n(&f->page->data_head, f->head, __ATOMIC_RELEASE);
	f->made++;
	return true;
}

static bool put_map(struct lab *lab, uint32_t ring, uint16_t size)
{
	return put(&lab->rings[ring], ring,
		   (struct perf_event_header){PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, size});
}

/* The records of a ring come one by one, so this counts without a lock of its own. */
static int show(const struct perf_event_header *hdr, void *arg)
{
	struct lab *lab = arg;
	struct body body;
	sem_t *held = lab->held;

	if (held) {
		lab->held = NULL;
		sem_post(held);
		sem_wait(lab->go_on);
	}
	memcpy(&body, hdr + 1, sizeof(body));
	if (body.ring >= RINGS || body.number != lab->shown[body.ring])
		lab->wrong = true;
	else
		lab->shown[body.ring]++;
	if (hdr->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		lab->marked++;
	return 0;
}

static void open_lab(struct lab *lab, bool own_build_ids)
{
	struct error err = ERROR_INIT;

	*lab = (struct lab){.wrong = false};
	lab->fifo = fifo_new(FIFO_MIN);
	lab->taps = sideband_taps_new(RINGS, own_build_ids, show, lab);
	assert_non_null(lab->fifo);
	assert_non_null(lab->taps);
	assert_int_equal(reader_new(lab->fifo, NULL, false, &lab->reader, &err), 0);
	for (unsigned int i = 0; i < RINGS; i++) {
		struct fake_ring *f = &lab->rings[i];
		struct reader_source source = {
			.page_size = PAGE, .data_size = RING, .ring = i, .sideband = true};

		f->memory = calloc(1, PAGE + RING);
		assert_non_null(f->memory);
		f->page = (void *)f->memory;
		f->head = f->page->data_head = f->page->data_tail = i * 77776;
		source.memory = f->memory;
		assert_int_equal(sideband_taps_add(lab->taps, f->memory, PAGE, RING, &lab->tap[i]),
				 0);
		source.tap = lab->tap[i];
		assert_int_equal(reader_add(lab->reader, &source, &err), 0);
	}
}

static void close_lab(struct lab *lab)
{
	assert_false(lab->wrong);
	reader_free(lab->reader);
	sideband_taps_free(lab->taps);
	fifo_free(lab->fifo);
	for (unsigned int i = 0; i < RINGS; i++)
		free(lab->rings[i].memory);
}

/* Drains all rings, and empties the fifo. */
static void drain(struct lab *lab)
{
	struct run piece;

	reader_pass_all(lab->reader, false);
	fifo_mark(lab->fifo, 1);
	while (!fifo_wait(lab->fifo, &piece))
		fifo_done(lab->fifo);
}

/* --- tests ---------------------------------------------------------------------------------------
 */

static void records_are_shown_before_they_are_drained(void **state)
{
	struct lab lab;

	open_lab(&lab, false);
	for (uint32_t ring = 0; ring < RINGS; ring++)
		for (uint32_t i = 0; i <= ring; i++)
			assert_true(put_map(&lab, ring, 1024));
	sideband_tap_show(lab.tap[1]);
	assert_int_equal(lab.shown[1], 2);
	assert_int_equal(lab.shown[0] + lab.shown[2], 0);
	for (unsigned int again = 0; again < 2; again++) {
		sideband_taps_show(lab.taps);
		for (uint32_t ring = 0; ring < RINGS; ring++) {
			const struct fake_ring *f = &lab.rings[ring];

			assert_int_equal(lab.shown[ring], ring + 1);
			assert_int_equal(f->page->data_tail, f->head - 1024 * (ring + 1));
		}
	}
	close_lab(&lab);
}

static void drained_records_are_shown_once(void **state)
{
	struct lab lab;
	uint32_t shown = 0;

	open_lab(&lab, false);
	for (uint32_t i = 0; i < 200; i++) {
		for (uint32_t ring = 0; ring < RINGS; ring++)
			assert_true(put_map(&lab, ring, (uint16_t)(64 + i * 8)));
		drain(&lab);
		for (uint32_t ring = 0; ring < RINGS; ring++) {
			assert_int_equal(lab.shown[ring], shown);
			assert_int_equal(lab.rings[ring].page->data_tail, lab.rings[ring].head);
		}
		if (i % 3 != 1)
			continue;
		sideband_taps_show(lab.taps);
		shown = i + 1;
		for (uint32_t ring = 0; ring < RINGS; ring++)
			assert_int_equal(lab.shown[ring], shown);
	}
	close_lab(&lab);
}

/* Nobody asks, and more comes than there is room for. */
static void what_is_late_by_a_ring_is_shown_by_its_reader(void **state)
{
	struct lab lab;

	open_lab(&lab, false);
	for (uint32_t i = 0; i < 3 * RING / 1024; i++) {
		assert_true(put_map(&lab, 1, 1024));
		drain(&lab);
		assert_true(lab.rings[1].made - lab.shown[1] <= RING / 1024);
	}
	assert_true(lab.shown[1] >= 2 * RING / 1024);
	sideband_taps_show(lab.taps);
	assert_int_equal(lab.shown[1], lab.rings[1].made);
	close_lab(&lab);
}

static void *show_once(void *arg)
{
	sideband_taps_show(((struct lab *)arg)->taps);
	return NULL;
}

static void a_reader_does_not_wait_for_who_shows(void **state)
{
	sem_t held, go_on;
	struct lab lab;
	pthread_t thread;

	open_lab(&lab, false);
	sem_init(&held, 0, 0);
	sem_init(&go_on, 0, 0);
	lab.held = &held;
	lab.go_on = &go_on;
	assert_true(put_map(&lab, 0, 1024));
	assert_int_equal(pthread_create(&thread, NULL, show_once, &lab), 0);
	while (sem_wait(&held))
		;
	for (uint32_t i = 0; i < RING / 1024; i++) {
		assert_true(put_map(&lab, 0, 1024));
		drain(&lab);
		assert_int_equal(lab.rings[0].page->data_tail, lab.rings[0].head);
	}
	assert_int_equal(lab.shown[0], 0);
	sem_post(&go_on);
	assert_int_equal(pthread_join(thread, NULL), 0);
	sideband_taps_show(lab.taps);
	assert_int_equal(lab.shown[0], lab.rings[0].made);
	close_lab(&lab);
}

/* A mark that another recorder caused is not shown, but stays in the ring. */
static void marks_of_build_ids_are_cleared(void **state)
{
	const struct perf_event_header hdr = {
		PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, 128};
	struct perf_event_header left;
	struct lab lab;

	for (unsigned int own = 0; own < 2; own++) {
		open_lab(&lab, own);
		assert_true(put(&lab.rings[0], 0, hdr));
		sideband_taps_show(lab.taps);
		assert_int_equal(lab.shown[0], 1);
		assert_int_equal(lab.marked, own);
		memcpy(&left, lab.rings[0].memory + PAGE, sizeof(left));
		assert_memory_equal(&left, &hdr, sizeof(hdr));
		close_lab(&lab);
	}
}

/* A record that no task or map has is shown; bytes that are no record are passed over. */
static void what_is_no_record_is_passed_over(void **state)
{
	struct perf_event_header hdr = {PERF_RECORD_TEXT_POKE, 0, 12000};
	struct lab lab;

	open_lab(&lab, false);
	assert_true(put(&lab.rings[1], 1, hdr));
	assert_true(put_map(&lab, 1, 64));
	hdr.size = 16;
	assert_true(put(&lab.rings[1], 1, hdr));
	sideband_taps_show(lab.taps);
	assert_int_equal(lab.shown[1], 3);
	hdr.size = 0;
	copy_in(&lab.rings[1], &hdr, sizeof(hdr));
	lab.rings[1].page->data_head = lab.rings[1].head;
	sideband_taps_show(lab.taps);
	assert_true(put_map(&lab, 1, 64));
	sideband_taps_show(lab.taps);
	assert_int_equal(lab.shown[1], 4);
	close_lab(&lab);
}

static void *produce(void *arg)
{
	struct lab *lab = arg;

	while (lab->rings[0].made < RECORDS) {
		bool some = false;

		for (uint32_t ring = 0; ring < RINGS; ring++) {
			uint32_t made = lab->rings[ring].made;

			if (made < RECORDS)
				some |= put_map(lab, ring, (uint16_t)(64 + made % 32 * 8));
		}
		if (!some)
			sched_yield();
	}
	lab->end = true;
	return NULL;
}

static void *ask(void *arg)
{
	struct lab *lab = arg;

	while (!lab->end)
		sideband_taps_show(lab->taps);
	return NULL;
}

static void many_threads_show_each_record_once(void **state)
{
	static struct lab lab;
	pthread_t threads[3];

	open_lab(&lab, false);
	assert_int_equal(pthread_create(&threads[0], NULL, produce, &lab), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, ask, &lab), 0);
	assert_int_equal(pthread_create(&threads[2], NULL, ask, &lab), 0);
	while (!lab.end)
		drain(&lab);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	drain(&lab);
	sideband_taps_show(lab.taps);
	for (uint32_t ring = 0; ring < RINGS; ring++)
		assert_int_equal(lab.shown[ring], lab.rings[ring].made);
	close_lab(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_shown_before_they_are_drained),
		cmocka_unit_test(drained_records_are_shown_once),
		cmocka_unit_test(what_is_late_by_a_ring_is_shown_by_its_reader),
		cmocka_unit_test(a_reader_does_not_wait_for_who_shows),
		cmocka_unit_test(marks_of_build_ids_are_cleared),
		cmocka_unit_test(what_is_no_record_is_passed_over),
		cmocka_unit_test(many_threads_show_each_record_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
