// SPDX-License-Identifier: Apache-2.0
/* Events of PMUs with AUX areas, over the trees of tests/data/sysfs-aux: defaults, sinks, refusals.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "event/parse/event.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TREE(name)    TESTS_DATA "/sysfs-aux/" name

#define PT_BRANCHES (1ull | 1 << 13)	      /* pt, branch */
#define PT_TIMES    (1ull << 10 | 1 << 9)     /* tsc, mtc */
#define PT_PERIODS  (3ull << 14 | 3ull << 24) /* MTC, PSB */
#define PT_DEFAULT  (PT_BRANCHES | PT_TIMES | PT_PERIODS)
#define PSB_BITS    (0xfull << 24)
#define CID	    (1ull << 14)
#define TIMESTAMP   (1ull << 28)
#define MEMORY	    PERF_SAMPLE_DATA_SRC

static void parse(struct event_list *list, const char *tree, const char *text)
{
	const struct event_env env = {.sysfs = tree};
	struct error err = ERROR_INIT;

	if (event_parse(list, text, &env, &err))
		fail_msg("'%s': %s", text, err.text);
}

static void test_attributes(void **state)
{
	static const struct {
		const char *tree, *text;
		uint64_t config, config2, period, by_cpu, unsampled, sample_type;
	} rows[] = {
		/* The config is that of perf's recording on this machine. */
		{TREE("intel_pt"), "intel_pt//", 0x300e601, 0, 0, 0, PSB_BITS, 0},
		{TREE("intel_pt"), "intel_pt/psb_period=0/u", PT_DEFAULT & ~PSB_BITS, 0, 0, 0, 0,
		 0},
		{TREE("intel_pt"), "intel_pt/cyc,cyc_thresh=2,noretcomp/",
		 PT_DEFAULT | 2 | 2 << 19 | 1 << 11, 0, 0, 0, PSB_BITS, 0},
		{TREE("intel_pt"), "intel_pt/mtc=0,mtc_period=0,branch=0/",
		 1 | 1 << 10 | 3ull << 24, 0, 0, 0, PSB_BITS, 0},
		{TREE("intel_pt"), "intel_pt/config=0x400/", 0x401, 0, 0, 0, 0, 0},
		{TREE("intel_pt"), "intel_pt/pt=0/", PT_DEFAULT, 0, 0, 0, PSB_BITS, 0},
		{TREE("event_trace"), "intel_pt//", 1 << 10, 0, 0, 0, 0, 0},
		{TREE("event_trace"), "intel_pt/event/", 1 << 10 | 1ull << 31, 0, 0, 0, 0, 0},

		{TREE("cs_etm"), "cs_etm//u", 0, 0, 0, CID | TIMESTAMP, 0, 0},
		{TREE("cs_etm"), "cs_etm/@tmc_etr0/u", 0, 0x2a6e1f83, 0, CID | TIMESTAMP, 0, 0},
		{TREE("cs_etm"), "cs_etm/timestamp=0,@tmc_etf0/", 0, 0x4b9c0d12, 0, CID, 0, 0},
		{TREE("cs_etm"), "cs_etm/@tmc_etf0,sinkid=7/", 0, 7, 0, CID | TIMESTAMP, 0, 0},
		{TREE("cs_etm"), "cs_etm/contextid2,configid=2/", 1 << 15, 2ull << 32, 0, TIMESTAMP,
		 0, 0},
		{TREE("cs_etm"), "cs_etm/contextid=0/", 0, 0, 0, TIMESTAMP, 0, 0},
		{TREE("cs_etm"), "cs_etm/config=0/", 0, 0, 0, 0, 0, 0},
		/* The PTM has neither. */
		{TREE("units"), "cs_etm//", 0, 0, 0, 0, 0, 0},

		{TREE("arm_spe"), "arm_spe_0//", 0, 0, 1024, 1, 0, MEMORY},
		{TREE("arm_spe"), "arm_spe_1//u", 0, 0, 4096, 1, 0, MEMORY},
		{TREE("arm_spe"), "arm_spe_0/ts_enable=0,pa_enable,period=9999/", 2, 0, 9999, 0, 0,
		 MEMORY | PERF_SAMPLE_PHYS_ADDR},
		{TREE("arm_spe"), "arm_spe_0/config=4,ts_enable,min_latency=9/", 5, 9, 1024, 0, 0,
		 MEMORY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list list = {0};
		const struct event_spec *e;

		parse(&list, rows[i].tree, rows[i].text);
		assert_int_equal(list.count, 1);
		e = &list.specs[0];
		assert_true(e->aux);
		if (e->attr.config != rows[i].config || e->attr.config2 != rows[i].config2 ||
		    e->attr.sample_period != rows[i].period || e->aux_by_cpu != rows[i].by_cpu ||
		    e->aux_unsampled != rows[i].unsampled ||
		    e->attr.sample_type != rows[i].sample_type)
			fail_msg("%zu '%s': config %#llx config2 %#llx period %llu by CPU %#llx "
				 "unsampled %#llx sample_type %#llx",
				 i, rows[i].text, (unsigned long long)e->attr.config,
				 (unsigned long long)e->attr.config2,
				 (unsigned long long)e->attr.sample_period,
				 (unsigned long long)e->aux_by_cpu,
				 (unsigned long long)e->aux_unsampled,
				 (unsigned long long)e->attr.sample_type);
		event_list_release(&list);
	}
}

/* Guests are in the trace unless KVM gives them Intel PT; other PMUs leave it to the modifiers. */
static void test_guests(void **state)
{
	struct event_list list = {0};

	parse(&list, TREE("intel_pt"), "intel_pt//u");
	parse(&list, TREE("event_trace"), "intel_pt//G");
	parse(&list, TREE("cs_etm"), "cs_etm//");
	assert_int_equal(list.specs[0].exclude_guest, 0);
	assert_int_equal(list.specs[1].exclude_guest, 1);
	assert_int_equal(list.specs[2].exclude_guest, -1);
	event_list_release(&list);
}

/* An SPE follows tasks, though only on its cores. Without a number all of them are meant. */
static void test_cores_of_spe(void **state)
{
	struct event_list list = {0};

	parse(&list, TREE("arm_spe"), "arm_spe//");
	assert_int_equal(list.count, 2);
	for (size_t i = 0; i < list.count; i++) {
		assert_true(list.specs[i].core);
		assert_string_equal(list.specs[i].cpus, i ? "4-7" : "0-3");
		assert_string_equal(list.specs[i].pmu, i ? "arm_spe_1" : "arm_spe_0");
	}
	event_list_release(&list);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *tree, *text;
		int code;
		const char *says;
	} rows[] = {
		{TREE("intel_pt"), "intel_pt/mtc_period=1/", -EINVAL,
		 "this CPU has no mtc_period of 1, only 0, 3, 6, 9"},
		{TREE("intel_pt"), "intel_pt/psb_period=6/", -EINVAL, "only 0, 1, 2, 3, 4, 5"},
		{TREE("intel_pt"), "intel_pt/cyc_thresh=14/", -EINVAL, "no cyc_thresh of 14"},
		{TREE("many"), "intel_pt/mtc_period=1/", -EINVAL, "only 0, 2, 3, 4, 5, 6, 7, 8, "},
		{TREE("many"), "intel_pt/mtc_period=1/", -EINVAL, ", 60, 61, 62, 63"},
		{TREE("intel_pt"), "intel_pt/@tmc_etr0/", -ENOENT, "has no sinks"},
		{TREE("intel_pt"), "intel_pt/freq=99/", -EINVAL, "no frequency: give a period"},
		{TREE("cs_etm"), "cs_etm/@tmc_etr1/", -ENOENT,
		 "character 8 of 'cs_etm/@tmc_etr1/': PMU 'cs_etm' has no sink 'tmc_etr1' (it has "
		 "tmc_etf0, tmc_etr0)"},
		{TREE("cs_etm"), "cs_etm/@tmc_etr0=1/", -ENOENT, "no sink 'tmc_etr0'"},
		{TREE("cs_etm"), "cs_etm/@/", -ENOENT, "no sink ''"},
		{TREE("cs_etm"), "cs_etm/@../", -ENOENT, "no sink '..'"},
		{TREE("units"), "cs_etm/@tmc_etr0/", -ENOENT, "has no sinks"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct event_env env = {.sysfs = rows[i].tree};
		struct event_list list = {0};
		struct error err = ERROR_INIT;
		int rc = event_parse(&list, rows[i].text, &env, &err);

		if (rc != rows[i].code || !strstr(err.text, rows[i].says))
			fail_msg("'%s': %d, %s", rows[i].text, rc, err.text);
		assert_int_equal(list.count, 0);
	}
}

static void test_size_of_trace_in_samples(void **state)
{
	struct event_list list = {0};

	parse(&list, TREE("intel_pt"), "cs,cs/aux-sample-size=0/,cs/aux-sample-size=8K/");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(list.specs[i].aux_size_given, i > 0);
		assert_int_equal(list.specs[i].attr.aux_sample_size, i < 2 ? 0 : 8192);
	}
	event_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_guests),
		cmocka_unit_test(test_cores_of_spe),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_size_of_trace_in_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
