// SPDX-License-Identifier: Apache-2.0
/*
 * Requests for snapshots: their words, the queue, and their records in the output's log. Each
 * request is taken once, with all requests of the same kind, in the order of arrival; those without
 * room are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "record/trigger/request.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- words ---------------------------------------------------------------------------------------
 */

// clang-format off
static const struct {
	const char *text;
	int code;
	const char *reason;
	uint64_t last_ns, last_bytes;
	bool since_last, bounded;
} lines[] = {
	{"", 0, "", 0, 0, false, false},
	{" \t", 0, "", 0, 0, false, false},
	{"--last 10s", 0, "", 10000000000, 0, false, true},
	{"--last 250ms --since-last", 0, "", 250000000, 0, true, true},
	{"--last 16M", 0, "", 0, 16 << 20, false, true},
	{"--last 16M --last 1m", 0, "", 60000000000, 0, false, true},
	{"--last all", 0, "", 0, 0, false, true},
	{"--last 16M --last all --since-last", 0, "", 0, 0, true, true},
	{"--since-last", 0, "", 0, 0, true, true},
	{"--reason slow", 0, "slow", 0, 0, false, false},
	{"--reason  a slow  fsync  --last 4K ", 0, "a slow  fsync", 0, 4096, false, true},
	{"--last 1h --reason why --lastly --since", 0, "why --lastly --since", 3600000000000, 0, false, true},
	{"--last", -EINVAL, NULL, 0, 0, false, false},
	{"--last --since-last", -EINVAL, NULL, 0, 0, false, false},
	{"--last 0s", -EINVAL, NULL, 0, 0, false, false},
	{"--last 1s all", -EINVAL, NULL, 0, 0, false, false},
	{"--last 10", -EINVAL, NULL, 0, 0, false, false},
	{"--last 10s more", -EINVAL, NULL, 0, 0, false, false},
	{"--last -1s", -EINVAL, NULL, 0, 0, false, false},
	{"--since-last now", -EINVAL, NULL, 0, 0, false, false},
	{"--reason", -EINVAL, NULL, 0, 0, false, false},
	{"--reason --last 1s", -EINVAL, NULL, 0, 0, false, false},
	{"now", -EINVAL, NULL, 0, 0, false, false},
	{"10s --last", -EINVAL, NULL, 0, 0, false, false},
};
// clang-format on

static void test_words(void **state)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct snapshot_request r = {.ticket = 7}, before = r;
		struct error err = ERROR_INIT;
		char text[64];

		strcpy(text, lines[i].text);
		assert_int_equal(request_parse(text, &r, &err), lines[i].code);
		assert_string_equal(text, lines[i].text);
		assert_int_equal(err.code, lines[i].code);
		if (lines[i].code) {
			assert_true(*err.text);
			assert_memory_equal(&r, &before, sizeof(r));
			continue;
		}
		assert_string_equal(r.what.reason, lines[i].reason);
		assert_int_equal(r.what.bounds.last_ns, lines[i].last_ns);
		assert_int_equal(r.what.bounds.last_bytes, lines[i].last_bytes);
		assert_int_equal(r.what.bounds.since_last, lines[i].since_last);
		assert_int_equal(r.bounded, lines[i].bounded);
	}
}

static void test_long_reasons(void **state)
{
	struct snapshot_request r = {0};
	char text[4 * sizeof(r.what.reason)];

	for (size_t len = sizeof(r.what.reason) - 6; len < sizeof(r.what.reason) + 6; len++) {
		size_t kept;

		memset(text, 'x', len);
		strcpy(text + len, "\u20ac\u20ac");
		request_set_reason(&r, text);
		kept = strlen(r.what.reason);
		assert_memory_equal(r.what.reason, text, kept);
		assert_true(kept < sizeof(r.what.reason) && kept + 3 >= sizeof(r.what.reason) - 1);
		/* Whole characters. */
		assert_true(kept <= len || (kept - len) % 3 == 0);
	}
}

/* --- the queue -----------------------------------------------------------------------------------
 */

static void test_queue(void **state)
{
	struct request_queue q = {0};
	struct snapshot_request taken[REQUESTS_MAX];
	uint64_t added = 0, next[4] = {0}, seen = 0, refused = 0;
	char waits[20000] = {0};

	srand(1);
	for (int step = 0; step < 4000; step++) {
		struct snapshot_request r = {.ticket = added};
		size_t nr;

		for (int burst = rand() % (step % 10 ? 4 : 100); burst > 0; burst--) {
			struct error err = ERROR_INIT;
			int rc;

			r.ticket = added;
			r.what.bounds.last_ns = (uint64_t)(rand() % 2);
			r.what.bounds.since_last = rand() % 2;
			rc = request_queue_add(&q, &r, &err);
			assert_int_equal(rc, q.nr == REQUESTS_MAX && err.code ? -ENOBUFS : 0);
			refused += rc != 0;
			waits[added++] = !rc;
		}
		nr = request_queue_take(&q, taken);
		assert_true(nr || !q.nr);
		for (size_t i = 0; i < nr; i++) {
			const struct pd_snapshot_bounds *b = &taken[i].what.bounds;
			size_t kind = b->last_ns * 2 + b->since_last;

			assert_memory_equal(b, &taken[0].what.bounds, sizeof(*b));
			assert_true(waits[taken[i].ticket]);
			assert_true(taken[i].ticket >= next[kind]);
			waits[taken[i].ticket] = 0;
			next[kind] = taken[i].ticket + 1;
		}
		/* The first of all, and nobody is left who asks for the same. */
		for (size_t i = 0; i < q.nr && nr; i++) {
			assert_true(q.waiting[i].ticket > taken[0].ticket);
			assert_memory_not_equal(&q.waiting[i].what.bounds, &taken[0].what.bounds,
						sizeof(taken[0].what.bounds));
		}
		seen += nr;
		assert_int_equal(seen + q.nr + q.refused, added);
		assert_int_equal(q.refused, refused);
		if (added > sizeof(waits) - 200)
			break;
	}
	assert_true(refused > 0);
}

