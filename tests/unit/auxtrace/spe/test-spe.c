// SPDX-License-Identifier: Apache-2.0
/* Arm SPE: what each packet says, and records of a writer, whole, cut and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auxtrace/spe/spe.h"
#include "spe-writer.h"

#define RECORDS	   400u
#define RECORD_MAX 128u /* bytes, of the writer */

static const struct pd_time_conv conv = {
	.time_shift = 1, .time_mult = 3, .time_zero = 1000, .cap_user_time_zero = true};
static const struct aux_setup setup = {.time_conv = &conv, .user = true, .kernel = true};

struct trace {
	uint8_t *data;
	size_t len;
	struct spe_truth truth[RECORDS];
};

static void make(struct trace *t)
{
	struct spe_writer w = {.p = calloc(RECORDS, RECORD_MAX)};

	assert_non_null(w.p);
	for (unsigned int i = 0; i < RECORDS; i++) {
		t->truth[i] = spe_put_record(&w, i % 16);
		assert_true(w.len - t->truth[i].begin <= RECORD_MAX - 8);
		if (rand() % 4 == 0)
			w.len += (size_t)rand() % 8;
	}
	t->data = w.p;
	t->len = w.len;
}

static struct aux_decoder *begin(const uint8_t *data, size_t len, uint64_t offset)
{
	const struct aux_stretch s = {
		.data = data, .len = len, .offset = offset, .cpu = 2, .tid = UINT32_MAX};
	struct aux_decoder *d;

	assert_int_equal(aux_spe_decoder.begin(&setup, &s, NULL, AUX_WANT_BRANCHES, &d), 0);
	return d;
}

static uint64_t time_of(const struct spe_truth *t)
{
	return 1000 + t->stamp * 3 / 2;
}

static bool is_true(const struct aux_event *e, const struct spe_truth *t)
{
	return e->kind == AUX_EVENT_SAMPLE && e->offset == t->last && e->ip == t->ip &&
	       e->to == t->to && e->sample.events == t->events && e->sample.virt == t->virt &&
	       e->sample.phys == t->phys && e->sample.latency == t->total &&
	       e->sample.issue_latency == t->issue && e->sample.source == t->source &&
	       e->sample.translation_latency == t->translation && e->sample.context == t->context &&
	       e->sample.op_class == t->class && e->sample.op_type == t->type;
}

