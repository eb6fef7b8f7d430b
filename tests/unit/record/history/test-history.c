// SPDX-License-Identifier: Apache-2.0
/*
 * The history of samples: random operations against the model of tests/fuzz/fuzz-history.c, which
 * checks the invariants after each; runs and chunks that end at every offset; writers beside a
 * dump.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "record/history/history.h"
#include "record/history/pack.h"

#define RINGS	4
#define TIME_AT 32u
#define SCRIPTS 120
#define STEPS	1500 /* bytes of a script, some five for each operation */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

/* It aborts where the model and the history are not of one mind. */
static void test_random_operations(void **state)
{
	uint8_t script[STEPS];

	for (uint64_t round = 1; round <= SCRIPTS; round++) {
		uint64_t seed = round * 7919;
		size_t len = 20 + pick(&seed, STEPS - 20);

		for (size_t i = 0; i < len; i++)
			script[i] = (uint8_t)pick(&seed, 256);
		LLVMFuzzerTestOneInput(script, len);
	}
}

/* --- offsets -------------------------------------------------------------------------------------
 */

/* All bytes after the number are that number's. */
static void make_sample(uint8_t *out, size_t size, uint64_t number, uint64_t time)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};

	memset(out, (int)(number & 0xff), size);
	memcpy(out, &hdr, sizeof(hdr));
	memcpy(out + TIME_AT, &time, sizeof(time));
	memcpy(out + TIME_AT + 8, &number, sizeof(number));
}

static int count_other(const struct perf_event_header *hdr, void *arg)
{
	assert_int_equal(hdr->type, PERF_RECORD_COMM);
	assert_int_equal((uintptr_t)hdr % 8, 0);
	for (size_t i = sizeof(*hdr); i < hdr->size; i++)
		assert_int_equal(((const uint8_t *)hdr)[i], 0xcc);
	++*(size_t *)arg;
	return 0;
}

/* All samples that were written, @nr, are dumped, in order, as they were. */
static void check_dump(struct history *h, uint64_t nr)
{
	struct history_chunk chunk;
	struct perf_event_header hdr;
	uint64_t number, last = 0;

	history_seal(h, 0);
	history_announce(h);
	assert_int_equal(history_snapshot_begin(h, &(struct history_bounds){0}), 0);
	while (history_snapshot_next(h, &chunk)) {
		for (size_t at = 0; at < chunk.len; at += hdr.size) {
			uint8_t whole[UINT16_MAX];

			memcpy(&hdr, chunk.data + at, sizeof(hdr));
			memcpy(&number, chunk.data + at + TIME_AT + 8, sizeof(number));
			assert_int_equal(number, last + 1);
			last = number;
			make_sample(whole, hdr.size, number, number);
			assert_memory_equal(whole, chunk.data + at, hdr.size);
		}
	}
	history_snapshot_end(h);
	assert_int_equal(last, nr);
}

static uint8_t *copy_of(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

/* Wherever a ring wraps. */
static void test_every_cut_of_a_run(void **state)
{
	static const size_t sizes[] = {48, 0, 56, 4096, 0, 0, 48, 64, 0};
	_Alignas(8) uint8_t bytes[4096 * 2];
	size_t len = 0, others = 0, cuts = 0;
	uint64_t nr = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct perf_event_header hdr = {.type = PERF_RECORD_COMM, .size = 40};

		if (sizes[i]) {
			nr++;
			make_sample(bytes + len, sizes[i], nr, nr);
			len += sizes[i];
			continue;
		}
		memset(bytes + len, 0xcc, hdr.size);
		memcpy(bytes + len, &hdr, sizeof(hdr));
		len += hdr.size;
	}
	for (size_t cut = 0; cut <= len; cut += 8) {
		struct history *h = history_new(1 << 20, 1, TIME_AT);
		uint8_t *a = copy_of(bytes, cut), *b = copy_of(bytes + cut, len - cut);
		const struct run run = {.a = a, .a_len = cut, .b = b, .b_len = len - cut};

		assert_non_null(h);
		assert_int_equal(history_write(h, &run, count_other, &others), 0);
		assert_int_equal(others, ++cuts * 4);
		check_dump(h, nr);
		history_free(h);
		free(a);
		free(b);
	}
}

