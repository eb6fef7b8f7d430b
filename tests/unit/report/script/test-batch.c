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
#include "base/buf.h"
#include "report/script/batch.h"
#include "report/trace/itrace_held.h"

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
	*g = (struct given){.made.addr = n, .rec.offset = n, .text = "what was said"};
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
	assert_int_equal(ws->made->addr, n);
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

static int count_errors(const struct walk_sample *ws, void *arg)
{
	uint64_t *next = arg;

	assert_int_equal(ws->s.ip, ++*next);
	return 0;
}

/* A list of samples @first, @first + 1, …, which are errors, because these need no event. */
static struct itrace_held *list_of(struct itrace *i, uint64_t first, size_t nr)
{
	struct itrace_held *h = itrace_held_new(i);

	assert_non_null(h);
	assert_int_equal(array_grow(&h->list.samples, &h->list.cap, nr, sizeof(*h->list.samples)),
			 0);
	for (size_t n = 0; n < nr; n++)
		h->list.samples[n] = (struct itrace_sample){
			.kind = ITRACE_ERRORS, .ip = first + n, .text = ITRACE_NO_TEXT};
	h->list.nr = nr;
	return h;
}

/* Samples of hardware trace stay where they are, as long as a batch has them. */
static void test_spans(void **state)
{
	struct itrace i = {.lock = PTHREAD_MUTEX_INITIALIZER, .show_errors = true};
	struct itrace_held *first = list_of(&i, 1, 700), *second = list_of(&i, 701, 700);
	struct batch b = {0};
	uint64_t next = 0;

	(void)state;
	assert_int_equal(batch_add_span(&b, &(struct walk_span){&i, first, 0, 500}), 0);
	assert_int_equal(batch_add_span(&b, &(struct walk_span){&i, first, 500, 200}), 0);
	assert_int_equal(batch_add_span(&b, &(struct walk_span){&i, second, 0, 300}), 0);
	assert_int_equal(batch_add_span(&b, &(struct walk_span){&i, second, 300, 400}), -ENOSPC);
	itrace_let_go(first);
	itrace_let_go(second);
	assert_int_equal(i.nr_spare, 0);
	assert_int_equal(b.nr, 1000);
	assert_int_equal(batch_each(&b, count_errors, &next), 0);
	assert_int_equal(next, 1000);
	batch_clear(&b);
	assert_int_equal(i.nr_spare, 2);
	/* The next list is one of them. */
	first = itrace_held_new(&i);
	assert_int_equal(first->list.nr, 0);
	assert_true(first->list.cap >= 700);
	itrace_let_go(first);
	batch_release(&b);
	itrace_held_free_spare(&i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_large_sample),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
