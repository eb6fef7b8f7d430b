// SPDX-License-Identifier: Apache-2.0
/* Samples in a batch are the same as those given, when nothing of these is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/itrace/samples.h"
#include "report/script/batch.h"

#define CHAIN 3
#define RAW   10

/* Memory that walk samples lead to. */
struct given {
	struct {
		struct perf_event_header hdr;
		uint64_t chain[CHAIN];
		uint8_t raw[16];
	} record;
	struct pd_branch branches[2];
	struct data_record rec;
	struct itrace_sample made;
	char text[16];
};

static const struct pd_evsel evsel = {.attr.sample_regs_user = 5};

/* Makes sample @n in @g: a recorded one with branches that are not in its record. */
static struct walk_sample recorded(struct given *g, uint64_t n)
{
	*g = (struct given){
		.record.hdr = {.type = PERF_RECORD_SAMPLE, .size = sizeof(g->record)},
		.record.chain = {n, n + 1, n + 2},
		.branches = {{.from = n, .to = 2 * n}, {.from = 3 * n, .to = 4 * n}},
		.rec = {.hdr = &g->record.hdr, .offset = n},
	};
	memset(g->record.raw, (int)n, RAW);
	return (struct walk_sample){
		.rec = &g->rec,
		.evsel = &evsel,
		.s =
			{
				.ip = n,
				.callchain = g->record.chain,
				.callchain_nr = CHAIN,
				.raw = g->record.raw,
				.raw_size = RAW,
				.branches = g->branches,
				.branch_nr = 2,
			},
	};
}

/* Makes sample @n in @g: one of hardware trace. */
static struct walk_sample made(struct given *g, uint64_t n)
{
	*g = (struct given){.made.value = n, .rec.offset = n, .text = "what was said"};
	return (struct walk_sample){
		.rec = &g->rec, .evsel = &evsel, .made = &g->made, .text = g->text, .s.ip = n};
}

static void assert_recorded(const struct walk_sample *ws, uint64_t n)
{
	uint8_t raw[RAW];

	memset(raw, (int)n, RAW);
	assert_int_equal(ws->rec->offset, n);
	assert_int_equal(ws->rec->hdr->type, PERF_RECORD_SAMPLE);
	assert_ptr_equal(ws->s.callchain, ws->rec->hdr + 1);
	for (uint64_t i = 0; i < CHAIN; i++)
		assert_int_equal(ws->s.callchain[i], n + i);
	assert_memory_equal(ws->s.raw, raw, RAW);
	assert_int_equal(ws->s.branches[1].to, 4 * n);
	assert_null(ws->made);
	assert_null(ws->text);
	assert_null(ws->s.user_regs);
}

static void assert_made(const struct walk_sample *ws, uint64_t n)
{
	assert_int_equal(ws->rec->offset, n);
	assert_int_equal(ws->made->value, n);
	assert_string_equal(ws->text, "what was said");
	assert_null(ws->rec->hdr);
	assert_null(ws->s.callchain);
}

static int check(const struct walk_sample *ws, void *arg)
{
	uint64_t n = (*(uint64_t *)arg)++;

	assert_int_equal(ws->s.ip, n);
	if (n % 3)
		assert_recorded(ws, n);
	else
		assert_made(ws, n);
	return 0;
}

static void test_copies(void **state)
{
	struct batch b = {0};
	uint64_t n = 0, seen = 0;
	int rc = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (n = seen = 0; !rc; n += !rc) {
			struct given *g = malloc(sizeof(*g));
			struct walk_sample ws = n % 3 ? recorded(g, n) : made(g, n);

			rc = batch_add(&b, &ws);
			memset(g, 0xee, sizeof(*g));
			free(g);
		}
		assert_int_equal(rc, -ENOSPC);
		assert_int_equal(b.nr, n);
		assert_true(n > 100);
		assert_int_equal(batch_each(&b, check, &seen), 0);
		assert_int_equal(seen, n);
		batch_clear(&b);
		rc = 0;
	}
	batch_release(&b);
}

/* A sample of a stack or of AUX area may be larger than a batch. */
static void test_large_sample(void **state)
{
	struct batch b = {0};
	struct given g;
	struct walk_sample ws = recorded(&g, 1);
	uint64_t seen = 1;

	(void)state;
	ws.s.aux_size = 4 * BATCH_BYTES;
	ws.s.aux = calloc(1, ws.s.aux_size);
	assert_int_equal(batch_add(&b, &ws), 0);
	assert_int_equal(batch_add(&b, &ws), -ENOSPC);
	free((void *)ws.s.aux);
	assert_int_equal(batch_each(&b, check, &seen), 0);
	batch_release(&b);
}

static int stop_at_three(const struct walk_sample *ws, void *arg)
{
	(*(int *)arg)++;
	return ws->s.ip == 3 ? -ECANCELED : 0;
}

static void test_stops(void **state)
{
	struct batch b = {0};
	int calls = 0;

	(void)state;
	for (uint64_t n = 1; n < 6; n++) {
		struct given g;
		struct walk_sample ws = recorded(&g, n);

		assert_int_equal(batch_add(&b, &ws), 0);
	}
	assert_int_equal(batch_each(&b, stop_at_three, &calls), -ECANCELED);
	assert_int_equal(calls, 3);
	batch_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_large_sample),
		cmocka_unit_test(test_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
