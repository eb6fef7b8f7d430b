// SPDX-License-Identifier: Apache-2.0
/* Which lines a verdict has, from facts and counts made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "report/verdict/verdict.h"

static const struct verdict_scope all_shown = {
	.functions = true, .graph = true, .max_stack = QUALITY_MAX_STACK};

static const struct verdict_line *find(const struct verdict_list *v, enum verdict_about about)
{
	const struct verdict_line *found = NULL;

	for (size_t i = 0; i < v->nr; i++)
		if (v->line[i].about == about) {
			assert_null(found); /* one line each */
			found = &v->line[i];
		}
	return found;
}

/* Checks that there is this line alone. */
static void expect(const struct verdict_list *v, enum verdict_about about, bool grave,
		   const char *in_text, const char *in_remedy)
{
	const struct verdict_line *line = find(v, about);

	assert_int_equal(v->nr, 1);
	assert_non_null(line);
	assert_int_equal(line->grave, grave);
	assert_non_null(strstr(line->text, in_text));
	assert_non_null(strstr(line->remedy, in_remedy));
}

static struct verdict_list judge(const struct verdict_facts *f, const struct quality *q)
{
	struct verdict_list v;

	verdict_of_facts(f, q, &all_shown, &v);
	return v;
}

static void test_good_data(void **state)
{
	const struct verdict_facts f = {.lost = 0.99, .throttled = 1, .throttled_time = 0.99};
	const struct quality q = {
		.samples = 1000,
		.unresolved = 99,
		.frames = 1000,
		.unresolved_frames = 99,
		.walked = 1000,
		.astray = 99,
		.chains = 1000,
		.full = 99,
		.copies = 1000,
		.cut = 99,
	};
	const struct quality empty = {0};

	assert_int_equal(judge(&f, &q).nr, 0);
	assert_int_equal(judge(&f, &empty).nr, 0);
}

static void test_losses(void **state)
{
	const struct quality q = {0};
	struct verdict_facts f = {.lost = 1, .by_frequency = true};
	struct verdict_list v = judge(&f, &q);

	expect(&v, VERDICT_ABOUT_LOST, false, "1.0% of the samples were lost", "lower -F");
	f.unwritten = true;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_LOST, false, "1.0% of the samples were lost", "--max-size");
	f.unwritten = false;
	f.lost = VERDICT_LOST_GRAVE;
	f.by_frequency = false;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_LOST, true, "10.0%", "larger -c");
	f = (struct verdict_facts){.throttled = 7, .throttled_time = 12.5, .by_frequency = true};
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_THROTTLED, false, "12.5% of the time, in 7 parts", "lower -F");
}

static void test_unresolved(void **state)
{
	static const struct {
		enum dso_kind kind;
		const char *remedy;
	} kinds[] = {{DSO_KERNEL, "kptr_restrict"}, {DSO_MODULE, "kptr_restrict"},
		     {DSO_ELF, "DEBUGINFOD_URLS"},  {DSO_ANON, "perf-PID.map"},
		     {DSO_JIT, "jitdump"},	    {DSO_VDSO, ""}};
	struct quality q = {.samples = 100, .unresolved = 10};
	struct verdict_facts f = {
		.dso = "program", .why = "no file", .dso_samples = 8, .fetches = true};
	struct verdict_scope scope = all_shown;
	struct verdict_list v;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		f.dso_kind = kinds[i].kind;
		v = judge(&f, &q);
		expect(&v, VERDICT_ABOUT_UNRESOLVED, false, "8.0% in program (no file)",
		       kinds[i].remedy);
		assert_int_equal(*v.line[0].remedy != 0, *kinds[i].remedy != 0);
	}
	f = (struct verdict_facts){.dso = "program", .dso_kind = DSO_ELF, .dso_samples = 95};
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_UNRESOLVED, false, "", "--symfs");
	assert_null(strstr(v.line[0].remedy, "DEBUGINFOD")); /* a static program asks nobody */
	q.unresolved = 95;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_UNRESOLVED, true, "95.0% of the samples", "");
	f = (struct verdict_facts){.dso_kind = DSO_KERNEL, .dso_samples = 95};
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_UNRESOLVED, true, "95.0% where nothing was mapped", "");
	q.foreign = 60;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_UNRESOLVED, true, "95.0% of tasks outside", "the host's PIDs");
	q.foreign = 0;
	f.dso = "[kernel.kallsyms]";
	f.named = true;
	v = judge(&f, &q);
	assert_string_equal(v.line[0].remedy, "");
	scope.functions = false;
	verdict_of_facts(&f, &q, &scope, &v);
	assert_int_equal(v.nr, 0);
}

