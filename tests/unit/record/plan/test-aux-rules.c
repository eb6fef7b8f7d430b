// SPDX-License-Identifier: Apache-2.0
/* Groups of AUX events, and refusals, over the trees of tests/data/sysfs-aux. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "record/plan/aux_rules.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TREE(name)    TESTS_DATA "/sysfs-aux/" name
#define PT	      TREE("intel_pt")

static void parse(struct plan_opts *opts, const char *tree, const char *text)
{
	const struct event_env env = {.sysfs = tree};
	struct error err = ERROR_INIT;

	if (event_parse(&opts->events, text, &env, &err))
		fail_msg("'%s': %s", text, err.text);
	aux_rules_group(&opts->events, &opts->aux);
}

static void test_groups(void **state)
{
	static const struct {
		const char *text;
		uint64_t sample_size;
		const char *leaders; /* a digit for each event */
		uint32_t sizes[4];
	} rows[] = {
		{"intel_pt//,cs,faults", 0, "012", {0}},
		{"intel_pt//,cs,faults", 4096, "000", {0, 4096, 4096}},
		{"intel_pt//,{cs,faults},dummy", 4096, "0113", {0}},
		{"{intel_pt//,cs},faults", 4096, "000", {0, 4096, 4096}},
		{"cs,intel_pt//,faults", 4096, "011", {0, 0, 4096}},
		{"intel_pt//,cs/aux-sample-size=0/,faults", 4096, "000", {0, 0, 4096}},
		{"intel_pt//,cs/aux-sample-size=64/", 4096, "00", {0, 64}},
		{"intel_pt//,cs", 1, "00", {0, 8}},
		{"intel_pt//,cs/aux-sample-size=1001/", 4096, "00", {0, 1008}},
		/* A term takes along the events before it. */
		{"intel_pt//,cs,faults/aux-sample-size=64/,dummy", 0, "0003", {0, 0, 64}},
		{"intel_pt//,cs,faults/aux-output/,dummy", 0, "0003", {0}},
		{"intel_pt//,cs/aux-action=pause/,faults/aux-action=resume/", 0, "000", {0}},
		{"intel_pt//,{cs,faults/aux-output/}", 0, "011", {0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan_opts opts = {.aux.sample_size = rows[i].sample_size};

		parse(&opts, PT, rows[i].text);
		assert_int_equal(opts.events.count, strlen(rows[i].leaders));
		for (size_t e = 0; e < opts.events.count; e++) {
			const struct event_spec *spec = &opts.events.specs[e];

			if (spec->leader != rows[i].leaders[e] - '0' ||
			    spec->attr.aux_sample_size != rows[i].sizes[e])
				fail_msg("'%s': event %zu has leader %d, %u bytes of trace",
					 rows[i].text, e, spec->leader, spec->attr.aux_sample_size);
		}
		event_list_release(&opts.events);
	}
}

static void test_accepted(void **state)
{
	static const struct {
		const char *tree, *text;
		struct aux_opts aux;
	} rows[] = {
		{PT, "cs", {0}},
		{PT, "intel_pt//u", {.snapshot = true, .size = 8192, .snapshot_size = 8192}},
		{PT, "intel_pt//,cs", {.sample_size = 4096}},
		{PT, "{intel_pt/aux-action=start-paused/,cs/aux-action=resume/}", {0}},
		{PT, "cs,intel_pt//,faults/aux-output/", {0}},
		{TREE("cs_etm"), "cs_etm//,cs", {.snapshot = true}},
		{TREE("arm_spe"), "arm_spe//", {.scope = AUX_SCOPE_ALL, .snapshot = true}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan_opts opts = {.aux = rows[i].aux};
		struct error err = ERROR_INIT;

		parse(&opts, rows[i].tree, rows[i].text);
		if (aux_rules_check(&opts, false, &err))
			fail_msg("'%s': %s", rows[i].text, err.text);
		event_list_release(&opts.events);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *tree, *text;
		struct aux_opts aux;
		const char *says;
	} rows[] = {
		{PT, "cs", {.snapshot = true}, "-S is about a hardware trace"},
		{PT, "cs", {.sample_size = 64}, "--aux-sample is about a hardware trace"},
		{PT, "cs", {.size = 4096}, "-m ,AUX is about"},
		{PT, "cs", {.scope = AUX_SCOPE_ALL}, "add -S"},
		{PT, "intel_pt//,intel_pt//", {0}, "only one event of intel_pt"},
		{PT, "{cs,intel_pt//}", {0}, "must be the first of its group"},
		{PT,
		 "intel_pt/aux-sample-size=64/",
		 {0},
		 "'intel_pt/aux-sample-size=64/' writes the"},
		{PT, "intel_pt/aux-action=pause/", {0}, "writes the trace"},
		{PT, "cs/aux-action=start-paused/", {0}, "no trace that could start paused"},
		{PT, "cs/aux-output/,intel_pt//", {0}, "needs an event with a trace"},
		{PT,
		 "intel_pt//,{cs,faults/aux-sample-size=64/}",
		 {0},
		 "needs an event with a trace"},
		{PT, "intel_pt//,cs/aux-sample-size=62K/", {0}, "at most 61440"},
		{PT,
		 "intel_pt//,cs/aux-output,aux-sample-size=64/",
		 {0},
		 "leave out aux-output or"},
		{PT, "intel_pt//,cs/aux-output/,faults/aux-output/", {0}, "for one event only"},
		{PT, "intel_pt//", {.sample_size = 64}, "no event samples"},
		{PT, "cs,intel_pt//", {.sample_size = 64}, "no event samples"},
		{PT, "intel_pt//,cs", {.sample_size = 64, .snapshot = true}, "choose one"},
		{PT, "intel_pt//,cs/aux-sample-size=64/", {.snapshot = true}, "choose one"},
		{PT,
		 "intel_pt//",
		 {.snapshot = true, .size = 4096, .snapshot_size = 8192},
		 "at most as large as the AUX area"},
		{TREE("cs_etm"), "cs_etm//,cs", {.sample_size = 64}, "cs_etm cannot sample"},
		{TREE("arm_spe"),
		 "arm_spe_0//,cs/aux-sample-size=64/",
		 {0},
		 "arm_spe_0 cannot sample"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan_opts opts = {.aux = rows[i].aux};
		struct error err = ERROR_INIT;

		parse(&opts, rows[i].tree, rows[i].text);
		if (aux_rules_check(&opts, false, &err) != -EINVAL ||
		    !strstr(err.text, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, err.text);
		event_list_release(&opts.events);
	}
}

/* -M takes snapshots of samples, too. */
static void test_memory_needs_no_trace(void **state)
{
	struct plan_opts opts = {.aux.snapshot = true};

	parse(&opts, PT, "cs");
	assert_int_equal(aux_rules_check(&opts, true, NULL), 0);
	event_list_release(&opts.events);
}

static void test_clocks(void **state)
{
	struct plan_opts pt = {.sample.use_clockid = true}, spe = pt;
	struct error err = ERROR_INIT;

	parse(&pt, PT, "intel_pt//");
	assert_int_equal(aux_rules_check(&pt, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "leave out -k"));
	parse(&spe, TREE("arm_spe"), "arm_spe_0//");
	assert_int_equal(aux_rules_check(&spe, false, &err), 0);
	event_list_release(&pt.events);
	event_list_release(&spe.events);
}

/* Traces of PMUs that no tree has. */
static void test_kinds(void **state)
{
	char mine[] = "mine", other[] = "other", bts[] = "intel_bts", ptt[] = "hisi_ptt0_2",
	     pt[] = "intel_pt", name[] = "x";
	struct event_spec specs[2] = {
		{.attr = {.type = 9}, .name = name, .aux = true, .pmu = bts},
		{.attr = {.type = 10}, .name = name, .aux = true, .pmu = pt, .leader = 1},
	};
	struct plan_opts opts = {.events = {specs, 1, 0}};
	struct error err = ERROR_INIT;

	assert_int_equal(aux_rules_check(&opts, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "record each task alone"));
	opts.target.no_inherit = true;
	assert_int_equal(aux_rules_check(&opts, false, &err), 0);
	opts.events.count = 2;
	assert_int_equal(aux_rules_check(&opts, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "intel_bts and intel_pt write two"));
	/* Nobody knows whether these are of one kind; the kernel maps one area only. */
	specs[0].pmu = mine;
	specs[1].pmu = other;
	assert_int_equal(aux_rules_check(&opts, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "mine and other write two"));
	specs[1].pmu = pt;
	assert_int_equal(aux_rules_check(&opts, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "mine and intel_pt write two"));
	specs[0].pmu = ptt;
	opts.events.count = 1;
	assert_int_equal(aux_rules_check(&opts, false, &err), 0);
	opts.aux.snapshot = true;
	assert_int_equal(aux_rules_check(&opts, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "hisi_ptt0_2 cannot overwrite"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),	 cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_memory_needs_no_trace),
		cmocka_unit_test(test_clocks),	 cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