/* --- the log -------------------------------------------------------------------------------------
 */

static void fill(char *text, size_t size)
{
	for (size_t i = 0; i < size - 1; i++)
		text[i] = (char)('a' + rand() % 26);
	text[rand() % size] = '\0';
	text[size - 1] = '\0';
	memset(text + strlen(text), 0, size - strlen(text));
}

static void fill_log(struct pd_snapshot_log *log)
{
	uint64_t *words = (uint64_t *)&log->figures;

	memset(log, 0, sizeof(*log));
	log->number = (uint64_t)rand();
	log->kind = (enum pd_snapshot_kind)(rand() % PD_SNAPSHOT_KINDS);
	if (log->kind == PD_SNAPSHOT_END) {
		for (size_t i = 0; i < sizeof(log->figures) / sizeof(*words); i++)
			words[i] = (uint64_t)rand() << 20 | (uint64_t)rand();
		return;
	}
	if (log->kind == PD_SNAPSHOT_TOTALS) {
		log->totals.taken = (uint64_t)rand() << 20;
		log->totals.written = (uint64_t)rand();
		log->totals.passed = (uint64_t)rand() << 33;
		log->totals.held = (uint64_t)rand();
		log->totals.counted = rand() % 2;
		return;
	}
	if (log->kind == PD_SNAPSHOT_AUX_RING) {
		log->aux = (struct pd_aux_ring){
			.idx = (uint32_t)rand(),
			.cpu = rand() % 2 ? UINT32_MAX : (uint32_t)rand(),
			.tid = (uint32_t)rand(),
			.active = rand() % 2,
			.mode = (enum pd_aux_mode)(rand() % PD_AUX_MODES),
			.scope = (enum pd_aux_scope)(rand() % PD_AUX_SCOPES),
		};
		for (uint64_t *word = &log->aux.window; word <= &log->aux.lost_records; word++)
			*word = (uint64_t)rand() << 25 | (uint64_t)rand();
		return;
	}
	log->request.origin = (enum pd_snapshot_origin)(rand() % PD_SNAPSHOT_ORIGINS);
	log->request.asked = (uint64_t)rand() << 20;
	log->request.wall_clock = (uint64_t)rand() << 31;
	log->request.bounds.last_ns = (uint64_t)rand();
	log->request.bounds.last_bytes = (uint64_t)rand();
	log->request.bounds.since_last = rand() % 2;
	log->request.cause.time = (uint64_t)rand() << 30;
	log->request.cause.cpu = (uint32_t)rand();
	log->request.cause.pid = (uint32_t)rand();
	log->request.cause.tid = UINT32_MAX;
	fill(log->request.reason, sizeof(log->request.reason));
	fill(log->request.cause.event, sizeof(log->request.cause.event));
	fill(log->request.cause.comm, sizeof(log->request.cause.comm));
}

/* As the other byte order has it: whatever is no text is words. */
static void turn(struct pd_snapshot_record *r)
{
	size_t words = 2 + r->body[1];

	for (size_t i = 0; i < words; i++)
		r->body[i] = __builtin_bswap64(r->body[i]);
}

static void test_log(void **state)
{
	struct pd_evlist *list = pd_evlist_new();

	srand(2);
	for (int i = 0; i < 5000; i++) {
		struct pd_snapshot_log log, read;
		struct pd_snapshot_record record;

		fill_log(&log);
		pd_snapshot_encode(&log, &record);
		assert_true(record.header.size <= sizeof(record) && record.header.size % 8 == 0);
		if (i % 2) {
			turn(&record);
			assert_int_equal(pd_record_to_host(&record.header, list), 0);
		}
		memset(&read, 0, sizeof(read));
		assert_int_equal(pd_snapshot_decode(&record.header, &read), 0);
		assert_memory_equal(&log, &read, sizeof(log));
	}
	pd_evlist_free(list);
}

/* Whatever a file has there is read within its bounds, or is none. */
static void test_bad_logs(void **state)
{
	srand(3);
	for (int i = 0; i < 20000; i++) {
		struct pd_snapshot_log log, read;
		struct pd_snapshot_record record;
		struct perf_event_header *hdr;
		size_t size;
		int rc;

		fill_log(&log);
		pd_snapshot_encode(&log, &record);
		size = sizeof(record.header) + 8 * (size_t)(rand() % (1 + record.header.size / 8));
		if (size > record.header.size)
			size = record.header.size;
		record.header.size = (uint16_t)size;
		for (int n = rand() % 3; n; n--)
			((uint8_t *)record.body)[rand() % (int)sizeof(record.body)] ^=
				(uint8_t)(1 << rand() % 8);
		hdr = malloc(size);
		assert_non_null(hdr);
		memcpy(hdr, &record, size);
		rc = pd_snapshot_decode(hdr, &read);
		assert_true(!rc || rc == -ENOENT || rc == -EBADMSG);
		if (!rc && read.kind == PD_SNAPSHOT_REQUEST)
			assert_non_null(pd_snapshot_origin_name(read.request.origin));
		if (!rc && read.kind == PD_SNAPSHOT_AUX_RING) {
			assert_non_null(pd_aux_mode_name(read.aux.mode));
			assert_non_null(pd_aux_scope_name(read.aux.scope));
		}
		free(hdr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	 cmocka_unit_test(test_long_reasons),
		cmocka_unit_test(test_queue),	 cmocka_unit_test(test_log),
		cmocka_unit_test(test_bad_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
