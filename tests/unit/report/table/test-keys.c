// SPDX-License-Identifier: Apache-2.0
/* The cells and texts of sort keys, for frames that the test makes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/table/keys.h"
#include "report/table/trace_fields.h"

static const struct symbol work = {.start = 0x1000, .end = 0x1040, .name = "work"};
static const struct symbol inner = {.name = "inner"};

static char *text_of(const char *name, const struct key_source *src)
{
	const struct sort_key *key = sort_key_find(name, strlen(name));
	struct hist_cell cell;
	struct buf text = {0};

	assert_non_null(key);
	assert_int_equal(key->cell(src, &cell), 0);
	assert_int_equal(key->text(NULL, cell, &text), 0);
	assert_int_equal(buf_zero(&text, 1), 0);
	return (char *)text.data;
}

static void expect(const char *name, const struct key_source *src, const char *want)
{
	char *text = text_of(name, src);

	assert_string_equal(text, want);
	free(text);
}

static void test_places(void **state)
{
	struct hist_names names = {.pool = strpool_new()};
	struct frame in = {.ip = 0x7f1010, .addr = 0x1010, .sym = &work, .cpumode = 2};
	struct frame at_start = {.ip = 0x7f1000, .addr = 0x1000, .sym = &work, .cpumode = 1};
	struct frame inlined = {.addr = 0x1014, .sym = &inner, .in = &work, .cpumode = 2};
	struct frame unknown = {.ip = 0x55, .addr = 0x55, .cpumode = 2};
	struct key_source src = {.names = &names, .frame = &in, .from = &at_start};

	expect("addr", &src, "0x7f1010");
	expect("symoff", &src, "[.] work+0x10");
	expect("symbol_iaddr", &src, "[.] work");
	expect("symbol_size", &src, "64");
	expect("dso_size", &src, "unknown");
	expect("addr_from", &src, "[k] work");
	expect("addr_to", &src, "[.] work+0x10");
	src.frame = &at_start;
	expect("symoff", &src, "[k] work+0x0");
	src.frame = &inlined;
	expect("symoff", &src, "[.] inner (inlined)+0x14");
	expect("symbol_size", &src, "64");
	src.frame = &unknown;
	expect("symoff", &src, "[.] 0x0000000000000055");
	expect("addr_to", &src, "[.] 0x0000000000000055");
	expect("symbol_size", &src, "unknown");
	strpool_free(names.pool);
}

static void test_unknown_sizes_first(void **state)
{
	const struct sort_key *key = sort_key_find("symbol_size", 11);
	const struct hist_cell unknown = {0}, zero = {.b = 1}, some = {.a = 5, .b = 1};

	assert_true(key->compare(NULL, unknown, zero) < 0);
	assert_true(key->compare(NULL, zero, some) < 0);
	assert_true(key->compare(NULL, some, unknown) > 0);
	assert_int_equal(key->compare(NULL, some, some), 0);
}

static void test_comms_without_numbers(void **state)
{
	static const struct {
		const char *comm, *text;
	} table[] = {
		{"worker-12", "worker-<N>"},
		{"12a345", "<N>a<N>"},
		{"", ""},
		{"plain", "plain"},
		{"1a2b3c4d5e6f7g8", "<N>a<N>b<N>c<N>d<N>e<N>f<N>g<N>"},
	};
	struct hist_names names = {.pool = strpool_new()};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct key_source src = {.names = &names, .comm = table[i].comm};

		expect("comm_nodigit", &src, table[i].text);
	}
	strpool_free(names.pool);
}

/* Keys that only perf has are refused with a reason, and are no keys. */
static void test_refused(void **state)
{
	static const char *const names[] = {"op", "cache", "dtlb"};
	const struct sort_key *keys[SORT_KEYS_MAX], *key;
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *why = sort_key_refused(names[i], strlen(names[i]));

		assert_non_null(why);
		assert_int_equal(sort_keys_parse(names[i], keys, 0, &err), -EINVAL);
		assert_non_null(strstr(err.text, names[i]));
		assert_non_null(strstr(err.text, why));
	}
	for (size_t i = 0; (key = sort_key_at(i)); i++)
		assert_null(sort_key_refused(key->name, strlen(key->name)));
}

/* Names that may be fields of tracepoints make one key each. */
static void test_trace_fields(void **state)
{
	static const char *const good[] = {"pid",	   "sched:sched_switch.prev_pid",
					   "%1.pid",	   "sys.a/raw",
					   "trace_fields", "trace:pid",
					   "sys.*"};
	static const char *const wrong[] = {"",	 "a b", "a/x",	    "a.",    ".a",
					    "*", "a/",	"a.b/rawx", "trace:"};
	struct trace_fields set = {0};
	const struct sort_key *key, *again;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(trace_fields_get(&set, good[i], strlen(good[i]), &key), 0);
		assert_int_equal(trace_fields_get(&set, good[i], strlen(good[i]), &again), 0);
		assert_ptr_equal(key, again);
		assert_string_equal(key->name, good[i]);
		assert_non_null(key->field);
	}
	assert_int_equal(trace_fields_get(&set, "pid,x", 3, &key), 0);
	assert_string_equal(key->header, "pid");
	assert_int_equal(trace_fields_get(&set, "trace:pid", 9, &key), 0);
	assert_string_equal(key->header, "pid");
	assert_int_equal(trace_fields_get(&set, "sys.a/raw", 9, &key), 0);
	assert_string_equal(key->header, "a");
	key = NULL;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(trace_fields_get(&set, wrong[i], strlen(wrong[i]), &key), -EINVAL);
		assert_null(key);
	}
	trace_fields_release(&set);
	assert_null(set.first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_unknown_sizes_first),
		cmocka_unit_test(test_comms_without_numbers),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_trace_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
