// SPDX-License-Identifier: Apache-2.0
/* Records and index of AUX areas: encoded, decoded, in the other byte order, cut at every length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "perfdata/aux_record.h"
#include "perfdata/feature.h"
#include "wire.h"

static void decode(const void *p, struct pd_record *ret)
{
	const struct perf_event_header *hdr = p;

	assert_int_equal(hdr->size % 8, 0);
	assert_int_equal(pd_record_decode(hdr, NULL, ret), 0);
}

static void test_auxtrace(void **state)
{
	for (uint64_t size = 0; size < 40; size++) {
		struct pd_auxtrace a = {
			.size = size, .offset = 7, .reference = 8, .idx = 9, .tid = ~0u, .cpu = 3};
		struct pd_auxtrace_record rec;
		struct pd_record r;

		pd_auxtrace_encode(&a, &rec);
		decode(&rec, &r);
		assert_int_equal(rec.header.size, 48);
		assert_int_equal(r.auxtrace.size, (size + 7) / 8 * 8);
		a.size = r.auxtrace.size;
		assert_memory_equal(&a, &r.auxtrace,
				    offsetof(struct pd_auxtrace, cpu) + sizeof(a.cpu));
	}
}

static void test_info(void **state)
{
	static uint64_t priv[8192];
	struct buf b = {0};
	struct pd_record r;

	for (size_t i = 0; i < 8192; i++)
		priv[i] = i * i;
	for (size_t nr = 0; nr < 8189; nr += 4094) {
		b.len = 0;
		assert_int_equal(pd_auxtrace_info_encode(&b, PD_AUXTRACE_CS_ETM, priv, nr), 0);
		decode(b.data, &r);
		assert_int_equal(r.auxtrace_info.type, 3);
		assert_int_equal(r.auxtrace_info.nr_priv, nr);
		assert_memory_equal(r.auxtrace_info.priv, priv, nr * sizeof(*priv));
	}
	assert_int_equal(pd_auxtrace_info_encode(&b, 1, priv, 8190), -E2BIG);
	assert_string_equal(pd_auxtrace_type_name(4), "arm_spe");
	assert_string_equal(pd_auxtrace_type_name(4000), "unknown");
	buf_release(&b);
}

/* One record holds 2047 entries. */
static void test_id_index(void **state)
{
	static const size_t numbers[] = {0, 1, 2047, 2048, 5000};
	static struct pd_id_entry entries[5000];
	struct buf b = {0};

	for (size_t i = 0; i < 5000; i++)
		entries[i] = (struct pd_id_entry){i + 9, i, (int64_t)i - 1, -1};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct pd_record r;
		size_t nr = 0;

		b.len = 0;
		assert_int_equal(pd_id_index_encode(&b, entries, numbers[i]), 0);
		for (size_t at = 0; at < b.len; nr += r.id_index.nr) {
			const struct perf_event_header *hdr = (const void *)(b.data + at);

			decode(hdr, &r);
			assert_int_equal(hdr->type, PERF_RECORD_ID_INDEX);
			assert_memory_equal(r.id_index.entries, &entries[nr],
					    r.id_index.nr * sizeof(*entries));
			at += hdr->size;
		}
		assert_int_equal(nr, numbers[i]);
	}
	buf_release(&b);
}

static void test_error(void **state)
{
	char msg[100] = "";
	struct buf b = {0};

	for (size_t len = 0; len < sizeof(msg); len++) {
		struct pd_auxtrace_error e = {1, 2, 3, 4, 5, 6, 7, msg};
		struct pd_record r;

		b.len = 0;
		assert_int_equal(pd_auxtrace_error_encode(&b, &e), 0);
		decode(b.data, &r);
		assert_int_equal(strlen(r.auxtrace_error.msg), len < 63 ? len : 63);
		assert_memory_equal(r.auxtrace_error.msg, msg, strlen(r.auxtrace_error.msg));
		assert_memory_equal(&r.auxtrace_error, &e, 5 * sizeof(e.type));
		assert_int_equal(r.auxtrace_error.ip, 6);
		assert_int_equal(r.auxtrace_error.time, 7);
		if (len + 1 < sizeof(msg))
			msg[len] = (char)('a' + len % 26);
	}
	buf_release(&b);
}

