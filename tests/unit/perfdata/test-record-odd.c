// SPDX-License-Identifier: Apache-2.0
/* Odd and hostile records, and functions that read a record without decoding it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "perfdata/record.h"
#include "wire.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static void put_u64s(struct wire *w, uint64_t first, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		wire_u64(w, first + i);
}

static void unknown_types(void **state)
{
	static const uint32_t types[] = {0, 23, 63, 85, 86, 87, 32769, ~0u};
	struct pd_attr attr = {.sample_type = PERF_SAMPLE_TIME, .flags = PD_ATTR_SAMPLE_ID_ALL};
	struct pd_evlist *list = pd_evlist_new();
	struct pd_record r;
	struct wire w;

	assert_int_equal(pd_evlist_add(list, &attr, NULL, NULL, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		wire_begin(&w, false, types[i], 0);
		put_u64s(&w, 11, 3);
		assert_int_equal(pd_record_decode(wire_end(&w), pd_evlist_at(list, 0), &r),
				 -ENOTSUP);
		assert_int_equal(r.hdr->type, types[i]);
		assert_int_equal(r.id.time, types[i] < 64 ? 13 : 0);
		assert_int_equal(pd_record_to_host(wire_end(&w), list), 0);
	}
	pd_evlist_free(list);
}

static void hostile_counts(void **state)
{
	static const uint64_t counts[] = {4, 1ULL << 32, 1ULL << 60, 1ULL << 61, ~0ULL};
	static const struct {
		uint32_t type;
		unsigned int before; /* words before the count */
	} with_count[] = {{PERF_RECORD_NAMESPACES, 1},	{PERF_RECORD_CALLCHAIN_DEFERRED, 1},
			  {PERF_RECORD_ID_INDEX, 0},	{PERF_RECORD_THREAD_MAP, 0},
			  {PERF_RECORD_STAT_CONFIG, 0}, {PERF_RECORD_COMPRESSED2, 0},
			  {PERF_RECORD_BPF_METADATA, 2}};
	struct pd_record r;
	struct wire w;

	for (size_t i = 0; i < ARRAY_SIZE(with_count); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(counts); k++) {
			wire_begin(&w, false, with_count[i].type, 0);
			put_u64s(&w, 1, with_count[i].before);
			wire_u64(&w, counts[k] == 4 ? 25 : counts[k]);
			put_u64s(&w, 1, 3);
			assert_int_equal(pd_record_decode(wire_end(&w), NULL, &r), -EBADMSG);
		}
	}
}

static void build_id_too_long(void **state)
{
	struct pd_record r;
	struct wire w;

	wire_begin(&w, false, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_u64s(&w, 1, 4); /* pid, tid, addr, len, pgoff */
	wire_bytes(&w, "\x15\0\0\0abcdefghijklmnopqrst", 24);
	wire_u64(&w, 0); /* prot, flags */
	wire_string(&w, "/bin/true");
	assert_int_equal(pd_record_decode(wire_end(&w), NULL, &r), -EBADMSG);
	wire_begin(&w, false, PERF_RECORD_HEADER_BUILD_ID, 1 << 15);
	wire_u32(&w, 0);
	wire_bytes(&w, "abcdefghijklmnopqrst\x15\0\0", 24);
	wire_string(&w, "/bin/true");
	assert_int_equal(pd_record_decode(wire_end(&w), NULL, &r), -EBADMSG);
}

/* The kernel leaves the bit of another event's build-id in misc; the event's own attribute decides.
 */
static void build_id_bit_left_over(void **state)
{
	struct pd_evsel evsel = {.attr.flags = PD_ATTR_MMAP2};
	struct pd_record r;
	struct wire w;

	wire_begin(&w, false, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_u64s(&w, 1, 4); /* pid, tid, addr, len, pgoff */
	wire_u32(&w, 8);    /* as a length of a build-id it would do */
	wire_u32(&w, 1);
	put_u64s(&w, 77, 2); /* inode, generation */
	wire_u64(&w, 0);     /* prot, flags */
	wire_string(&w, "/bin/true");
	assert_int_equal(pd_record_decode(wire_end(&w), &evsel, &r), 0);
	assert_int_equal(r.mmap.build_id_size, 0);
	assert_int_equal(r.mmap.maj, 8);
	assert_int_equal(r.mmap.ino, 77);
	evsel.attr.flags |= PD_ATTR_BUILD_ID;
	assert_int_equal(pd_record_decode(wire_end(&w), &evsel, &r), 0);
	assert_int_equal(r.mmap.build_id_size, 8);
	assert_int_equal(r.mmap.ino, 0);
}

static void header_and_time(void **state)
{
	const uint8_t big[] = {0, 0, 0, 9, 0x40, 2, 0, 0x28};
	struct perf_event_header hdr = pd_record_header(big, true);
	struct wire w;

	assert_int_equal(hdr.type, PERF_RECORD_SAMPLE);
	assert_int_equal(hdr.misc, 0x4002);
	assert_int_equal(hdr.size, 0x28);

	wire_begin(&w, false, PERF_RECORD_FORK, 0);
	put_u64s(&w, 13, 3); /* pid, ppid, tid, ptid, time */
	assert_int_equal(pd_record_time(wire_end(&w), NULL), 15);
	wire_begin(&w, false, PERF_RECORD_COMM, 0);
	wire_u64(&w, 1);
	wire_string(&w, "bash");
	assert_int_equal(pd_record_time(wire_end(&w), NULL), 0);
}

static void sample_of_unknown_event(void **state)
{
	struct pd_attr attr = {.sample_type = PERF_SAMPLE_IDENTIFIER};
	struct pd_evlist *list = pd_evlist_new();
	struct wire w;

	for (uint64_t id = 1; id < 3; id++)
		assert_int_equal(pd_evlist_add(list, &attr, NULL, &id, 1), 0);
	wire_begin(&w, true, PERF_RECORD_SAMPLE, 0);
	wire_u64(&w, 3);
	assert_int_equal(pd_record_to_host(wire_end(&w), list), -ENOENT);
	pd_evlist_free(list);
}

static void record_names(void **state)
{
	assert_string_equal(pd_record_name(PERF_RECORD_MMAP), "MMAP");
	assert_string_equal(pd_record_name(PERF_RECORD_CALLCHAIN_DEFERRED), "CALLCHAIN_DEFERRED");
	assert_string_equal(pd_record_name(PERF_RECORD_HEADER_ATTR), "HEADER_ATTR");
	assert_string_equal(pd_record_name(PERF_RECORD_AUXTRACE), "AUXTRACE");
	assert_string_equal(pd_record_name(PERF_RECORD_SCHEDSTAT_DOMAIN), "SCHEDSTAT_DOMAIN");
	assert_null(pd_record_name(0));
	assert_null(pd_record_name(63));
	assert_null(pd_record_name(87));
	assert_null(pd_record_name(~0u));
	assert_false(pd_record_is_sideband(PERF_RECORD_SAMPLE));
	assert_false(pd_record_is_sideband(0));
	assert_true(pd_record_is_sideband(PERF_RECORD_LOST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_types),     cmocka_unit_test(hostile_counts),
		cmocka_unit_test(build_id_too_long), cmocka_unit_test(build_id_bit_left_over),
		cmocka_unit_test(header_and_time),   cmocka_unit_test(sample_of_unknown_event),
		cmocka_unit_test(record_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
