// SPDX-License-Identifier: Apache-2.0
/* Address filters, translated on a machine with made-up PMUs and symbols. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/parse/address_filter.h"
#include "event/parse/event.h"
#include "tree.h"

struct lab {
	struct tree tree;
	char sysfs[80], program[128];
	struct event_env env;
};

static int find(const char *file, const char *name, struct event_symbol *ret, struct error *err)
{
	static const struct {
		const char *name;
		struct event_symbol symbol;
	} names[] = {
		{"work", {.function = true, .address = 0x401200, .size = 64, .offset = 0x1200}},
		{"f(int, int)",
		 {.function = true, .address = 0x401300, .size = 8, .offset = 0x1300}},
		{"sizeless", {.function = true, .address = 0x401400, .offset = 0x1400}},
		{"table", {.address = 0x404020, .size = 32, .offset = 0x3020}},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		*ret = names[i].symbol;
		return 0;
	}
	return error_set(err, -ENOENT, "no symbol '%s' in %s", name, file ? file : "the kernel");
}

static const struct event_symbols symbols = {find};

static int setup(void **state)
{
	static struct lab lab;
	struct tree *t = &lab.tree;

	tree_make(t);
	snprintf(lab.sysfs, sizeof(lab.sysfs), "%s/sysfs", t->root);
	tree_file(t, "sysfs/bus/event_source/devices/intel_pt/type", "9\n");
	tree_file(t, "sysfs/bus/event_source/devices/intel_pt/format/tsc", "config:10\n");
	tree_file(t, "sysfs/bus/event_source/devices/intel_pt/nr_addr_filters", "2\n");
	tree_file(t, "sysfs/bus/event_source/devices/intel_bts/type", "10\n");
	tree_file(t, "bin/prog", "0123456789");
	tree_file(t, "bin/a,b", "");
	snprintf(lab.program, sizeof(lab.program), "%s/bin/prog", t->root);
	lab.env = (struct event_env){lab.sysfs, "/nonexistent", &symbols, NULL};
	if (chdir(t->root))
		return -1;
	*state = &lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	tree_remove(&lab->tree);
	return 0;
}

/* @text becomes @expected, in which each $ is the program. */
static void check(const struct lab *lab, const char *text, const char *expected, size_t expected_nr)
{
	char full[2 * PATH_MAX] = "", *ret = NULL, path[PATH_MAX];
	struct error err = ERROR_INIT;
	size_t nr = 0;

	assert_non_null(realpath(lab->program, path));
	for (const char *p = expected; *p; p++)
		snprintf(full + strlen(full), sizeof(full) - strlen(full), "%.*s",
			 *p == '$' ? PATH_MAX : 1, *p == '$' ? path : p);
	if (address_filter_parse(text, &symbols, &ret, &nr, &err))
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(ret, full);
	assert_int_equal(nr, expected_nr);
	free(ret);
}