/* Chunks are filled up to every offset before one comes that no longer fits. */
static void test_every_end_of_a_chunk(void **state)
{
	uint8_t *bytes = malloc(4 * HISTORY_RECORD_MAX);

	assert_non_null(bytes);
	for (size_t more = 0; more <= 1200; more += 8) {
		const size_t sizes[] = {48 + more, 65000, 65000, 400, 400, 65000};
		struct history *h = history_new(1 << 20, 1, TIME_AT);
		struct run run = {.a = bytes};
		uint64_t nr = 0;

		assert_non_null(h);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			nr++;
			make_sample(bytes + run.a_len, sizes[i], nr, nr);
			run.a_len += sizes[i];
		}
		assert_int_equal(history_write(h, &run, NULL, NULL), 0);
		check_dump(h, nr);
		history_free(h);
	}
	free(bytes);
}

/* What @forget says goes, from open chunks, too; an odd end of a run is left out. */
static void test_forgets(void **state)
{
	struct history *h = history_new(1 << 20, 1, TIME_AT);
	_Alignas(8) uint8_t bytes[3 * 64 + 8] = {0};
	struct history_figures f;
	struct run run = {.a = bytes, .a_len = sizeof(bytes)};

	assert_non_null(h);
	assert_true(history_oldest(h) == UINT64_MAX);
	for (uint64_t i = 0; i < 3; i++)
		make_sample(bytes + i * 64, 64, i + 1, 10 * (i + 1));
	assert_int_equal(history_write(h, &run, NULL, NULL), 0);
	assert_true(history_oldest(h) == 10);
	history_forget(h, 30);
	history_figures(h, &f);
	assert_int_equal(f.samples, 3);
	assert_int_equal(f.last, 30);
	history_forget(h, 31);
	history_figures(h, &f);
	assert_int_equal(f.samples, 0);
	assert_int_equal(f.evicted, 3);
	assert_true(history_oldest(h) == UINT64_MAX);
	history_free(h);
}

/* --- threads -------------------------------------------------------------------------------------
 */

#define THREAD_RUNS 400
#define RUN_SAMPLES 500

struct writer {
	struct history *h;
	size_t ring;
	pthread_t thread;
	struct {
		struct perf_event_header header;
		uint64_t first, nr; /* numbers of the samples, which are otherwise known */
	} packed;
};

static size_t pack(const uint8_t *samples, size_t len, const uint8_t **ret, void *arg)
{
	struct writer *w = arg;

	memcpy(&w->packed.first, samples + TIME_AT + 8, sizeof(w->packed.first));
	w->packed.nr = len / 64;
	*ret = (const uint8_t *)&w->packed;
	return sizeof(w->packed);
}

static void *write_samples(void *arg)
{
	struct writer *w = arg;
	uint8_t *bytes = malloc(RUN_SAMPLES * 64);
	uint64_t number = 0;

	for (size_t i = 0; bytes && i < THREAD_RUNS; i++) {
		const struct run run = {
			.a = bytes, .a_len = RUN_SAMPLES * 64, .ring = (unsigned int)w->ring};

		for (size_t k = 0; k < RUN_SAMPLES; k++, number++)
			make_sample(bytes + k * 64, 64, number + 1, number + 1);
		if (history_write(w->h, &run, NULL, NULL))
			break;
		history_seal(w->h, w->ring);
		if (i % 2)
			history_pack(w->h, w->ring, pack, w);
	}
	free(bytes);
	return NULL;
}

/* The numbers of a chunk follow on those of the chunk before, but for what was evicted. */
static uint64_t take_chunk(const struct history_chunk *chunk, uint64_t *newest)
{
	uint64_t first, nr = chunk->bytes / 64, number;

	if (chunk->packed)
		memcpy(&nr, chunk->data + 16, sizeof(nr));
	memcpy(&first, chunk->data + (chunk->packed ? 8 : TIME_AT + 8), sizeof(first));
	assert_true(first > *newest);
	assert_int_equal(nr, chunk->samples);
	for (uint64_t i = 0; !chunk->packed && i < nr; i++) {
		memcpy(&number, chunk->data + i * 64 + TIME_AT + 8, sizeof(number));
		assert_int_equal(number, first + i);
	}
	*newest = first + nr - 1;
	return nr;
}