static void test_packet_text(void **state)
{
	static const struct {
		const char *bytes, *text;
		size_t len;
	} cases[] = {
		{"\x49\x00", "LD GP-REG", 2},
		{"\x49\x05", "ST SIMD-FP", 2},
		{"\x49\x0e", "LD AT EXCL", 2},
		{"\x49\x98", "LD SVE 64 SG", 2},
		{"\x49\xf1", "ST 0xf1", 2},
		{"\x4a\x01", "B COND", 2},
		{"\x4a\x12", "B IND RET", 2},
		{"\x48\x01", "OTHER COND", 2},
		{"\x4b\x07", "OP 3 0x7", 2},
		{"\xb2\xc0\x3b\x29\x0f\x00\x00\xff\xff", "VA 0xffff00000f293bc0", 9},
		{"\xb3\xc0\xeb\x24\xfb\x00\x00\x00\x80", "PA 0xfb24ebc0 ns=1", 9},
		{"\x9a\x00\x00", "LAT 0 XLAT", 3},
		{"\x98\x12\x01", "LAT 274 TOT", 3},
		{"\x9b\x02\x00", "LAT 2 COUNTER3", 3},
		{"\x42\x16", "EV RETIRED L1D-ACCESS TLB-ACCESS", 2},
		{"\x62\x01\x10\x04\x00", "EV EXCEPTION-GEN BIT12 EMPTY-PRED", 5},
		{"\xb0\x00\xc4\x15\x08\x00\x00\xff\xe0", "PC 0xffff00000815c400 el3 ns=1", 9},
		{"\xb1\x00\x10\x40\x00\x00\x00\x00\x00", "TGT 0x401000 el0 ns=0", 9},
		{"\x71\x36\x6c\x21\x2c\x09\x00\x00\x00", "TS 39395093558", 9},
		{"\x64\x10\x00\x00\x00", "CONTEXT 0x10 el1", 5},
		{"\x53\x09\x01", "DATA-SOURCE 265", 3},
		{"\x21\xb4\x01\x00\x00\x00\x00\x00\x00\x00", "ADDR 12 0x1 el0 ns=0", 10},
		{"\x20\x98\x05\x00", "LAT 5 TOT", 4},
		{"\x22\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "ALIGN 8", 8},
		{"\x00\x00\x00\x01", "PAD", 3},
		{"\x01", "END", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct aux_stretch s = {.data = (const uint8_t *)cases[i].bytes,
					      .len = cases[i].len};
		struct aux_packet p;
		struct aux_decoder *d;

		assert_int_equal(aux_spe_decoder.packets(&setup, &s, &d), 0);
		assert_int_equal(aux_spe_decoder.packet_next(d, &p), 1);
		assert_string_equal(p.text, cases[i].text);
		assert_int_equal(p.len, cases[i].len);
		assert_false(p.bad);
		assert_int_equal(aux_spe_decoder.packet_next(d, &p), 0);
		aux_spe_decoder.end(d);
	}
}

static void test_records(void **state)
{
	struct trace t;
	struct aux_decoder *d;
	struct aux_event e;
	uint64_t time = 0;

	(void)state;
	make(&t);
	d = begin(t.data, t.len, 0);
	for (unsigned int i = 0; i < RECORDS; i++) {
		const struct spe_truth *truth = &t.truth[i];
		bool jumps = truth->class == SPE_BRANCH && !(truth->events & SPE_EVENT_NOT_TAKEN);

		assert_int_equal(aux_spe_decoder.next(d, &e), 1);
		assert_true(is_true(&e, truth));
		time = i % 16 ? time_of(truth) : time;
		assert_int_equal(e.time, time);
		assert_int_equal(e.task.tid, truth->context);
		assert_int_equal(e.task.cpumode,
				 truth->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
		assert_int_equal(!!(e.flags & AUX_BRANCH), truth->class == SPE_BRANCH);
		if (jumps) {
			assert_int_equal(aux_spe_decoder.next(d, &e), 1);
			assert_int_equal(e.kind, AUX_EVENT_BRANCH);
			assert_int_equal(e.ip, truth->ip);
			assert_int_equal(e.to, truth->to);
			assert_int_equal(!!(e.flags & AUX_CONDITIONAL), truth->type & 1);
		}
	}
	assert_int_equal(aux_spe_decoder.next(d, &e), 0);
	aux_spe_decoder.end(d);
	free(t.data);
}

/* A synchronisation point is the beginning of a record, wherever the search begins. */
static void test_sync_at_every_byte(void **state)
{
	struct trace t;

	(void)state;
	make(&t);
	for (size_t from = 1, i = 0; from < t.truth[RECORDS - 4].begin; from++) {
		size_t found = aux_spe_decoder.sync(&setup, t.data, t.len, from);

		while (t.truth[i].end < from)
			i++;
		assert_int_equal(found, t.truth[i].end);
	}
	assert_int_equal(aux_spe_decoder.sync(&setup, t.data, t.len, 0), 0);
	free(t.data);
}

/* Decodes all, and counts samples as they were written, and errors. */
static void count(const struct trace *t, const uint8_t *data, size_t len, size_t *ret_true,
		  size_t *ret_errors)
{
	struct aux_decoder *d = begin(data, len, 0);
	struct aux_event e;
	size_t i = 0;

	*ret_true = *ret_errors = 0;
	while (aux_spe_decoder.next(d, &e) > 0) {
		assert_true(e.offset < len);
		if (e.kind == AUX_EVENT_ERROR)
			++*ret_errors;
		while (i < RECORDS && t->truth[i].last < e.offset)
			i++;
		if (i < RECORDS && is_true(&e, &t->truth[i]))
			++*ret_true;
	}
	aux_spe_decoder.end(d);
}

static void count_packets(const uint8_t *data, size_t len)
{
	const struct aux_stretch s = {.data = data, .len = len};
	struct aux_decoder *d;
	struct aux_packet p;
	size_t sum = 0;

	assert_int_equal(aux_spe_decoder.packets(&setup, &s, &d), 0);
	while (aux_spe_decoder.packet_next(d, &p) > 0) {
		assert_true(p.len);
		sum += p.len;
	}
	assert_int_equal(sum, len);
	aux_spe_decoder.end(d);
}

static void test_every_cut(void **state)
{
	struct trace t;
	size_t whole = 0;

	(void)state;
	make(&t);
	for (size_t len = 0; len <= t.truth[100].end; len++) {
		uint8_t *copy = malloc(len + 1);
		size_t good, errors;

		memcpy(copy, t.data, len);
		while (t.truth[whole].end <= len)
			whole++;
		count(&t, copy, len, &good, &errors);
		assert_int_equal(good, whole);
		assert_true(errors <= 1);
		count_packets(copy, len);
		free(copy);
	}
	free(t.data);
}

static void test_flipped_bytes(void **state)
{
	size_t good, errors, all = 0, found = 0;
	struct trace t;

	(void)state;
	make(&t);
	for (unsigned int i = 0; i < 10000; i++) {
		size_t at = (size_t)rand() % t.len;
		uint8_t old = t.data[at];

		t.data[at] ^= (uint8_t)(1 + rand() % 255);
		if (i % 100) {
			/* Most of them in the first few records, which is enough to decode. */
			t.data[at] = old;
			at = (size_t)rand() % t.truth[20].end;
			old = t.data[at];
			t.data[at] ^= (uint8_t)(1 + rand() % 255);
			count(&t, t.data, t.truth[40].end, &good, &errors);
			assert_true(good >= 41 - 6);
		} else {
			count(&t, t.data, t.len, &good, &errors);
			assert_true(good >= RECORDS - 6);
			count_packets(t.data, t.len);
		}
		all++;
		found += errors > 0;
		t.data[at] = old;
	}
	/* Half of the bytes are of payload, which may have any value. */
	assert_true(found > all / 10);
	free(t.data);
}

static void test_odd_records(void **state)
{
	static const struct {
		const char *text;
		uint8_t bytes[8];
		size_t len;
	} cases[] = {
		{"a record with two packets of a kind", {0x48, 0, 0x48, 0, 1}, 5},
		{"bytes that are no SPE packet", {0xff, 1}, 2},
		{"the trace ends within a packet", {0x48}, 1},
		{"the trace ends within a packet", {0x22, 0}, 2},
		{"the trace ends within a record", {0x48, 0}, 2},
	};
	struct aux_event e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aux_decoder *d = begin(cases[i].bytes, cases[i].len, 64);

		assert_int_equal(aux_spe_decoder.next(d, &e), 1);
		assert_int_equal(e.kind, AUX_EVENT_ERROR);
		assert_string_equal(e.text, cases[i].text);
		assert_int_equal(e.cause, AUX_CAUSE_TRACE);
		assert_int_equal(aux_spe_decoder.next(d, &e), 0);
		aux_spe_decoder.end(d);
	}
}

#define PARTIAL (1u << 17)
#define EMPTY	(1u << 18)

/* Source: Arm ARM, Operation Type packet and Events packet. */
static void test_vectors(void **state)
{
	static const struct {
		uint8_t class, type;
		uint64_t events;
		enum aux_simd_arch arch;
		enum aux_simd_lanes lanes;
	} cases[] = {
		{SPE_OTHER, 0x00, 0, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
		{SPE_OTHER, 0x01, PARTIAL, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
		{SPE_OTHER, 0x06, 0, AUX_SIMD_ASE, AUX_LANES_UNKNOWN},
		{SPE_OTHER, 0x08, 0, AUX_SIMD_SVE, AUX_LANES_NO_PREDICATE},
		{SPE_OTHER, 0x0c, 0, AUX_SIMD_SVE, AUX_LANES_FULL},
		{SPE_OTHER, 0x3c, PARTIAL, AUX_SIMD_SVE, AUX_LANES_PARTIAL},
		{SPE_OTHER, 0x0e, EMPTY, AUX_SIMD_SVE, AUX_LANES_EMPTY},
		{SPE_OTHER, 0x88, 0, AUX_SIMD_SME, AUX_LANES_UNKNOWN},
		{SPE_OTHER, 0x89, 0, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
		{SPE_LOAD_STORE, 0x00, 0, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
		{SPE_LOAD_STORE, 0x05, 0, AUX_SIMD_ASE, AUX_LANES_UNKNOWN},
		{SPE_LOAD_STORE, 0x14, 0, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
		{SPE_LOAD_STORE, 0x98, EMPTY, AUX_SIMD_SVE, AUX_LANES_NO_PREDICATE},
		{SPE_LOAD_STORE, 0x9d, 0, AUX_SIMD_SVE, AUX_LANES_FULL},
		{SPE_LOAD_STORE, 0x0c, EMPTY, AUX_SIMD_SVE, AUX_LANES_EMPTY},
		{SPE_LOAD_STORE, 0x0a, EMPTY, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
		{SPE_BRANCH, 0x08, PARTIAL, AUX_SIMD_NONE, AUX_LANES_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[RECORD_MAX];
		struct spe_writer w = {.p = bytes};
		struct aux_decoder *d;
		struct aux_event e;

		spe_put_address(&w, SPE_PC, 0x400000);
		spe_put_operation(&w, cases[i].class, cases[i].type);
		spe_put_events(&w, 2 | cases[i].events);
		w.p[w.len++] = 1;
		d = begin(bytes, w.len, 0);
		assert_int_equal(aux_spe_decoder.next(d, &e), 1);
		assert_int_equal(aux_simd_arch(e.simd), cases[i].arch);
		assert_int_equal(aux_simd_lanes(e.simd), cases[i].lanes);
		assert_true(e.simd < 1u << AUX_SIMD_BITS);
		aux_spe_decoder.end(d);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packet_text),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_sync_at_every_byte),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_odd_records),
		cmocka_unit_test(test_vectors),
	};

	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
