// SPDX-License-Identifier: Apache-2.0
/*
 * Reader, chunks and tally: rings in plain memory, a sink that keeps all bytes. Whatever path a
 * record takes, it arrives whole, once, and in the order of its ring.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/abi.h"
#include "record/reader.h"
#include "record/tally.h"

#define PAGE  4096u
#define RING  (512u << 10)
#define RINGS 3u

/* --- a sink that keeps what it gets --------------------------------------------------------------
 */

struct keeper {
	struct sink sink;
	struct buf bytes;
	uint64_t fail_after; /* bytes; 0: never */
};

static int keeper_write(struct sink *s, const struct run *run, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	if (k->fail_after && k->bytes.len + run_bytes(run) > k->fail_after)
		return error_set(err, -ENOSPC, "full");
	assert_int_equal(buf_append(&k->bytes, run->a, run->a_len), 0);
	assert_int_equal(buf_append(&k->bytes, run->b, run->b_len), 0);
	return 0;
}

static const struct sink_ops keeper_ops = {.write = keeper_write};

/* --- rings as the kernel fills them --------------------------------------------------------------
 */

struct fake_ring {
	uint8_t *memory;
	struct perf_event_mmap_page *page;
	uint64_t head, made; /* made: records */
};

/* What follows the header of every record here. */
struct body {
	uint64_t id, ip;
	uint32_t ring, number;
	uint64_t time;
};

struct lab {
	struct fake_ring rings[RINGS];
	struct chunk_pool *pool;
	struct keeper keeper;
	struct sink *tally;
	struct reader *reader;
	uint64_t time, samples, made;
};

static void copy_in(struct fake_ring *f, const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		f->memory[PAGE + ((f->head + i) & (RING - 1))] = ((const uint8_t *)p)[i];
	f->head += len;
}

/* Puts a record of @size bytes (40 at least, a multiple of 8) if there is room. */
static bool put(struct lab *lab, unsigned int ring, uint32_t type, uint16_t size)
{
	struct fake_ring *f = &lab->rings[ring];
	const struct perf_event_header h = {.type = type, .size = size};
	const struct body b = {.ring = ring, .number = (uint32_t)f->made, .time = lab->time + 1};
	uint8_t rest[UINT16_MAX];

	if (f->head + size - f->page->data_tail > RING)
		return false;
	memset(rest, (int)f->made, sizeof(rest));
	copy_in(f, &h, sizeof(h));
	copy_in(f, &b, sizeof(b));
	copy_in(f, rest, size - sizeof(h) - sizeof(b));
	f->page->data_head = f->head;
	f->made++;
	lab->time++;
	lab->made++;
	lab->samples += type == PERF_RECORD_SAMPLE;
	return true;
}

static void lab_open(struct lab *lab, size_t chunks)
{
	const struct tally_opts opts = {.time_at = 32};
	struct error err = ERROR_INIT;

	*lab = (struct lab){.keeper.sink.ops = &keeper_ops};
	lab->pool = chunk_pool_new(chunks, CHUNK_MIN);
	lab->tally = tally_new(&lab->keeper.sink, &opts);
	assert_non_null(lab->pool);
	assert_int_equal(reader_new(lab->pool, lab->tally, true, &lab->reader, &err), 0);
	for (unsigned int i = 0; i < RINGS; i++) {
		struct fake_ring *f = &lab->rings[i];
		struct reader_source source = {
			.page_size = PAGE, .data_size = RING, .ring = i, .cpu = (int)i};

		f->memory = calloc(1, PAGE + RING);
		f->page = (void *)f->memory;
		/* Each ring begins elsewhere, so that they wrap at different times. */
		f->head = f->page->data_head = f->page->data_tail = i * 77776;
		source.memory = f->memory;
		assert_int_equal(reader_add(lab->reader, &source, &err), 0);
	}
}

static void lab_close(struct lab *lab)
{
	reader_free(lab->reader);
	sink_free(lab->tally);
	chunk_pool_free(lab->pool);
	for (unsigned int i = 0; i < RINGS; i++)
		free(lab->rings[i].memory);
	buf_release(&lab->keeper.bytes);
}

/* Everything made so far arrived: whole, once, in the order of its ring; rounds hold. */
static void check_arrived(const struct lab *lab)
{
	uint32_t next[RINGS] = {0};
	uint64_t first = 0, last = 0; /* times of samples */
	uint64_t newest = 0, newest_at_mark = 0, complete = 0, records = 0, samples = 0;

	for (size_t at = 0; at < lab->keeper.bytes.len;) {
		struct perf_event_header h;
		struct body b;

		memcpy(&h, lab->keeper.bytes.data + at, sizeof(h));
		assert_true(h.size >= 8 && at + h.size <= lab->keeper.bytes.len);
		if (h.type == PERF_RECORD_FINISHED_ROUND) {
			complete = newest_at_mark;
			newest_at_mark = newest;
			at += h.size;
			continue;
		}
		memcpy(&b, lab->keeper.bytes.data + at + sizeof(h), sizeof(b));
		assert_true(b.ring < RINGS);
		assert_int_equal(b.number, next[b.ring]++);
		for (size_t i = sizeof(h) + sizeof(b); i < h.size; i++)
			assert_int_equal(lab->keeper.bytes.data[at + i], (uint8_t)b.number);
		assert_true(b.time > complete);
		if (b.time > newest)
			newest = b.time;
		if (h.type == PERF_RECORD_SAMPLE) {
			first = first && first < b.time ? first : b.time;
			last = b.time > last ? b.time : last;
		}
		records++;
		samples += h.type == PERF_RECORD_SAMPLE;
		at += h.size;
	}
	assert_int_equal(records, lab->made);
	assert_int_equal(samples, lab->samples);
	assert_int_equal(tally_get(lab->tally)->samples, samples);
	assert_int_equal(tally_get(lab->tally)->odd, 0);
	assert_int_equal(tally_get(lab->tally)->first, first);
	assert_int_equal(tally_get(lab->tally)->last, last);
}