/* Dumps while others write, pack, and wait for it; every sample is in one dump or has passed. */
static void test_threads(void **state)
{
	struct history *h = history_new(RINGS * HISTORY_RECORD_MAX, RINGS, TIME_AT);
	struct writer writers[RINGS];
	struct history_figures f = {0};
	struct history_chunk chunk;
	uint64_t dumped = 0, newest[RINGS] = {0};

	assert_non_null(h);
	for (size_t i = 0; i < RINGS; i++) {
		writers[i] = (struct writer){.h = h, .ring = i};
		assert_int_equal(
			pthread_create(&writers[i].thread, NULL, write_samples, &writers[i]), 0);
	}
	while (f.taken < RINGS * THREAD_RUNS * RUN_SAMPLES) {
		history_announce(h);
		assert_int_equal(history_snapshot_begin(h, &(struct history_bounds){0}), 0);
		while (history_snapshot_next(h, &chunk))
			dumped += take_chunk(&chunk, &newest[chunk.ring]);
		history_snapshot_end(h);
		history_figures(h, &f);
		assert_int_equal(f.taken, f.written + f.evicted + f.held);
		assert_int_equal(f.written, dumped);
	}
	for (size_t i = 0; i < RINGS; i++)
		pthread_join(writers[i].thread, NULL);
	history_free(h);
}

/* --- packing -------------------------------------------------------------------------------------
 */

#define LARGE_SAMPLES 40000 /* of 64 bytes in a run: two and a half times the budget */

struct full {
	struct history *h;
	struct packer *packer;
};

static void pack_full(size_t ring, void *arg)
{
	struct full *full = arg;

	while (history_pack(full->h, ring, packer_pack, full->packer))
		;
}

static uint64_t held_of_a_large_run(struct packer *packer)
{
	struct history *h = history_new(1 << 20, 2, TIME_AT);
	struct full full = {h, packer};
	struct run run = {.a_len = LARGE_SAMPLES * 64};
	uint8_t *bytes = malloc(run.a_len);
	struct history_figures f;

	assert_true(h && bytes);
	run.a = bytes;
	if (packer)
		history_on_full(h, pack_full, &full);
	for (uint64_t n = 0; n < LARGE_SAMPLES; n++)
		make_sample(bytes + n * 64, 64, n + 1, n + 1);
	for (; run.ring < 2; run.ring++)
		assert_int_equal(history_write(h, &run, NULL, NULL), 0);
	history_figures(h, &f);
	assert_int_equal(f.taken, 2 * LARGE_SAMPLES);
	assert_int_equal(f.taken, f.held + f.evicted);
	assert_int_equal(f.held, f.samples);
	assert_true(f.memory <= 1 << 20);
	history_free(h);
	free(bytes);
	return f.held;
}

/* It is packed before it would go to make room for its own rest. */
static void test_a_run_beyond_the_budget(void **state)
{
	struct packer *packer = packer_new(1);

	assert_non_null(packer);
	assert_uint_in_range(held_of_a_large_run(NULL), 1, LARGE_SAMPLES / 2);
	assert_int_equal(held_of_a_large_run(packer), 2 * LARGE_SAMPLES);
	packer_free(packer);
}

/* --- bounds --------------------------------------------------------------------------------------
 */

#define BOUND_RINGS   3
#define BOUND_SAMPLES 3000 /* of a ring, 64 bytes each */

/* Sample n of ring r is of time 10 n + r, and seal() is called within chunks. */
static struct history *filled(struct packer *packer)
{
	struct history *h = history_new(64 << 20, BOUND_RINGS, TIME_AT);
	struct history_figures f;
	uint8_t sample[64];

	assert_non_null(h);
	for (uint64_t n = 1; n <= BOUND_SAMPLES; n++) {
		for (unsigned int ring = 0; ring < BOUND_RINGS; ring++) {
			const struct run run = {.a = sample, .a_len = sizeof(sample), .ring = ring};

			make_sample(sample, sizeof(sample), n, 10 * n + ring);
			assert_int_equal(history_write(h, &run, NULL, NULL), 0);
			if (n % 700 == 0 || n == BOUND_SAMPLES)
				history_seal(h, ring);
			while (packer && history_pack(h, ring, packer_pack, packer))
				;
		}
	}
	history_figures(h, &f);
	assert_true(f.memory < f.bytes / 2 || !packer);
	return h;
}

typedef bool dumped_set[BOUND_RINGS][BOUND_SAMPLES + 1];

/* Adds what the dump brings to @set, whose members it may bring only if @again. */
static uint64_t dump_into(struct history *h, const struct history_bounds *bounds, dumped_set set)
{
	static uint8_t unpacked[HISTORY_CHUNK];
	struct history_chunk chunk;
	uint64_t number, time, samples = 0;

	history_announce(h);
	assert_int_equal(history_snapshot_begin(h, bounds), 0);
	while (history_snapshot_next(h, &chunk)) {
		if (chunk.packed)
			assert_int_equal(
				packer_unpack(chunk.data, chunk.len, unpacked, chunk.bytes), 0);
		for (size_t at = 0; at < chunk.bytes; at += 64, samples++) {
			const uint8_t *sample = (chunk.packed ? unpacked : chunk.data) + at;

			memcpy(&time, sample + TIME_AT, sizeof(time));
			memcpy(&number, sample + TIME_AT + 8, sizeof(number));
			assert_uint_in_range(time, chunk.first, chunk.last);
			assert_true(time >= bounds->since);
			assert_true(bounds->again || !set[chunk.ring][number]);
			set[chunk.ring][number] = true;
		}
	}
	return samples;
}