static void test_good(void **state)
{
	check(*state, "filter work @ bin/prog", "filter 0x1200/0x40@$", 1);
	check(*state, "filter work@./bin/prog", "filter 0x1200/0x40@$", 1);
	check(*state, "filter work / 16 @ bin/../bin/prog", "filter 0x1200/0x10@$", 1);
	check(*state, "filter work/0x10 @'bin/prog'", "filter 0x1200/0x10@$", 1);
	check(*state, "filter work / 'f(int, int)' @ bin/prog", "filter 0x1200/0x108@$", 1);
	check(*state, "filter 'f(int, int)' @ bin/prog", "filter 0x1300/0x8@$", 1);
	check(*state, "filter sizeless / 4 @ bin/prog", "filter 0x1400/0x4@$", 1);
	check(*state, "filter 0x1000 / 0x100 @ bin/prog", "filter 0x1000/0x100@$", 1);
	check(*state, "filter 4096 / work @ bin/prog", "filter 0x1000/0x240@$", 1);
	check(*state, "filter * @ bin/prog", "filter 0x0/0xa@$", 1);
	check(*state, "start work @ bin/prog", "start 0x1200@$", 1);
	check(*state, "stop sizeless @ bin/prog", "stop 0x1400@$", 1);
	check(*state, "tracestop work @ bin/prog", "stop 0x1200/0x40@$", 1);
	check(*state, "filter work", "filter 0x401200/0x40", 1);
	check(*state, "start 0xffffffff81000000", "start 0xffffffff81000000", 1);
	check(*state, "start work @ bin/prog, stop sizeless @ bin/prog",
	      "start 0x1200@$,stop 0x1400@$", 2);
	check(*state, " filter 1/2 ,filter 3/4\tfilter work",
	      "filter 0x1/0x2,filter 0x3/0x4,"
	      "filter 0x401200/0x40",
	      3);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *part;
	} bad[] = {
		{"", "empty"},
		{" , ", "empty"},
		{"work @ bin/prog", "'work' is no address filter"},
		{"filters work", "'filters' is no address filter"},
		{"filter", "START is missing"},
		{"filter work / @ bin/prog", "SIZE is missing"},
		{"filter work @", "FILE is missing"},
		{"filter 'work @ bin/prog", "does not end"},
		{"filter nothing @ bin/prog", "no symbol 'nothing'"},
		{"filter work @ ./nothing", "nothing"},
		{"filter work @ nothing-in-path", "nothing-in-path"},
		{"filter work #2 @ bin/prog", "by number"},
		{"filter table @ bin/prog", "no function"},
		{"filter sizeless @ bin/prog", "size of 'sizeless' is unknown"},
		{"filter work / sizeless @ bin/prog", "size of 'sizeless' is unknown"},
		{"filter 0x1000 @ bin/prog", "size of '0x1000' is unknown"},
		{"tracestop 0x1000", "write tracestop 0x1000 / SIZE"},
		{"filter 'f(int, int)' / work @ bin/prog", "is before"},
		{"filter 0x1000 / 0 @ bin/prog", "unknown"},
		{"filter 12x / 4", "'12x' is no address"},
		{"filter *", "whole file"},
		{"filter * / 4 @ bin/prog", "no other size"},
		{"filter work @ 'bin/a,b'", "a blank or a comma"},
		{"filter work; stop work", "no symbol 'work;'"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = ERROR_INIT;
		char *ret = NULL;
		size_t nr;

		assert_true(address_filter_parse(bad[i].text, &symbols, &ret, &nr, &err) < 0);
		assert_null(ret);
		if (!strstr(err.text, bad[i].part))
			fail_msg("'%s': %s", bad[i].text, err.text);
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_events(void **state)
{
	struct lab *lab = *state;
	struct event_list list = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(event_parse(&list, "cpu-clock", &lab->env, &err), 0);
	assert_int_equal(event_parse(&list, "intel_pt//u", &lab->env, &err), 0);
	assert_true(list.specs[1].aux);
	assert_int_equal(address_filter_set(&list, 0, "filter 1/2", &lab->env, &err), -EINVAL);
	assert_int_equal(address_filter_set(&list, 1, "filter", &lab->env, &err), -EINVAL);
	assert_null(list.specs[1].filter);
	assert_int_equal(address_filter_set(&list, 1, "filter 1/2", &lab->env, &err), 0);
	assert_string_equal(list.specs[1].filter, "filter 0x1/0x2");
	assert_int_equal(address_filter_set(&list, 1, "stop 3", &lab->env, &err), 0);
	assert_string_equal(list.specs[1].filter, "filter 0x1/0x2,stop 0x3");
	assert_int_equal(address_filter_set(&list, 1, "stop 4", &lab->env, &err), -EINVAL);
	assert_non_null(strstr(err.text, "3 address filters"));
	assert_string_equal(list.specs[1].filter, "filter 0x1/0x2,stop 0x3");

	assert_int_equal(event_parse(&list, "intel_bts//u", &lab->env, &err), 0);
	assert_int_equal(address_filter_set(&list, 2, "filter 1/2", &lab->env, &err), -EINVAL);
	assert_non_null(strstr(err.text, "intel_bts has no address filters"));
	assert_int_equal(address_filter_set(&list, 1, "filter 1/2", &lab->env, &err), -EINVAL);
	assert_non_null(strstr(err.text, "for one event"));
	assert_int_equal(address_filter_set(&list, 3, "filter 1/2", &lab->env, &err), -EINVAL);
	event_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