static void test_chains(void **state)
{
	struct verdict_facts f = {.stack_size = 8192};
	struct quality q = {.copies = 10, .cut = 5};
	struct verdict_scope scope = all_shown;
	struct verdict_list v = judge(&f, &q);

	expect(&v, VERDICT_ABOUT_COPIES, true, "8192 bytes", "dwarf,16384");
	scope.graph = false;
	verdict_of_facts(&f, &q, &scope, &v);
	assert_int_equal(v.nr, 0);
	f.stack_size = 40000;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_COPIES, true, "40000 bytes", "dwarf,65528");
	f.stack_size = 65528;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_COPIES, true, "65528 bytes", "frame pointers");

	q = (struct quality){.chains = 10, .full = 1};
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_CHAINS, false, "127 frames", "perf_event_max_stack");
	f.max_stack = 50;
	q.longer = 1;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_CHAINS, false, "the 127 that the report reads", "--max-stack");
	scope = (struct verdict_scope){.graph = true, .max_stack = 5}; /* asked for */
	verdict_of_facts(&f, &q, &scope, &v);
	expect(&v, VERDICT_ABOUT_CHAINS, false, "50 frames", "perf_event_max_stack");

	q = (struct quality){.frames = 10, .unresolved_frames = 5};
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_FRAMES, true, "50.0% of the frames", "-v");
	scope = (struct verdict_scope){.graph = true, .lists = true};
	verdict_of_facts(&f, &q, &scope, &v);
	assert_string_equal(v.line[0].remedy, "");
	q.walked = 10;
	q.astray = 1;
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_CALLERS, false, "no frame pointers", "dwarf");
}

/* Counts a sample on each of the CPUs. */
static void see(struct quality *q, const uint32_t *cpus, size_t nr)
{
	static const struct symbol sym = {0x10, 0x20, "f"};
	const struct frame f = {.sym = &sym};

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(quality_add(q, NULL, &f, &(struct pd_sample){.cpu = cpus[i]}, 100),
				 0);
}

static void test_cpus(void **state)
{
	static const uint32_t some[] = {0, 1, 3, 9, UINT32_MAX, QUALITY_CPUS};
	struct verdict_facts f = {.cpus = 12};
	struct quality q = {0}, other = {0};
	struct verdict_list v;

	see(&q, some, 3);
	see(&other, some + 2, 4);
	assert_int_equal(quality_merge(&q, &other), 0);
	assert_int_equal(q.samples, 700);
	v = judge(&f, &q);
	expect(&v, VERDICT_ABOUT_CPUS, false, "8 of 12 CPUs have no samples (2,4-8,10-11)", "");
	f.cpus = 71; /* too few samples to say anything */
	assert_int_equal(judge(&f, &q).nr, 0);
	f.cpus = 2;
	assert_int_equal(judge(&f, &q).nr, 0);
	/* A list that is too long for the line ends with points. */
	quality_release(&other);
	for (uint32_t cpu = 0; cpu < 200; cpu += 2)
		see(&other, &cpu, 1);
	f.cpus = 200;
	v = judge(&f, &other);
	expect(&v, VERDICT_ABOUT_CPUS, false, "...): ", "");
	quality_release(&q);
	quality_release(&other);
}

/* Counts one chain of @nr frames that the kernel recorded. */
static void add_chain(struct quality *q, uint64_t nr, uint16_t event_max, size_t max_stack)
{
	static struct trace t;
	static const struct dso dso;
	struct frame frame[3] = {{.cpumode = PERF_RECORD_MISC_USER, .dso = &dso}};
	const struct frames f = {.trace = &t, .frame = frame, .nr = 3};
	const struct pd_evsel evsel = {.attr.sample_max_stack = event_max};
	uint64_t chain[200] = {PERF_CONTEXT_USER};
	const struct walk_sample ws = {.evsel = &evsel,
				       .s = {.callchain_nr = nr + 1, .callchain = chain}};

	frame[1] = frame[2] = frame[0];
	frame[2].dso = NULL;
	quality_add_chain(q, &f, &ws, max_stack, 1);
}