static uint16_t random_size(void)
{
	return (uint16_t)(40 + 8 * (rand() % (rand() % 16 ? 12 : 8000)));
}

static void test_all_arrives(void **state)
{
	for (size_t chunks = 2; chunks <= 8; chunks += 3) {
		struct error err = ERROR_INIT;
		struct lab lab;

		lab_open(&lab, chunks);
		srand((unsigned int)chunks);
		for (int pass = 0; pass < 60; pass++) {
			int records = rand() % 2 ? rand() % 20 : rand() % 4000;

			for (int i = 0; i < records; i++)
				put(&lab, (unsigned int)rand() % RINGS,
				    rand() % 9 ? PERF_RECORD_SAMPLE : PERF_RECORD_COMM,
				    random_size());
			assert_int_equal(reader_pass_all(lab.reader, NULL, &err), 0);
			for (unsigned int i = 0; i < RINGS; i++)
				assert_int_equal(lab.rings[i].page->data_tail, lab.rings[i].head);
			check_arrived(&lab);
		}
		assert_true(reader_stats(lab.reader)->bytes > 0);
		lab_close(&lab);
	}
}

static void test_no_mark_without_records(void **state)
{
	struct error err = ERROR_INIT;
	struct lab lab;

	lab_open(&lab, 4);
	assert_int_equal(reader_pass_all(lab.reader, NULL, &err), 0);
	assert_int_equal(lab.keeper.bytes.len, 0);
	put(&lab, 0, PERF_RECORD_SAMPLE, 40);
	for (int i = 0; i < 3; i++)
		assert_int_equal(reader_pass_all(lab.reader, NULL, &err), 0);
	assert_int_equal(lab.keeper.bytes.len, 40 + 8);
	lab_close(&lab);
}

/* A sink that fails ends the pass; no chunk is lost, nothing is freed twice. */
static void test_failing_sink(void **state)
{
	for (uint64_t room = 1; room < 2 * RING; room = room * 3 + 1000) {
		struct error err = ERROR_INIT;
		struct lab lab;

		lab_open(&lab, 3);
		lab.keeper.fail_after = room;
		for (unsigned int i = 0; i < RINGS; i++)
			while (put(&lab, i, PERF_RECORD_SAMPLE, 4096))
				;
		assert_int_equal(reader_pass_all(lab.reader, NULL, &err), -ENOSPC);
		assert_string_equal(err.text, "full");
		lab_close(&lab);
	}
}

static void test_pool_gives_each_chunk_once(void **state)
{
	struct chunk_pool *pool = chunk_pool_new(3, CHUNK_MIN);
	struct chunk *c[3];

	assert_int_equal(chunk_pool_bytes(pool), 3 * CHUNK_MIN);
	for (int i = 0; i < 3; i++) {
		c[i] = chunk_get(pool);
		assert_non_null(c[i]);
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(c[i], c[k]);
	}
	assert_null(chunk_get(pool));
	chunk_put(c[1]);
	assert_ptr_equal(chunk_get(pool), c[1]);
	for (int i = 0; i < 3; i++)
		chunk_put(c[i]);
	chunk_put(NULL);
	chunk_pool_free(pool);
	chunk_pool_free(NULL);
}

/* A chunk that a record does not fit into any more ends before it; the next one begins with it. */
static void test_cut_at_every_offset(void **state)
{
	struct chunk_pool *pool = chunk_pool_new(2, CHUNK_MIN);
	uint8_t *bytes = calloc(1, CHUNK_MIN + 4096);

	for (size_t over = 0; over <= 2048; over += 8) {
		struct perf_event_header first = {.size = 8}, rest = {.size = 2048};
		struct run run = {.a = bytes, .a_len = CHUNK_MIN + over, .ring = 5, .cpu = 7};
		struct chunk *c = chunk_get(pool), *next = chunk_get(pool);
		size_t at = 0, pad = over % 2048, cut = over ? 2048 - pad : 0;

		/* Small records up to where the large ones end exactly with the run. */
		for (; at < (pad ? pad : 0); at += 8)
			memcpy(bytes + at, &first, sizeof(first));
		for (; at < run.a_len; at += 2048)
			memcpy(bytes + at, &rest, sizeof(rest));
		assert_int_equal(chunk_fill(c, &run, 0), CHUNK_MIN);
		if (pad == 0)
			cut = 0;
		assert_int_equal(chunk_cut(c, next), cut);
		assert_int_equal(c->run.a_len + next->run.a_len, CHUNK_MIN);
		assert_memory_equal(c->run.a, bytes, c->run.a_len);
		assert_memory_equal(next->run.a, bytes + c->run.a_len, next->run.a_len);
		assert_int_equal(next->run.ring, 5);
		assert_int_equal(next->run.cpu, 7);
		assert_int_equal(chunk_fill(next, &run, CHUNK_MIN), over);
		chunk_put(c);
		chunk_put(next);
	}
	free(bytes);
	chunk_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrives),
		cmocka_unit_test(test_no_mark_without_records),
		cmocka_unit_test(test_failing_sink),
		cmocka_unit_test(test_pool_gives_each_chunk_once),
		cmocka_unit_test(test_cut_at_every_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