/* A dump back to a time has all that is younger and that none before it had; a failed one counts
 * for nothing. */
static void bounds_of_time(struct packer *packer)
{
	static dumped_set set, lost;
	struct history *h = filled(packer);
	struct history_figures f;
	uint64_t seed = 5;

	memset(set, 0, sizeof(set));
	for (int i = 0; i < 60; i++) {
		struct history_bounds bounds = {
			.since = 1 + pick(&seed, 11 * BOUND_SAMPLES),
			.again = i % 3 == 2,
			.unpack = packer_unpack,
		};
		uint64_t written = 0;

		memcpy(lost, set, sizeof(set));
		if (i % 4 == 3) {
			dump_into(h, &bounds, lost);
			history_snapshot_cancel(h);
		}
		dump_into(h, &bounds, set);
		history_snapshot_end(h);
		for (uint64_t ring = 0; ring < BOUND_RINGS; ring++) {
			for (uint64_t n = 1; n <= BOUND_SAMPLES; n++) {
				assert_true(set[ring][n] || 10 * n + ring < bounds.since);
				written += set[ring][n];
			}
		}
		history_figures(h, &f);
		assert_int_equal(f.written, written);
		assert_int_equal(f.held, BOUND_RINGS * BOUND_SAMPLES - written);
		assert_int_equal(history_left_out(h), f.held > 0);
	}
	history_free(h);
}

static void test_bounds_of_time(void **state)
{
	struct packer *packer = packer_new(1);

	assert_non_null(packer);
	bounds_of_time(NULL);
	bounds_of_time(packer);
	packer_free(packer);
}

static struct history *watched;

static void *ask_for_figures(void *unused)
{
	struct history_figures f;

	history_figures(watched, &f);
	return NULL;
}

/* A writer goes on meanwhile: another thread gets the lock, and we wait for it here. */
static int unpack_beside_others(const uint8_t *data, size_t len, uint8_t *samples, size_t bytes)
{
	struct timespec until;
	pthread_t other;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	assert_int_equal(pthread_create(&other, NULL, ask_for_figures, NULL), 0);
	assert_int_equal(pthread_timedjoin_np(other, NULL, &until), 0);
	return packer_unpack(data, len, samples, bytes);
}

static void test_unpacking_holds_up_nobody(void **state)
{
	static dumped_set set;
	const struct history_bounds bounds = {
		.since = 10 * 350, /* within a chunk */
		.unpack = unpack_beside_others,
	};
	struct packer *packer = packer_new(1);

	assert_non_null(packer);
	watched = filled(packer);
	memset(set, 0, sizeof(set));
	assert_int_equal(dump_into(watched, &bounds, set), BOUND_RINGS * (BOUND_SAMPLES - 349));
	history_snapshot_end(watched);
	history_free(watched);
	packer_free(packer);
}

/* So much, within a thousandth, as they come evenly here; of what is left the newest. */
static void test_bounds_of_size(void **state)
{
	static dumped_set set;
	const uint64_t all = BOUND_RINGS * BOUND_SAMPLES;
	struct history *h = filled(NULL);

	for (uint64_t samples = 30; samples < 2 * all; samples = samples * 3 / 2) {
		struct history_bounds bounds = {.bytes = samples * 64, .again = true};
		uint64_t expected = samples < all ? samples : all, dumped;

		memset(set, 0, sizeof(set));
		dumped = dump_into(h, &bounds, set);
		history_snapshot_end(h);
		assert_uint_in_range(dumped, expected - expected / 1000 - 3,
				     expected + expected / 1000 + 3);
		for (uint64_t ring = 0; ring < BOUND_RINGS; ring++)
			for (uint64_t n = 1; n < BOUND_SAMPLES; n++)
				assert_true(set[ring][n + 1] || !set[ring][n]);
	}
	history_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_every_cut_of_a_run),
		cmocka_unit_test(test_every_end_of_a_chunk),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_a_run_beyond_the_budget),
		cmocka_unit_test(test_bounds_of_time),
		cmocka_unit_test(test_unpacking_holds_up_nobody),
		cmocka_unit_test(test_bounds_of_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
