// SPDX-License-Identifier: Apache-2.0
/* The set of sampled addresses: what of a sample is in it, once, and its limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/hits/hits.h"

#define ID     5
#define KERNEL 0xffffffff81000000ull

static struct pd_evlist *list_of(uint64_t sample_type)
{
	const struct pd_attr attr = {.sample_type = sample_type};
	struct pd_evlist *list = pd_evlist_new();
	uint64_t id = ID;

	assert_non_null(list);
	assert_int_equal(pd_evlist_add(list, &attr, "event", &id, 1), 0);
	return list;
}

static bool has(const struct hits *h, uint64_t addr, uint32_t pid)
{
	size_t nr, found = 0;
	const struct hit *hits = hits_list(h, &nr);

	for (size_t i = 0; i < nr; i++)
		found += hits[i].addr == addr && hits[i].pid == pid;
	assert_true(found <= 1);
	return found;
}

struct sample {
	struct perf_event_header hdr;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, nr, ips[5];
};

static struct sample sample_at(uint64_t ip, uint32_t pid)
{
	return (struct sample){
		.hdr = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(struct sample)},
		.id = ID,
		.ip = ip,
		.pid = pid,
		.tid = pid,
	};
}

/* A sample like the last one is not looked up, but for the first of an emptied set. */
static void test_equal_samples(void **state)
{
	struct pd_evlist *list = list_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	struct hits *h = hits_new(list);
	struct sample s = sample_at(0x4012, 7), other = sample_at(0x4012, 8);
	size_t nr;

	hits_add(h, &s.hdr);
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 1);
	hits_add(h, &other.hdr);
	assert_true(has(h, 0x4010, 8));
	free(hits_take(h, &nr));
	hits_add(h, &other.hdr);
	assert_true(has(h, 0x4010, 8));
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 2);
	hits_free(h);
	pd_evlist_free(list);
}

static void test_chains(void **state)
{
	struct pd_evlist *list = list_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN);
	struct hits *h = hits_new(list);
	struct sample s = sample_at(0x4012, 7);

	s.nr = 5;
	s.ips[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	s.ips[1] = KERNEL + 3;
	s.ips[2] = 0x4567;
	s.ips[3] = 0x4865745f65747972; /* no address */
	s.ips[4] = 7;		       /* nor this */
	hits_add(h, &s.hdr);
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 3);
	assert_true(has(h, 0x4010, 7));
	assert_true(has(h, KERNEL, 0)); /* of all processes */
	assert_true(has(h, 0x4560, 7));
	s.pid = 8;
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 5);
	s.nr = UINT64_MAX; /* malformed */
	s.ip = 0x9000;
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 6);
	s.hdr.misc = PERF_RECORD_MISC_GUEST_USER;
	s.ip = 0xa000;
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 6);
	hits_free(h);
	pd_evlist_free(list);
}

/* A dummy event has no samples, so the samples of the others are alike. */
static void test_dummy(void **state)
{
	const struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_DUMMY,
				     .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID};
	const struct pd_attr chains = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						      PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						      PERF_SAMPLE_CALLCHAIN};
	struct sample s = sample_at(0x4012, 7);

	s.nr = 1;
	s.ips[0] = 0x4567;
	s.id = ID + 9; /* of no event: a sample that is decoded is left out */
	for (int dummies_last = 0; dummies_last < 2; dummies_last++) {
		struct pd_evlist *list = pd_evlist_new();
		struct hits *h;

		for (uint64_t i = 0; i < 2; i++) {
			uint64_t id = ID + i;
			bool dummy = i == (uint64_t)dummies_last;

			assert_int_equal(
				pd_evlist_add(list, dummy ? &attr : &chains, "event", &id, 1), 0);
		}
		h = hits_new(list);
		hits_add(h, &s.hdr);
		assert_true(has(h, 0x4010, 7));
		assert_true(has(h, 0x4560, 7));
		hits_free(h);
		pd_evlist_free(list);
	}
}

static void test_data_addresses(void **state)
{
	struct pd_evlist *list = list_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_ADDR);
	struct hits *h = hits_new(list);
	struct sample s = sample_at(0x4012, 7);

	s.hdr.size = offsetof(struct sample, nr);
	s.time = 0x5555; /* where the address is */
	hits_add(h, &s.hdr);
	assert_true(has(h, 0x4010, 7));
	assert_true(has(h, 0x5550, 7));
	hits_free(h);
	pd_evlist_free(list);
}

static void test_branches(void **state)
{
	struct pd_evlist *list = list_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_BRANCH_STACK);
	struct hits *h = hits_new(list);
	struct sample s = sample_at(0x4012, 7);

	s.hdr.size = offsetof(struct sample, ips[2]);
	s.time = 1;	   /* number of branches */
	s.nr = 0x5011;	   /* from */
	s.ips[0] = KERNEL; /* to; flags follow */
	hits_add(h, &s.hdr);
	assert_int_equal(hits_count(h), 3);
	assert_true(has(h, 0x4010, 7));
	assert_true(has(h, 0x5010, 7));
	assert_true(has(h, KERNEL, 0));
	hits_free(h);
	pd_evlist_free(list);
}

static void test_limit(void **state)
{
	struct pd_evlist *list = list_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	struct hits *h = hits_new(list), *sum = hits_new(list);
	struct hit *taken;
	size_t nr;

	for (uint64_t i = 1; i <= 4 * HITS_MAX; i++)
		hits_put(h, i * HIT_BYTES, 1);
	assert_int_equal(hits_count(h), HITS_MAX);
	assert_int_equal(hits_missed(h), 3 * HITS_MAX);
	hits_merge(sum, h);
	hits_merge(sum, h);
	assert_int_equal(hits_count(sum), hits_count(h));
	taken = hits_take(h, &nr);
	assert_int_equal(nr, HITS_MAX);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(taken[i].addr, (i + 1) * HIT_BYTES);
	assert_int_equal(hits_count(h), 0);
	hits_put(h, HIT_BYTES, 1);
	hits_put(h, 0, 0); /* of a file, not of a process */
	hits_put(h, 0, 0);
	assert_int_equal(hits_count(h), 2);
	free(taken);
	hits_free(h);
	hits_free(sum);
	pd_evlist_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_samples), cmocka_unit_test(test_chains),
		cmocka_unit_test(test_dummy),	      cmocka_unit_test(test_data_addresses),
		cmocka_unit_test(test_branches),      cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
