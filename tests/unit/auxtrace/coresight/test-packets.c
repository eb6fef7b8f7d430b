// SPDX-License-Identifier: Apache-2.0
/* Packets of written traces and of the corpus; places of synchronisation; the first time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "auxtrace/coresight/coresight.h"
#include "etm-program.h"
#include "etm-setup.h"

static const struct aux_decoder_ops *const ops = &aux_coresight_decoder;

/* Reads all packets; they cover all bytes. Returns how many are bad. */
static size_t read_packets(const struct aux_setup *setup, const uint8_t *data, size_t len,
			   size_t *ret_nr)
{
	struct aux_stretch s = {.data = data, .len = len, .tid = UINT32_MAX};
	struct aux_decoder *d;
	struct aux_packet p;
	size_t sum = 0, bad = 0;
	int rc;

	*ret_nr = 0;
	assert_int_equal(ops->packets(setup, &s, &d), 0);
	while ((rc = ops->packet_next(d, &p)) > 0) {
		assert_true(p.len > 0 && *p.text);
		sum += p.len;
		bad += p.bad;
		++*ret_nr;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(sum, len);
	ops->end(d);
	return bad;
}

static void test_raw(void **state)
{
	static const struct {
		size_t len;
		const char *text;
	} want[] = {
		{12, "I_ASYNC"},    {3, "I_TRACE_INFO"}, {14, "I_ADDR_CTXT_L_64IS0"},
		{3, "I_TIMESTAMP"}, {1, "I_ATOM_F3"},	 {2, "I_OVERFLOW"},
	};
	struct aux_setup setup = etm_setup(true);
	struct etm_writer w = {.tid = 77};
	struct aux_stretch s = {.tid = UINT32_MAX};
	struct aux_decoder *d;
	struct aux_packet p;

	(void)state;
	etm_sync(&w, ETM_USER);
	etm_time(&w, ETM_STAMP);
	for (int i = 0; i < 3; i++)
		etm_atom(&w, i == 1);
	etm_overflow(&w);
	s.data = w.out.data;
	s.len = w.out.len;
	assert_int_equal(ops->packets(&setup, &s, &d), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(ops->packet_next(d, &p), 1);
		assert_int_equal(p.len, want[i].len);
		assert_false(p.bad);
		assert_memory_equal(p.text, want[i].text, strlen(want[i].text));
	}
	assert_int_equal(ops->packet_next(d, &p), 0);
	ops->end(d);
	buf_release(&w.out);
}

static void test_frames(void **state)
{
	static const uint8_t ids[] = {ETM_ID_0, ETM_ID_1};
	struct aux_setup setup = etm_setup(false);
	struct etm_run runs[2];
	const struct buf *traces[2];
	struct buf frames = {0};
	size_t nr, sum = 0;

	(void)state;
	setup.aux_flags = ETM_RAW;
	for (uint32_t i = 0; i < 2; i++) {
		struct etm_plan plan = {.seed = 3 + i, .tid = 77, .steps = 900 + 200 * i};

		etm_run(&plan, &runs[i]);
		traces[i] = &runs[i].writer.out;
		assert_int_equal(read_packets(&setup, traces[i]->data, traces[i]->len, &nr), 0);
		sum += nr;
	}
	setup.aux_flags = 0;
	etm_frames(&frames, traces, ids, 2, 7);
	assert_int_equal(read_packets(&setup, frames.data, frames.len, &nr), 0);
	/* There may be padding behind. */
	assert_true(nr == sum || nr == sum + 1);
	for (size_t i = 0; i < 2; i++)
		etm_run_release(&runs[i]);
	buf_release(&frames);
}

static void test_sync(void **state)
{
	static const uint8_t id[] = {ETM_ID_0};
	struct aux_setup raw = etm_setup(true), framed = etm_setup(false);
	struct buf b = {0}, frames = {0};
	const struct buf *traces[] = {&b};
	struct etm_writer w = {.tid = 77};
	size_t first;

	(void)state;
	/* The end of a packet, padding, two groups. */
	assert_int_equal(buf_append(&b, "\x12\x80\x00\x00\x00\x34", 6), 0);
	assert_int_equal(buf_zero(&b, 20), 0);
	etm_sync(&w, ETM_USER);
	etm_sync(&w, ETM_USER);
	assert_int_equal(buf_append(&b, w.out.data, w.out.len), 0);
	assert_int_equal(ops->sync(&raw, b.data, b.len, 0), 26);
	assert_int_equal(ops->sync(&raw, b.data, b.len, 26), 26);
	assert_int_equal(ops->sync(&raw, b.data, b.len, 27), 26 + w.out.len / 2);
	assert_int_equal(ops->sync(&raw, b.data, b.len, 27 + w.out.len / 2), b.len);
	assert_int_equal(ops->sync(&raw, b.data, 30, 0), 30);

	etm_frames(&frames, traces, id, 1, 1);
	first = ops->sync(&framed, frames.data, frames.len, 0);
	assert_true(first < frames.len && first % 16 == 0);
	/* The second A-sync is in the midst of a frame. */
	assert_int_equal(ops->sync(&framed, frames.data, frames.len, first + 1), frames.len);
	assert_int_equal(ops->sync(&framed, frames.data, 7, 0), 7);
	buf_release(&b);
	buf_release(&frames);
	buf_release(&w.out);
}

/* Four full syncs: what was before is cut, what comes begins anew. */
static void test_barrier(void **state)
{
	static const uint8_t id[] = {ETM_ID_0}, full_sync[] = {0xff, 0xff, 0xff, 0x7f};
	struct aux_setup setup = etm_setup(false);
	struct etm_plan plan = {.seed = 3, .tid = 77, .steps = 300};
	struct buf frames = {0};
	const struct buf *trace;
	struct etm_run run;
	size_t nr, of_one;

	(void)state;
	etm_run(&plan, &run);
	trace = &run.writer.out;
	etm_frames(&frames, &trace, id, 1, 1);
	read_packets(&setup, frames.data, frames.len, &of_one);
	for (int i = 0; i < 4; i++)
		assert_int_equal(buf_append(&frames, full_sync, sizeof(full_sync)), 0);
	etm_frames(&frames, &trace, id, 1, 1);
	assert_int_equal(read_packets(&setup, frames.data, frames.len, &nr), 0);
	/* Padding before a barrier is of its packet. */
	assert_int_equal(nr, 2 * of_one);
	buf_release(&frames);
	etm_run_release(&run);
}

static void test_setup(void **state)
{
	/* Version 0 does not count registers. */
	static const uint64_t v0[] = {0,	8ull << 32 | 1, 0,    0x4040404040404040,
				      3,	ETM_CONFIG,	0x16, ETM_IDR0,
				      ETM_IDR1, ETM_IDR2,	0,    0x8c};
	static const uint64_t v3[] = {1, 8ull << 32 | 1, 0,    0x3030303030303030, 0, 4,
				      0, 0x10,		 0x8d, 0x4114f250};
	static const uint64_t ete[] = {
		1,	    8ull << 32 | 1, 0,	      0x5050505050505050, 0,	    9,
		ETM_CONFIG, 0x10,	    ETM_IDR0, ETM_IDR1,		  ETM_IDR2, 0,
		0x8c,	    0x47705a13,	    1};
	static const struct {
		const uint64_t *words;
		size_t nr;
	} good[] = {{v0, sizeof(v0) / 8}, {v3, sizeof(v3) / 8}, {ete, sizeof(ete) / 8}};
	struct aux_setup setup = etm_setup(true);
	struct aux_stretch s = {.cpu = UINT32_MAX, .tid = UINT32_MAX};
	struct aux_decoder *d;
	uint64_t words[32];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		setup.priv = good[i].words;
		setup.nr_priv = good[i].nr;
		assert_int_equal(ops->packets(&setup, &s, &d), 0);
		ops->end(d);
		for (; setup.nr_priv; setup.nr_priv--) {
			/* Only the source of time stamps may be left out. */
			int want = setup.nr_priv == good[i].nr ? 0 : -ENOTSUP;

			assert_int_equal(ops->packets(&setup, &s, &d), want);
			if (!want)
				ops->end(d);
		}
	}
	memcpy(words, ete, sizeof(ete));
	words[0] = 2;
	setup.priv = words;
	setup.nr_priv = sizeof(ete) / 8;
	assert_int_equal(ops->packets(&setup, &s, &d), -ENOTSUP);
	setup.type = PD_AUXTRACE_ARM_SPE;
	assert_int_equal(ops->packets(&setup, &s, &d), -ENOTSUP);
}

/* The kernel's trace IDs replace the recorded ones. */
static void test_hw_ids(void **state)
{
	static const struct aux_hw_id hw_ids[] = {{0, 0x21}, {1, 0x23}};
	static const uint8_t id[] = {0x23};
	struct etm_plan plan = {.seed = 3, .tid = 77, .steps = 300};
	struct aux_setup setup = etm_setup(false);
	struct buf frames = {0};
	const struct buf *trace;
	struct etm_run run;
	size_t nr;

	(void)state;
	etm_run(&plan, &run);
	trace = &run.writer.out;
	etm_frames(&frames, &trace, id, 1, 1);
	assert_true(read_packets(&setup, frames.data, frames.len, &nr) > 0);
	setup.hw_ids = hw_ids;
	setup.nr_hw_ids = 2;
	assert_int_equal(read_packets(&setup, frames.data, frames.len, &nr), 0);
	buf_release(&frames);
	etm_run_release(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),   cmocka_unit_test(test_frames),
		cmocka_unit_test(test_sync),  cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_setup), cmocka_unit_test(test_hw_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
