// SPDX-License-Identifier: Apache-2.0
/*
 * coresight.c on the corpus' recording of cs_etm, by simpleperf on a phone: its packets are good,
 * its branches are those that simpleperf counts, and missing code is named.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "auxtrace/coresight/coresight.h"
#include "auxtrace/recording/loader.h"
#include "data/open/open.h"

static const struct aux_decoder_ops *const ops = &aux_coresight_decoder;

/* Its executable segment, and where it was mapped. */
#define LOOP 0x582b2b1000ull
static const uint32_t etm_test_loop[] = {
	0x910003e0, 0x14000002, 0x91010000, 0xd100c3ff, 0xa9027bfd, 0x910083fd, 0xb0000008,
	0x91000108, 0xb0000009, 0x91004129, 0xb000000a, 0x9e670100, 0x9100814a, 0x4e181d20,
	0x3d8003e0, 0xf9000bea, 0xb0000002, 0xf9410042, 0x910003e3, 0xaa1f03e1, 0x94000024,
	0xd10043ff, 0xb9000fff, 0x52800c88, 0xb9400fe9, 0x6b08013f, 0x1a9fa7e8, 0x37000048,
	0x14000005, 0xb9400fe8, 0x11000508, 0xb9000fe8, 0x17fffff7, 0x910043ff, 0xd65f03c0,
	0xd10083ff, 0xa9017bfd, 0x910043fd, 0x52800000, 0xb81fc3a0, 0x97ffffed, 0xb85fc3a0,
	0xa9417bfd, 0x910083ff, 0xd65f03c0, 0x00000000, 0x00000000, 0x00000000, 0xa9bf7bf0,
	0xb0000010, 0xf9410e11, 0x91086210, 0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f,
	0xb0000010, 0xf9411211, 0x91088210, 0xd61f0220,
};

/* @arg NULL: there is no code. */
static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	size_t size = sizeof(etm_test_loop);

	assert_int_equal(task->tid, 17235);
	(void)time;
	if (ret_missing)
		*ret_missing = "etm_test_loop";
	if (!arg || addr < LOOP || addr - LOOP >= size)
		return -ENOENT;
	if (len > size - (addr - LOOP))
		len = size - (addr - LOOP);
	memcpy(buf, (const uint8_t *)arg + (addr - LOOP), len);
	return (int)len;
}

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	(void)arg;
	(void)cpu;
	(void)time;
	(void)ret;
	return false;
}

struct found {
	size_t bytes, stretches, packets, bad, syncs, errors, lost, branches;
	char error[160];
	/* Branches within the code, by the numbers of their instructions. */
	size_t branch[sizeof(etm_test_loop) / 4][sizeof(etm_test_loop) / 4];
};

static void read_packets(const struct aux_setup *setup, const struct aux_stretch *s,
			 struct found *found)
{
	struct aux_decoder *d;
	struct aux_packet p;
	size_t sum = 0;

	assert_int_equal(ops->packets(setup, s, &d), 0);
	while (ops->packet_next(d, &p) > 0) {
		sum += p.len;
		found->packets++;
		found->bad += p.bad;
		found->syncs += strstr(p.text, "I_ASYNC") != NULL;
	}
	assert_int_equal(sum, s->len);
	ops->end(d);
}

static void add_branch(const struct aux_event *e, struct found *found)
{
	size_t n = sizeof(etm_test_loop) / 4, from = (e->ip - LOOP) / 4, to = (e->to - LOOP) / 4;

	found->branches++;
	if (from < n && to < n)
		found->branch[from][to]++;
}

static void read_flow(const struct aux_setup *setup, const struct aux_stretch *s,
		      const struct aux_code *code, struct found *found)
{
	struct aux_decoder *d;
	struct aux_event e;

	assert_int_equal(ops->begin(setup, s, code, AUX_WANT_BRANCHES, &d), 0);
	while (ops->next(d, &e) > 0) {
		if (e.kind == AUX_EVENT_BRANCH)
			add_branch(&e, found);
		found->lost += e.kind == AUX_EVENT_LOST;
		if (e.kind == AUX_EVENT_ERROR && !found->errors++)
			memcpy(found->error, e.text, sizeof(e.text));
	}
	ops->end(d);
}

static void read_all(const char *path, void *code_bytes, struct found *found)
{
	const struct aux_code code = {read_code, task_on, code_bytes};
	struct data_file *df;
	struct aux_stretch s;
	struct aux_loader *l;
	struct aux_index x;
	struct error err = ERROR_INIT;

	memset(found, 0, sizeof(*found));
	assert_int_equal(data_open(path, true, &df, &err), 0);
	assert_int_equal(aux_index_read(df, 0, DATA_SCAN_FINDINGS, &x, &err), 0);
	assert_int_equal(aux_loader_new(&x, ops, false, &l), 0);
	for (uint64_t i = 0; i < x.nr_chunks; i++) {
		if (aux_loader_load(l, i, &s) <= 0)
			continue;
		found->bytes += s.len;
		found->stretches++;
		read_packets(&x.setup, &s, found);
		read_flow(&x.setup, &s, &code, found);
	}
	aux_loader_free(l);
	aux_index_release(&x);
	data_close(df);
}

#define RECORDING "/GrapheneOS+platform_system_extras/simpleperf/testdata/etm/perf_etm.data"

/* What simpleperf counts beside it, but the return of 0x1088: simpleperf has no target of it. */
static void test_branches(void **state)
{
	static const struct {
		unsigned int from, to;
		size_t nr;
	} want[] = {
		{0x004, 0x00c, 1},   {0x050, 0x0e0, 1}, {0x06c, 0x074, 100}, {0x070, 0x084, 1},
		{0x080, 0x05c, 100}, {0x088, 0x0a4, 1}, {0x0a0, 0x054, 1},
	};
	struct found found;
	size_t inside = 0, edges = 4; /* tracing begins twice, and ends; the last branch waits */

	(void)state;
	read_all(CORPUS RECORDING, (void *)etm_test_loop, &found);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(found.branch[want[i].from / 4][want[i].to / 4], want[i].nr);
		inside += want[i].nr;
	}
	assert_int_equal(found.branches, inside + edges);
	assert_int_equal(found.errors, 0);
	assert_int_equal(found.lost, 0);
}

static void test_missing_code(void **state)
{
	struct found found;

	(void)state;
	read_all(CORPUS RECORDING, NULL, &found);
	assert_int_equal(found.bytes, 0x180);
	assert_int_equal(found.stretches, 4); /* one for each AUX record */
	assert_int_equal(found.syncs, 4);
	assert_int_equal(found.bad, 0);
	assert_int_equal(found.errors, 3); /* of three addresses in the code */
	assert_string_equal(found.error, "no code of etm_test_loop at 0x582b2b1000");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_missing_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
