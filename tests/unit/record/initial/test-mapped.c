// SPDX-License-Identifier: Apache-2.0
/* The files of MMAP2 records, how often they were mapped, and marks of build-ids of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "record/initial/mapped.h"

struct record {
	struct perf_event_header hdr;
	struct pd_mmap2_body body;
	char name[64];
};

static const struct perf_event_header *make(struct record *r, const char *name, uint16_t misc)
{
	const struct pd_mmap map = {.pid = 1,
				    .tid = 1,
				    .addr = 0x1000,
				    .len = 0x1000,
				    .maj = 8,
				    .min = 1,
				    .ino = 77,
				    .ino_generation = 5};

	memset(r, 0, sizeof(*r));
	r->hdr.type = PERF_RECORD_MMAP2;
	r->hdr.misc = misc | pd_mmap2_encode(&map, &r->body);
	r->hdr.size = sizeof(*r);
	strcpy(r->name, name);
	return &r->hdr;
}

static void test_files(void **state)
{
	static const char *const none[] = {"//anon", "[vdso]", "[heap]", "anon_inode:[perf_event]",
					   ""};
	struct mapped m;
	struct record r;

	(void)state;
	assert_true(mapped_decode(make(&r, "/lib/libc.so", PERF_RECORD_MISC_USER), false, &m));
	assert_false(m.kernel);
	assert_string_equal(m.map.filename, "/lib/libc.so");
	assert_int_equal(m.key.maj, 8);
	assert_int_equal(m.key.min, 1);
	assert_int_equal(m.key.ino, 77);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(mapped_decode(make(&r, none[i], PERF_RECORD_MISC_USER), false, &m));
	/* malformed: the name has no end */
	make(&r, "/lib/libc.so", PERF_RECORD_MISC_USER);
	memset(r.name, 'x', sizeof(r.name));
	assert_false(mapped_decode(&r.hdr, false, &m));
}

static void test_kernel(void **state)
{
	struct mapped kernel, module;
	struct record r, s;

	(void)state;
	assert_true(mapped_decode(make(&r, "[kernel.kallsyms]_text", PERF_RECORD_MISC_KERNEL),
				  false, &kernel));
	assert_true(kernel.kernel);
	assert_string_equal(kernel.map.filename, "[kernel.kallsyms]");
	assert_true(mapped_decode(make(&s, "[snd_pcm]", PERF_RECORD_MISC_KERNEL), false, &module));
	assert_true(module.kernel);
	assert_string_equal(module.map.filename, "[snd_pcm]");
	assert_memory_not_equal(&kernel.key, &module.key, sizeof(kernel.key));
}

/* The mark means a build-id only if this recording asked for it. */
static void test_marks_of_others(void **state)
{
	struct mapped m;
	struct record r[3];

	(void)state;
	make(&r[0], "/lib/libc.so", PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	r[0].body.build_id_size = 20;
	assert_false(mapped_decode(&r[0].hdr, true, &m));
	make(&r[0], "/lib/libc.so", PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	r[1] = r[0];
	r[1].hdr.type = PERF_RECORD_COMM; /* there the bit means something else */
	r[2] = r[0];
	mapped_clear_build_id_marks((uint8_t *)r, sizeof(r));
	assert_int_equal(r[0].hdr.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(r[1].hdr.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(r[2].hdr.misc, PERF_RECORD_MISC_USER);
	assert_true(mapped_decode(&r[2].hdr, false, &m));
	assert_int_equal(m.key.ino, 77);
	/* not behind a sample, and not in half a record */
	make(&r[0], "/lib/libc.so", PERF_RECORD_MISC_MMAP_BUILD_ID);
	r[1] = r[0];
	r[0].hdr.type = PERF_RECORD_SAMPLE;
	mapped_clear_build_id_marks((uint8_t *)r, 2 * sizeof(r[0]));
	assert_true(r[1].hdr.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
	mapped_clear_build_id_marks((uint8_t *)&r[1], sizeof(r[1]) - 8);
	assert_true(r[1].hdr.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
}

/* A file counts up while no other takes its slot. */
static void test_seen(void **state)
{
	static struct mapped_filter filter;
	struct mapped m, other;
	struct record r, s;
	uint32_t again;

	(void)state;
	assert_true(mapped_decode(make(&r, "/a", PERF_RECORD_MISC_USER), false, &m));
	for (uint32_t i = 1; i < 10; i++)
		assert_int_equal(mapped_seen(&filter, &m), i);
	assert_true(mapped_decode(make(&s, "/b", PERF_RECORD_MISC_USER), false, &other));
	assert_int_equal(mapped_seen(&filter, &other), 1);
	again = mapped_seen(&filter, &m);
	assert_true(again == 10 || again == 1);
	for (size_t i = 0; i < MAPPED_SLOTS; i++)
		filter.slots[i].seen = UINT32_MAX;
	again = mapped_seen(&filter, &m);
	assert_int_equal(again, UINT32_MAX); /* it does not begin anew */
	mapped_ask(NULL, &m, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_marks_of_others),
		cmocka_unit_test(test_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