static void test_time_conv(void **state)
{
	const struct pd_time_conv t = {1, 2, 3, 4, 5, false, true};
	struct pd_record r;
	struct buf b = {0};

	assert_int_equal(pd_time_conv_encode(&b, &t), 0);
	decode(b.data, &r);
	assert_int_equal(b.len, 56);
	assert_int_equal(r.time_conv.time_cycles, 4);
	assert_int_equal(r.time_conv.time_mask, 5);
	assert_false(r.time_conv.cap_user_time_zero);
	assert_true(r.time_conv.cap_user_time_short);
	((struct perf_event_header *)b.data)->size = 32; /* before 5.10 */
	decode(b.data, &r);
	assert_int_equal(r.time_conv.time_zero, 3);
	assert_true(r.time_conv.cap_user_time_zero);
	buf_release(&b);
}

static void check_index(const struct pd_auxtrace_index *a, const struct pd_auxtrace_index *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_int_equal(a->places[i].part, b->places[i].part);
		assert_int_equal(a->places[i].offset, b->places[i].offset);
		assert_int_equal(a->places[i].size, b->places[i].size);
	}
}

/* @own places of the file itself, the others of data.N. A cut list is refused or is a shorter one.
 */
static void check_cuts(size_t own)
{
	struct pd_auxtrace_place places[] = {{100, 48, 0}, {200, 48, 0}, {300, 48, 0}, {40, 48, 1}};
	const struct pd_auxtrace_index v = {places, 4};
	struct pd_auxtrace_index read;
	struct buf b = {0};

	for (size_t i = 0; i < 4; i++)
		places[i].part = i < own ? 0 : (uint32_t)i + 1;
	assert_int_equal(pd_feature_auxtrace_encode(&b, &v), 0);
	for (size_t len = 0; len <= b.len; len++) {
		uint8_t *cut = malloc(len + 1);
		int rc;

		memcpy(cut + 1, b.data, len);
		rc = pd_feature_auxtrace_decode(cut + 1, len, false, &read);
		assert_int_equal(rc < 0,
				 len < 8 + 16 * own || (len >= 24 + 16 * own && len < b.len));
		if (len == b.len)
			check_index(&read, &v);
		pd_auxtrace_index_release(&read);
		free(cut);
	}
	for (size_t i = 0; i < b.len / 8; i++)
		((uint64_t *)b.data)[i] = __builtin_bswap64(((uint64_t *)b.data)[i]);
	assert_int_equal(pd_feature_auxtrace_decode(b.data, b.len, true, &read), 0);
	check_index(&read, &v);
	pd_auxtrace_index_release(&read);
	buf_release(&b);
}

static void test_index(void **state)
{
	for (size_t own = 0; own <= 4; own++)
		check_cuts(own);
}

/* As perf writes it, which is shorter than ours and may have anything behind it. */
static void test_index_of_perf(void **state)
{
	struct pd_auxtrace_index read;
	struct wire w = {.foreign = true};

	wire_u64(&w, 1);
	wire_u64(&w, 0x1000);
	wire_u64(&w, 48);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pd_feature_auxtrace_decode(w.data, w.len, true, &read), 0);
		assert_int_equal(read.nr, 1);
		assert_int_equal(read.places[0].offset, 0x1000);
		assert_int_equal(read.places[0].size, 48);
		assert_int_equal(read.places[0].part, 0);
		pd_auxtrace_index_release(&read);
		wire_u64(&w, UINT64_MAX);
	}
	w.len = 0;
	wire_u64(&w, 1ull << 60);
	wire_u64(&w, 0);
	assert_int_equal(pd_feature_auxtrace_decode(w.data, w.len, true, &read), -EBADMSG);
	pd_auxtrace_index_release(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_auxtrace),      cmocka_unit_test(test_info),
		cmocka_unit_test(test_id_index),      cmocka_unit_test(test_error),
		cmocka_unit_test(test_time_conv),     cmocka_unit_test(test_index),
		cmocka_unit_test(test_index_of_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
