// SPDX-License-Identifier: Apache-2.0
/* LOST_SAMPLES records for every set of fields that a trailer may have, as the decoder reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "perfdata/record.h"
#include "record/loss/lost_samples_record.h"

#define ID    77u
#define TIME  123456789ull
#define COUNT (1ull << 40)

static const uint64_t fields[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static void test_all_trailers(void **state)
{
	(void)state;
	for (unsigned int set = 0; set < 1u << FIELDS; set++) {
		struct pd_evsel evsel = {.attr.flags = PD_ATTR_SAMPLE_ID_ALL};
		struct lost_samples_record rec;
		struct pd_record got;

		/* fields that only samples have change nothing */
		evsel.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
		for (unsigned int i = 0; i < FIELDS; i++)
			if (set & 1u << i)
				evsel.attr.sample_type |= fields[i];
		memset(&rec, 0xff, sizeof(rec));
		lost_samples_record_make(&rec, &evsel.attr, ID, 3, TIME, PD_MISC_LOST_OUTPUT,
					 COUNT);
		assert_int_equal(rec.header.type, PERF_RECORD_LOST_SAMPLES);
		assert_int_equal(rec.header.misc, PD_MISC_LOST_OUTPUT);
		assert_int_equal(rec.header.size, 16 + 8 * __builtin_popcount(set));
		assert_int_equal(pd_record_decode(&rec.header, &evsel, &got), 0);
		assert_int_equal(got.lost.lost, COUNT);
		if (set & 1u << 0)
			assert_int_equal(got.id.pid | got.id.tid, 0);
		if (set & 1u << 1)
			assert_int_equal(got.id.time, TIME);
		if (set & (1u << 2 | 1u << 5))
			assert_int_equal(got.id.id, ID);
		if (set & 1u << 4)
			assert_int_equal(got.id.cpu, 3);
	}
}

/* An unknown CPU is -1 in 32 bits, and no trailer is written where records have none. */
static void test_unknown(void **state)
{
	struct pd_evsel evsel = {.attr = {.sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_TIME,
					  .flags = PD_ATTR_SAMPLE_ID_ALL}};
	struct lost_samples_record rec;

	(void)state;
	lost_samples_record_make(&rec, &evsel.attr, ID, -1, 0, 0, 1);
	assert_int_equal(rec.words[1], 0);
	assert_int_equal(rec.words[2], UINT32_MAX);
	evsel.attr.flags = 0;
	lost_samples_record_make(&rec, &evsel.attr, ID, -1, 0, 0, 5);
	assert_int_equal(rec.header.size, 16);
	assert_int_equal(rec.words[0], 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_trailers),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