static void test_lengths(void **state)
{
	struct quality q = {0};

	add_chain(&q, 126, 0, 127);
	assert_int_equal(q.full, 0);
	add_chain(&q, 127, 0, 127);
	assert_int_equal(q.full, 1);
	assert_int_equal(q.longer, 0);
	add_chain(&q, 128, 1024, 127);
	assert_int_equal(q.full, 1);
	assert_int_equal(q.longer, 1);
	add_chain(&q, 3, 3, 127);
	assert_int_equal(q.full, 2);
	assert_int_equal(q.chains, 4);
	assert_int_equal(q.unresolved_frames, 12);
	assert_int_equal(q.walked, 4);
	assert_int_equal(q.astray, 0); /* the outermost frame does not count */
}

/* A caller where nothing is mapped makes a chain doubtful, but for the one that starts a program.
 */
static void test_callers_astray(void **state)
{
	static const struct dso dso;
	static struct trace t;
	const struct walk_sample ws = {0};
	static const uint8_t user = PERF_RECORD_MISC_USER;
	const struct frame good = {.dso = &dso, .cpumode = user}, bad = {.cpumode = user};
	const struct frame kernel = {.cpumode = PERF_RECORD_MISC_KERNEL};
	const struct {
		struct frame chain[4];
		size_t nr;
		bool counts, astray;
	} table[] = {
		{{good}, 1, false, false},
		{{kernel, good}, 2, false, false},
		{{good, good, good}, 3, true, false},
		{{good, good, bad}, 3, true, false},
		{{good, bad}, 2, true, true},
		{{bad, good}, 2, true, false},
		{{good, good, bad, good}, 4, true, true},
		{{kernel, good, bad}, 3, true, true},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct frame chain[4];
		const struct frames f = {.trace = &t, .frame = chain, .nr = table[i].nr};
		struct quality q = {0};

		memcpy(chain, table[i].chain, sizeof(chain));
		quality_add_chain(&q, &f, &ws, 127, 1);
		assert_int_equal(q.walked, table[i].counts);
		assert_int_equal(q.astray, table[i].astray);
	}
}

static void test_copies(void **state)
{
	static struct trace t = {.cfi = (struct cfi_tables *)&t};
	const struct pd_evsel evsel = {.attr.sample_stack_user = 1024};
	struct walk_sample ws = {.evsel = &evsel, .s.user_stack_size = 1024};
	struct frames f = {.trace = &t, .copy_ended = true};
	struct quality q = {0};

	quality_add_chain(&q, &f, &ws, 127, 1);
	assert_int_equal(q.cut, 1);
	ws.s.user_stack_size = 1016; /* the whole stack was copied */
	quality_add_chain(&q, &f, &ws, 127, 1);
	assert_int_equal(q.cut, 1);
	f.copy_ended = false;
	ws.s.user_stack_size = 1024;
	quality_add_chain(&q, &f, &ws, 127, 1);
	assert_int_equal(q.cut, 1);
	assert_int_equal(q.copies, 3);
	ws.s.user_stack_size = 0;
	quality_add_chain(&q, &f, &ws, 127, 1);
	assert_int_equal(q.copies, 3);
}

static void test_throttled_time(void **state)
{
	struct trace_loss l = {.throttled = 2, .unthrottled = 2};

	l.throttle_time = (uint64_t)-100 + 130 - 200 + 250;
	assert_int_equal(trace_loss_throttled(&l, 50, 400), 80);
	l.throttled++; /* until the end */
	l.throttle_time -= 300;
	assert_int_equal(trace_loss_throttled(&l, 50, 400), 180);
	l.unthrottled += 2; /* and one since the beginning */
	l.throttle_time += 60 + 390;
	assert_int_equal(trace_loss_throttled(&l, 50, 400), 80 + 90 + 10);
	l.throttle_time -= 1000; /* damage */
	assert_int_equal(trace_loss_throttled(&l, 50, 400), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_data),      cmocka_unit_test(test_losses),
		cmocka_unit_test(test_unresolved),     cmocka_unit_test(test_chains),
		cmocka_unit_test(test_cpus),	       cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_callers_astray), cmocka_unit_test(test_copies),
		cmocka_unit_test(test_throttled_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
