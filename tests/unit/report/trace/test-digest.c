// SPDX-License-Identifier: Apache-2.0
/* Digests against a plain list of samples, and which entries of them are steady. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "report/trace/frame.h"
#include "wire.h"

#define CHAINS	4
#define SAMPLES 3000

/* Two chains differ in their last frame alone, and one is the beginning of another. */
static const uint64_t chains[CHAINS][4] = {
	{PERF_CONTEXT_USER, 0x1000, 0x2000, 0x3000},
	{PERF_CONTEXT_USER, 0x1000, 0x2000, 0x3001},
	{PERF_CONTEXT_USER, 0x1000, 0x2000},
	{PERF_CONTEXT_USER, 0x1000},
};
static const uint64_t lengths[CHAINS] = {4, 4, 3, 2};

static const struct pd_evsel evsel = {
	.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
};

/* Writes a sample of one of @CHAINS chains and of thread @tid at @time. */
static struct data_record sample(struct wire *w, unsigned int chain, uint32_t tid, uint64_t time,
				 uint64_t period)
{
	*w = (struct wire){0};
	wire_begin(w, false, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	wire_u64(w, 0x1000);
	wire_u32(w, 1);
	wire_u32(w, tid);
	wire_u64(w, time);
	wire_u64(w, period);
	wire_u64(w, lengths[chain]);
	wire_bytes(w, chains[chain], lengths[chain] * sizeof(uint64_t));
	return (struct data_record){
		.hdr = wire_end(w), .evsel = &evsel, .time = time, .at = {time, time}};
}

/* Whether @e is of one of the chains with @chain's frames, if the digest has chains. */
static bool is_of(const struct digest *d, const struct digest_entry *e, unsigned int chain,
		  uint32_t tid)
{
	if (e->tid != tid || e->chain_nr != (d->chains ? lengths[chain] : 0))
		return false;
	return !d->chains ||
	       !memcmp(digest_chain(d, e), chains[chain], lengths[chain] * sizeof(uint64_t));
}

static void check(bool with_chains)
{
	struct digest d = {.chains = with_chains};
	uint64_t count[CHAINS][3] = {0}, period[CHAINS][3] = {0}, first[CHAINS][3] = {0};
	struct wire w;
	size_t entries = 0;

	for (uint64_t i = 1; i <= SAMPLES; i++) {
		unsigned int chain = (unsigned int)rand() % CHAINS, tid = (unsigned int)rand() % 3;
		unsigned int row = with_chains ? chain : 0;
		struct data_record rec = sample(&w, chain, tid, i, i % 7);

		digest_add(&d, &rec);
		entries += !count[row][tid]++;
		period[row][tid] += i % 7;
		if (!first[row][tid])
			first[row][tid] = i;
		assert_false(d.given_up);
		assert_int_equal(d.nr, entries);
		assert_int_equal(d.entry[d.last].last.time, i);
		assert_true(is_of(&d, &d.entry[d.last], chain, tid));
		assert_int_equal(d.entry[d.last].samples, count[row][tid]);
		assert_int_equal(d.entry[d.last].period, period[row][tid]);
		assert_int_equal(d.entry[d.last].first.time, first[row][tid]);
	}
	assert_int_equal(d.nr, with_chains ? CHAINS * 3 : 3);
	digest_seal(&d);
	for (size_t i = 0; i < d.nr; i++)
		assert_true(d.entry[i].samples > 0);
	digest_release(&d);
}

static void test_flat(void **state)
{
	check(false);
}

static void test_chains(void **state)
{
	check(true);
}

/* A full digest forgets everything, and stays so. */
static void test_full(void **state)
{
	struct digest d = {.chains = true};
	struct wire w;

	for (uint32_t i = 0; i < 5000; i++) {
		struct data_record rec = sample(&w, 0, i, 1 + i, 1);

		digest_add(&d, &rec);
		assert_int_equal(d.given_up, !d.nr);
	}
	assert_true(d.given_up);
	assert_int_equal(digest_bytes(&d), 0);
	digest_release(&d);
}

static void test_damaged(void **state)
{
	struct digest d = {.chains = true};
	struct wire w;
	struct data_record rec = sample(&w, 0, 1, 1, 1);
	uint64_t nr = 1000;

	memcpy(w.data + 8 + 4 * 8, &nr, sizeof(nr)); /* the chain does not fit */
	digest_add(&d, &rec);
	assert_true(d.given_up);
	digest_release(&d);
}

static void map(struct state *s, const char *name, uint64_t addr, uint64_t time)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.mmap = (struct pd_mmap){.pid = 1,
				    .tid = 1,
				    .addr = addr,
				    .len = 0x800,
				    .prot = PROT_EXEC,
				    .filename = name};
	assert_int_equal(state_apply(s, &rec, (struct moment){time, time}), 0);
}

/* An entry is not steady if another file comes to a caller between its samples. */
static void test_steady(void **state)
{
	struct trace t = {.state = state_new()};
	struct digest d = {.chains = true};
	struct wire w;

	map(t.state, "/a", 0x1000, 1);
	map(t.state, "/b", 0x3000, 1);
	map(t.state, "/c", 0x3000, 50);
	assert_int_equal(state_finish(t.state), 0);
	for (uint64_t time = 10; time <= 60; time += 10) {
		struct data_record rec = sample(&w, 0, 1, time, 1);

		digest_add(&d, &rec);
		assert_int_equal(d.nr, 1);
		assert_int_equal(frames_are_steady(&t, &d, &d.entry[0]), time < 50);
	}
	digest_release(&d);
	state_free(t.state);
}

/* Chains of equal words differ if the copies of the stacks do. */
static void test_stacks(void **state)
{
	static const struct digest_stack stacks[] = {
		{0},
		{.copied = true},
		{.copied = true, .walked = true},
		{.copied = true, .walked = true, .frames = 1},
		{.copied = true, .walked = true, .frames = 1, .full = true},
		{.copied = true, .walked = true, .frames = 1, .full = true, .ended = true},
	};
	const size_t nr = sizeof(stacks) / sizeof(stacks[0]);
	struct digest d = {.chains = true};
	struct pd_sample s;
	struct wire w;

	(void)state;
	for (uint64_t i = 0; i < 5 * nr; i++) {
		struct data_record rec = sample(&w, 0, 1, i + 1, 2);

		assert_int_equal(pd_sample_decode(rec.hdr, rec.evsel, &s, NULL), 0);
		digest_add_sample(&d, &rec, &s, &stacks[i % nr]);
		assert_int_equal(d.nr, i < nr ? i + 1 : nr);
		assert_memory_equal(&d.entry[i % nr].stack, &stacks[i % nr], sizeof(stacks[0]));
	}
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(d.entry[i].period, 10);
	digest_give_up(&d);
	digest_add_sample(&d, &(struct data_record){0}, &s, NULL);
	assert_int_equal(d.nr, 0);
	digest_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat),   cmocka_unit_test(test_chains),
		cmocka_unit_test(test_full),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_steady), cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
