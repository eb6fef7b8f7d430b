// SPDX-License-Identifier: Apache-2.0
/* Records of the test PMU, as its own header defines them: whole, missing, cut and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../vm/auxsim/auxsim.h"
#include "auxtrace/testpmu/testpmu.h"

#define RECORDS 50u
#define PAD	5u
#define STEP	(sizeof(struct axs_rec) + PAD)

static const struct aux_setup setup = {.type = AUX_SETUP_TESTPMU};

/* Two sessions in turn, with padding between the records. */
static void make(uint8_t *p)
{
	memset(p, 0, RECORDS * STEP);
	for (unsigned int i = 0; i < RECORDS; i++) {
		struct axs_rec r = {.magic = AXS_MAGIC,
				    .tid = 100 + i % 2,
				    .seq = 7 + i / 2,
				    .time = 1000 + i,
				    .cpu = 3,
				    .session = (unsigned short)(i % 2)};

		r.crc = axs_crc(&r);
		memcpy(p + i * STEP, &r, sizeof(r));
	}
}

static void count(const uint8_t *data, size_t len, size_t ret[AUX_EVENTS], uint64_t *ret_lost)
{
	const struct aux_stretch s = {.data = data, .len = len, .offset = 64};
	struct aux_decoder *d;
	struct aux_packet p;
	struct aux_event e;
	size_t bytes = 0;

	memset(ret, 0, AUX_EVENTS * sizeof(*ret));
	*ret_lost = 0;
	assert_int_equal(aux_testpmu_decoder.begin(&setup, &s, NULL, 0, &d), 0);
	while (aux_testpmu_decoder.next(d, &e) > 0) {
		ret[e.kind]++;
		assert_true(e.offset >= 64 && e.offset < 64 + len);
		if (e.kind == AUX_EVENT_LOST)
			*ret_lost += e.value;
		if (e.kind == AUX_EVENT_RECORD)
			assert_int_equal(e.value, 7 + (e.time - 1000) / 2);
	}
	aux_testpmu_decoder.end(d);
	assert_int_equal(aux_testpmu_decoder.packets(&setup, &s, &d), 0);
	while (aux_testpmu_decoder.packet_next(d, &p) > 0)
		bytes += p.len;
	assert_int_equal(bytes, len);
	aux_testpmu_decoder.end(d);
}

static void test_records(void **state)
{
	size_t nr[AUX_EVENTS];
	uint8_t p[RECORDS * STEP];
	uint64_t lost;

	(void)state;
	make(p);
	count(p, sizeof(p), nr, &lost);
	assert_int_equal(nr[AUX_EVENT_RECORD], RECORDS);
	assert_int_equal(nr[AUX_EVENT_ERROR] + nr[AUX_EVENT_LOST], 0);
}

static void test_missing_records(void **state)
{
	size_t nr[AUX_EVENTS];
	uint8_t p[RECORDS * STEP];
	uint64_t lost;

	(void)state;
	make(p);
	memset(p + 10 * STEP, 0, 5 * STEP);
	count(p, sizeof(p), nr, &lost);
	assert_int_equal(nr[AUX_EVENT_RECORD], RECORDS - 5);
	assert_int_equal(nr[AUX_EVENT_LOST], 2);
	assert_int_equal(lost, 5);
}

static void test_every_cut(void **state)
{
	size_t nr[AUX_EVENTS];
	uint8_t p[RECORDS * STEP];
	uint64_t lost;

	(void)state;
	make(p);
	for (size_t at = 0; at < sizeof(p); at++) {
		size_t next = (at + STEP - 1) / STEP * STEP;

		count(p, at, nr, &lost);
		assert_int_equal(nr[AUX_EVENT_RECORD], (at + PAD) / STEP);
		assert_true(nr[AUX_EVENT_ERROR] <= 1);
		assert_int_equal(aux_testpmu_decoder.sync(&setup, p, sizeof(p), at), next);
	}
}

static void test_flipped_bytes(void **state)
{
	size_t nr[AUX_EVENTS];
	uint8_t p[RECORDS * STEP];
	uint64_t lost;

	(void)state;
	make(p);
	for (unsigned int i = 0; i < 10000; i++) {
		size_t at = (size_t)rand() % sizeof(p), edge = at / STEP;
		bool pad = at % STEP >= sizeof(struct axs_rec);
		uint8_t old = p[at];

		p[at] ^= (uint8_t)(1 + rand() % 255);
		count(p, sizeof(p), nr, &lost);
		assert_int_equal(nr[AUX_EVENT_RECORD], RECORDS - !pad);
		assert_int_equal(nr[AUX_EVENT_ERROR], 1);
		/* The first and the last record of a session are not missed. */
		assert_int_equal(lost, !pad && edge >= 2 && edge < RECORDS - 2);
		p[at] = old;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_missing_records),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_flipped_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
