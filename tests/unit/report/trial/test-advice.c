// SPDX-License-Identifier: Apache-2.0
/* What advice.c says about made-up trials. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/trial/advice.h"

static const struct dso program = {.name = "/home/me/server", .kind = DSO_ELF};

/* A trial of a program of which everything is known. */
static struct trial_facts good(void)
{
	return (struct trial_facts){
		.samples = 400,
		.named = 400,
		.kernel = 20,
		.kernel_named = 20,
		.user = 380,
		.lines = 380,
		.fp = {.samples = 400, .whole = 400, .frames = 4000},
		.dwarf = {.samples = 400, .whole = 400, .frames = 4400},
		.file = {{.dso = &program, .samples = 380, .named = 380, .lines = 380}},
		.nr_files = 1,
		.fetches = true,
	};
}

/* Gives the advice, and checks that only lines that are not fine have a cost and a remedy. */
static struct doctor_report advise(const struct trial_facts *f)
{
	struct doctor_report r;

	advice_give(f, "server -x", &r);
	assert_true(r.nr && r.nr <= DOCTOR_LINES);
	for (size_t i = 0; i < r.nr; i++) {
		bool fine = r.line[i].state == DOCTOR_FINE;

		assert_true(*r.line[i].found);
		assert_int_equal(!*r.line[i].cost, fine);
		assert_int_equal(!*r.line[i].mend, fine);
	}
	return r;
}

static const struct doctor_line *line(const struct doctor_report *r, const char *about)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->line[i].about, about))
			return &r->line[i];
	return NULL;
}

static void check_line(const struct trial_facts *f, const char *about, enum doctor_state state,
		       const char *found, const char *mend)
{
	struct doctor_report r = advise(f);
	const struct doctor_line *l = line(&r, about);

	assert_non_null(l);
	assert_int_equal(l->state, state);
	assert_non_null(strstr(l->found, found));
	assert_non_null(strstr(l->mend, mend));
}

static void test_of_a_good_program_all_is_fine(void **state)
{
	struct trial_facts f = good();
	struct doctor_report r = advise(&f);

	(void)state;
	for (size_t i = 0; i < r.nr; i++)
		assert_int_equal(r.line[i].state, DOCTOR_FINE);
	check_line(&f, "call-graph", DOCTOR_FINE, "ringtail record -g -- server -x", "");
}

static void test_few_samples_end_the_trial(void **state)
{
	struct trial_facts f = good();

	(void)state;
	f.samples = f.named = 29;
	check_line(&f, "samples", DOCTOR_LIMITED, "29 samples", "--off-cpu");
	f = (struct trial_facts){0};
	assert_int_equal(advise(&f).nr, 1);
}

static void test_lost_samples_need_larger_rings(void **state)
{
	struct trial_facts f = good();

	(void)state;
	f.lost = 7;
	check_line(&f, "samples", DOCTOR_LIMITED, "7 lost", "-m 32M");
}

static void test_call_graph_is_the_cheapest_whole_one(void **state)
{
	struct trial_facts f = good();

	(void)state;
	f.fp.whole = 200;
	check_line(&f, "frame pointers", DOCTOR_LIMITED, "50%", "-fno-omit-frame-pointer");
	check_line(&f, "call-graph", DOCTOR_FINE, "record --call-graph dwarf --", "");
	f.dwarf.whole = 240;
	f.dwarf.cut = 160;
	check_line(&f, "stack copies", DOCTOR_LIMITED, "40% are cut", "dwarf,65528");
	check_line(&f, "call-graph", DOCTOR_FINE, "--call-graph dwarf,65528 --", "");
	f.dwarf.cut = 0;
	check_line(&f, "call-graph", DOCTOR_LIMITED, "--call-graph dwarf --", "mend");
	f.dwarf.whole = 100;
	check_line(&f, "call-graph", DOCTOR_LIMITED, "record -g --", "mend");
}

static void test_a_file_without_names_says_where_they_come_from(void **state)
{
	struct trial_facts f = good();

	(void)state;
	f.lines = f.file[0].lines = 0;
	check_line(&f, "debug info", DOCTOR_LIMITED, "no source lines", "-g");
	f.named = 20;
	f.file[0].named = 0;
	f.file[0].why = "it has no .symtab";
	check_line(&f, "names", DOCTOR_LIMITED, "5% of the samples", "see the files");
	check_line(&f, "debug info", DOCTOR_LIMITED, "most functions have no names",
		   "do not strip");
	f.file[0].by_distribution = true;
	check_line(&f, "debug info", DOCTOR_LIMITED, "no names", "export DEBUGINFOD_URLS=");
	f.fetches = false;
	check_line(&f, "debug info", DOCTOR_LIMITED, "no names", "-dbgsym");
}

