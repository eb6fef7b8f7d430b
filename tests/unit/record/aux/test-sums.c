// SPDX-License-Identifier: Apache-2.0
/* Sums over AUX areas, and the record that each area ends with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "record/aux/sums.h"

static void test_sums(void **state)
{
	struct aux_area area[3] = {
		{.mode = AUX_FULL,
		 .bytes = 10,
		 .truncated = 1,
		 .partial = 2,
		 .collisions = 3,
		 .restarts = 4,
		 .unreported = 5,
		 .lost_records = 6},
		{.mode = AUX_FULL, .bytes = 1ull << 40, .truncated = 10},
		{.mode = AUX_FULL},
	};
	struct aux_areas areas = {.areas = area, .nr = 3};
	struct aux_sums sums;

	(void)state;
	memset(&sums, 0xff, sizeof(sums));
	aux_sums_get(&areas, &sums);
	assert_int_equal(sums.areas, 3);
	assert_int_equal(sums.mode, AUX_FULL);
	assert_int_equal(sums.drained, (1ull << 40) + 10);
	assert_int_equal(sums.truncated, 11);
	assert_int_equal(sums.partial, 2);
	assert_int_equal(sums.collisions, 3);
	assert_int_equal(sums.restarts, 4);
	assert_int_equal(sums.unreported, 5);
	assert_int_equal(sums.lost_records, 6);
	areas = (struct aux_areas){0};
	aux_sums_get(&areas, &sums);
	assert_int_equal(sums.areas + sums.drained, 0);
	assert_int_equal(sums.mode, AUX_NONE);
}

static void test_record(void **state)
{
	static const struct {
		enum aux_mode mode;
		enum pd_aux_mode written;
	} modes[] = {{AUX_FULL, PD_AUX_FULL},
		     {AUX_SNAPSHOT, PD_AUX_SNAPSHOT},
		     {AUX_SAMPLE, PD_AUX_SAMPLE}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct aux_area area = {.mode = modes[i].mode,
					      .index = 7,
					      .cpu = -1,
					      .task = 4711,
					      .bytes = 1ull << 33,
					      .truncated = 2,
					      .restarts = 3,
					      .unreported = 5,
					      .lost_records = 6,
					      .ring.size = 4096};
		struct pd_snapshot_record record;
		struct pd_snapshot_log log;

		aux_sums_encode(&area, &record);
		assert_int_equal(pd_snapshot_decode(&record.header, &log), 0);
		assert_int_equal(log.kind, PD_SNAPSHOT_AUX_RING);
		assert_int_equal(log.number, 0);
		assert_int_equal(log.aux.idx, 7);
		assert_int_equal(log.aux.cpu, UINT32_MAX);
		assert_int_equal(log.aux.tid, 4711);
		assert_int_equal(log.aux.mode, modes[i].written);
		assert_int_equal(log.aux.written, 1ull << 33);
		assert_int_equal(log.aux.area, 4096);
		assert_int_equal(log.aux.truncated, 2);
		assert_int_equal(log.aux.restarts, 3);
		assert_int_equal(log.aux.unreported, 5);
		assert_int_equal(log.aux.lost_records, 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
