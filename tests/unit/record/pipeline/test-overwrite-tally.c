// SPDX-License-Identifier: Apache-2.0
/*
 * The stage that counts samples of overwrite rings by event: with records of every kind, split at
 * any word, of rings that are overwritten and of those that are not. All bytes pass unchanged.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "record/pipeline/overwrite_tally.h"

#define EVENTS 3

struct keeper {
	struct sink sink;
	struct buf got;
	unsigned int flushes;
	int fail; /* errno of the next calls */
};

static int keep(struct sink *s, const struct run *run, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	if (k->fail)
		return error_set(err, k->fail, "as the test wants it");
	assert_int_equal(buf_append(&k->got, run->a, run->a_len), 0);
	assert_int_equal(buf_append(&k->got, run->b, run->b_len), 0);
	return 0;
}

static int flush(struct sink *s, struct error *err)
{
	((struct keeper *)s)->flushes++;
	return ((struct keeper *)s)->fail;
}

static const struct sink_ops keeper_ops = {.write = keep, .flush = flush};

/* Appends a record of @type and @size bytes, whose first word is @id. */
static void add(struct buf *b, uint32_t type, uint16_t size, uint64_t id)
{
	const struct perf_event_header hdr = {.type = type, .size = size};

	assert_int_equal(buf_append(b, &hdr, sizeof(hdr)), 0);
	if (size > sizeof(hdr))
		assert_int_equal(buf_append(b, &id, sizeof(id)), 0);
	if (size > 16)
		assert_int_equal(buf_zero(b, size - 16u), 0);
}

static void test_counts(void **state)
{
	struct open_fd fds[] = {
		{.id = 10, .event = 2}, {.id = 11, .event = 0}, {.id = 12, .event = 2}};
	struct open_ring rings[] = {{.kind = RING_SAMPLES}, {.kind = RING_OVERWRITTEN}};
	const struct opened opened = {.fds = fds, .nr_fds = 3, .rings = rings, .nr_rings = 2};
	struct keeper next = {.sink.ops = &keeper_ops};
	struct sink *s = overwrite_tally_new(&opened, &next.sink);
	uint64_t sums[EVENTS] = {0}, expected[EVENTS] = {0};
	struct buf records = {0};

	(void)state;
	assert_non_null(s);
	add(&records, PERF_RECORD_SAMPLE, 40, 10);
	add(&records, PERF_RECORD_COMM, 24, 10);
	add(&records, PERF_RECORD_SAMPLE, 16, 10);
	add(&records, PERF_RECORD_SAMPLE, 24, 11);
	add(&records, PERF_RECORD_SAMPLE, 24, 4711); /* nobody's */
	add(&records, PERF_RECORD_SAMPLE, 8, 0);     /* without an id */
	add(&records, PERF_RECORD_SAMPLE, 64, 12);
	for (size_t at = 0; at <= records.len; at += 8) {
		for (unsigned int ring = 0; ring < 3; ring++) {
			const struct run run = {.a = records.data,
						.a_len = at,
						.b = records.data + at,
						.b_len = records.len - at,
						.ring = ring < 2 ? ring : RUN_NO_RING};

			next.got.len = 0;
			assert_int_equal(sink_write(s, &run, NULL), 0);
			assert_int_equal(next.got.len, records.len);
			assert_memory_equal(next.got.data, records.data, records.len);
			expected[0] += ring == 1;
			expected[2] += ring == 1 ? 3 : 0;
			memset(sums, 0, sizeof(sums));
			overwrite_tally_add(s, sums);
			assert_memory_equal(sums, expected, sizeof(sums));
		}
	}
	/* adds to what is there already */
	overwrite_tally_add(s, sums);
	assert_int_equal(sums[2], 2 * expected[2]);
	assert_int_equal(sink_flush(s, NULL), 0);
	next.fail = -ENOSPC;
	assert_int_equal(sink_flush(s, NULL), -ENOSPC);
	assert_int_equal(next.flushes, 2);
	sink_free(s);
	buf_release(&records);
	buf_release(&next.got);
}

/* A run that ends in the middle of a record, or has none: what is whole counts. */
static void test_malformed(void **state)
{
	struct open_fd fd = {.id = 10};
	struct open_ring ring = {.kind = RING_OVERWRITTEN};
	const struct opened opened = {.fds = &fd, .nr_fds = 1, .rings = &ring, .nr_rings = 1};
	struct keeper next = {.sink.ops = &keeper_ops};
	struct sink *s = overwrite_tally_new(&opened, &next.sink);
	struct buf b = {0};
	uint64_t sum = 0;

	(void)state;
	add(&b, PERF_RECORD_SAMPLE, 24, 10);
	add(&b, PERF_RECORD_SAMPLE, 24, 10);
	for (size_t len = 0; len < 48; len++) {
		uint8_t *exact = malloc(len + !len);
		const struct run run = {.a = exact, .a_len = len};

		memcpy(exact, b.data, len);
		assert_int_equal(sink_write(s, &run, NULL), 0);
		free(exact);
	}
	overwrite_tally_add(s, &sum);
	assert_int_equal(sum, 24);
	memset(b.data, 0, 48);
	assert_int_equal(sink_write(s, &(struct run){.a = b.data, .a_len = 48}, NULL), 0);
	overwrite_tally_add(s, &sum);
	assert_int_equal(sum, 48);
	sink_free(s);
	buf_release(&b);
	buf_release(&next.got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