static void test_hidden_kernel_functions_have_their_own_remedy(void **state)
{
	struct trial_facts f = good();

	(void)state;
	f.kernel = 200;
	f.kernel_named = 0;
	f.named = 200;
	check_line(&f, "names", DOCTOR_LIMITED, "50%", "kptr_restrict=0");
}

static void test_runtimes_are_asked_for_names(void **state)
{
	struct trial_facts f = good();

	(void)state;
	f.runtime = TRIAL_PYTHON;
	check_line(&f, "Python", DOCTOR_LIMITED, "no names",
		   "PYTHONPERFSUPPORT=1 ringtail record -g -- server -x (or python3 -X perf)");
	f.version = 311;
	check_line(&f, "Python", DOCTOR_LIMITED, "no names", "with Python 3.12 or newer");
	f.runtime_named = true;
	check_line(&f, "Python", DOCTOR_FINE, "have names", "");
	f.runtime = TRIAL_NODE;
	f.runtime_named = false;
	f.jit = 100;
	check_line(&f, "Node.js", DOCTOR_LIMITED, "no names",
		   "--perf-basic-prof --interpreted-frames-native-stack");
	f.runtime = TRIAL_JAVA;
	check_line(&f, "Java", DOCTOR_LIMITED, "no names", "+DumpPerfMapAtExit");
	f.runtime = TRIAL_NO_RUNTIME;
	check_line(&f, "jit", DOCTOR_LIMITED, "0% of these have names", "/tmp/perf-PID.map");
}

static void test_files_of_runtimes_are_known(void **state)
{
	static const struct {
		const char *name;
		enum trial_runtime runtime;
		unsigned int version;
	} files[] = {
		{"/usr/bin/python3.11", TRIAL_PYTHON, 311},
		{"/usr/lib/libpython3.12.so.1.0", TRIAL_PYTHON, 312},
		{"/usr/bin/python3", TRIAL_PYTHON, 0},
		{"/usr/bin/python3-config", TRIAL_NO_RUNTIME, 0},
		{"/usr/bin/pythonic", TRIAL_NO_RUNTIME, 0},
		{"/usr/bin/node", TRIAL_NODE, 0},
		{"/usr/bin/node_exporter", TRIAL_NO_RUNTIME, 0},
		{"/usr/lib/libnode.so.108", TRIAL_NODE, 0},
		{"/usr/lib/jvm/lib/server/libjvm.so", TRIAL_JAVA, 0},
		{"/usr/lib/libruby-3.1.so.3.1", TRIAL_RUBY, 0},
		{"/usr/bin/ruby3.1", TRIAL_RUBY, 0},
		{"/usr/share/dotnet/libcoreclr.so", TRIAL_DOTNET, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		unsigned int version = 0;

		assert_int_equal(trial_runtime_of(files[i].name, &version), files[i].runtime);
		assert_int_equal(version, files[i].version);
	}
}

static void test_threads_begin_in_known_functions(void **state)
{
	(void)state;
	assert_true(trial_is_begin("_start"));
	assert_true(trial_is_begin("__libc_start_main@@GLIBC_2.34"));
	assert_true(trial_is_begin("runtime.goexit.abi0"));
	assert_false(trial_is_begin("main_loop"));
	assert_false(trial_is_begin("mai"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_good_program_all_is_fine),
		cmocka_unit_test(test_few_samples_end_the_trial),
		cmocka_unit_test(test_lost_samples_need_larger_rings),
		cmocka_unit_test(test_call_graph_is_the_cheapest_whole_one),
		cmocka_unit_test(test_a_file_without_names_says_where_they_come_from),
		cmocka_unit_test(test_hidden_kernel_functions_have_their_own_remedy),
		cmocka_unit_test(test_runtimes_are_asked_for_names),
		cmocka_unit_test(test_files_of_runtimes_are_known),
		cmocka_unit_test(test_threads_begin_in_known_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
