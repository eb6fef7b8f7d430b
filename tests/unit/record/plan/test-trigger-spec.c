// SPDX-License-Identifier: Apache-2.0
/* Parsing of --trigger. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "record/plan/trigger_spec.h"
#include "sys/io/file.h"
#include "sys/kernel/pressure.h"
#include "tree.h"

#define S 1000000000ull

/* A tracefs and a PMU of our own, so that every machine has the same events. */
struct lab {
	struct tree tree;
	char tracefs[80], sysfs[80];
	struct event_env env;
};

/* Any name is a function of any file. */
static int find(const char *file, const char *name, struct event_symbol *ret, struct error *err)
{
	*ret = (struct event_symbol){
		.function = true, .address = 0x1200, .offset = 0x1200, .fixed = true};
	return 0;
}

static const struct event_symbols symbols = {find};

static int setup(void **state)
{
	static struct lab lab;

	tree_make(&lab.tree);
	snprintf(lab.tracefs, sizeof(lab.tracefs), "%s/tracefs", lab.tree.root);
	tree_file(&lab.tree, "tracefs/events/sched/sched_switch/id", "316\n");
	tree_file(&lab.tree, "tracefs/events/syscalls/sys_enter_fsync/id", "400\n");
	tree_file(&lab.tree, "tracefs/events/syscalls/sys_exit_fsync/id", "401\n");
	snprintf(lab.sysfs, sizeof(lab.sysfs), "%s/sysfs", lab.tree.root);
	tree_file(&lab.tree, "sysfs/bus/event_source/devices/uprobe/type", "50\n");
	tree_file(&lab.tree, "sysfs/bus/event_source/devices/uprobe/format/retprobe", "config:0\n");
	lab.env = (struct event_env){lab.sysfs, lab.tracefs, &symbols};
	*state = &lab;
	return 0;
}

static int teardown(void **state)
{
	tree_remove(&((struct lab *)*state)->tree);
	return 0;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *text, *plain; /* plain: without options */
		enum trigger_kind kind;
		size_t events, starts;
		const char *filter; /* of the last event */
		uint64_t ns, after;
		unsigned int limit;
		uint64_t limit_ns;
		const char *reason;
	} rows[] = {
		{"sched:sched_switch", "sched:sched_switch", TRIGGER_EVENT, 1, 0, NULL, 0, 0, 1, S,
		 NULL},
		{"sched:sched_switch prev_comm == \"a,limit=1/2s\",after=20ms",
		 "sched:sched_switch prev_comm == \"a,limit=1/2s\"", TRIGGER_EVENT, 1, 0,
		 "prev_comm == \"a,limit=1/2s\"", 0, S / 50, 1, S, NULL},
		{"page-faults/period=1000/,cs/period=7/,limit=3/1m",
		 "page-faults/period=1000/,"
		 "cs/period=7/",
		 TRIGGER_EVENT, 2, 0, NULL, 0, 0, 3, 60 * S, NULL},
		{"mem:0x1000/4:w,reason=who, and why's that,after=1s", "mem:0x1000/4:w",
		 TRIGGER_EVENT, 1, 0, NULL, 0, S, 1, S, "who, and why's that"},
		{"sched:sched_switch prev_comm == \"x,y=1\" && prev_pid==1 || prev_pid "
		 "==2,after=1s",
		 "sched:sched_switch prev_comm == \"x,y=1\" && prev_pid==1 || prev_pid ==2",
		 TRIGGER_EVENT, 1, 0, "prev_comm == \"x,y=1\" && prev_pid==1 || prev_pid ==2", 0, S,
		 1, S, NULL},
		{"latency: cs/period=1,name=a/..page-faults/period=1,name=b/>100ms",
		 "latency: cs/period=1,name=a/..page-faults/period=1,name=b/>100ms",
		 TRIGGER_LATENCY, 2, 1, NULL, S / 10, 0, 1, S, NULL},
		{"latency:syscalls:sys_enter_fsync..syscalls:sys_exit_fsync>100ms",
		 "latency:syscalls:sys_enter_fsync..syscalls:sys_exit_fsync>100ms", TRIGGER_LATENCY,
		 2, 1, NULL, S / 10, 0, 1, S, NULL},
		{"latency: sched:sched_switch prev_pid > 1 ..syscalls:sys_exit_fsync ret >= 0 > "
		 "5us,reason=slow",
		 "latency: sched:sched_switch prev_pid > 1 ..syscalls:sys_exit_fsync ret >= 0 > "
		 "5us",
		 TRIGGER_LATENCY, 2, 1, "ret >= 0 ", 5000, 0, 1, S, "slow"},
		{"uprobe:./prog:work/name=a,period=3/ comm == \"x\",after=1s",
		 "uprobe:./prog:work/name=a,period=3/ comm == \"x\"", TRIGGER_EVENT, 1, 0,
		 "comm == \"x\"", 0, S, 1, S, NULL},
		{"{uprobe:./prog:work/name=a,period=3/,sched:sched_switch} prev_pid > 1",
		 "{uprobe:./prog:work/name=a,period=3/,sched:sched_switch} prev_pid > 1",
		 TRIGGER_EVENT, 2, 0, "prev_pid > 1", 0, 0, 1, S, NULL},
		{"cs/period=1,name=c/,uprobe:/a/b/prog:'f(int, "
		 "char)'+4/period=3,name=d/,limit=2/1s",
		 "cs/period=1,name=c/,uprobe:/a/b/prog:'f(int, char)'+4/period=3,name=d/",
		 TRIGGER_EVENT, 2, 0, NULL, 0, 0, 2, S, NULL},
		{"latency:uprobe:../prog:f/name=a,period=1/..uretprobe:../prog:f>1ms,reason=slow",
		 "latency:uprobe:../prog:f/name=a,period=1/..uretprobe:../prog:f>1ms",
		 TRIGGER_LATENCY, 2, 1, NULL, S / 1000, 0, 1, S, "slow"},
		{"psi:memory:150/1000", "psi:memory:150/1000", TRIGGER_PSI, 0, 0, NULL, 0, 0, 1, S,
		 NULL},
		{"load:1.5,limit=1000/1d", "load:1.5", TRIGGER_LOAD, 0, 0, NULL, 0, 0, 1000,
		 86400 * S, NULL},
		{"every:200ms", "every:200ms", TRIGGER_EVERY, 0, 0, NULL, S / 5, 0, 0, 0, NULL},
		{"every:1h,limit=1/1d", "every:1h", TRIGGER_EVERY, 0, 0, NULL, 3600 * S, 0, 1,
		 86400 * S, NULL},
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trigger_specs list = {0};
		struct error err = ERROR_INIT;
		const struct trigger_spec *s;

		trigger_specs_add(&list, rows[i].text, &lab->env, &err);
		assert_string_equal(err.text, "");
		s = &list.specs[0];
		assert_int_equal(s->kind, rows[i].kind);
		assert_string_equal(s->text, rows[i].plain);
		assert_int_equal(s->events.count, rows[i].events);
		assert_int_equal(s->starts, rows[i].starts);
		if (rows[i].filter)
			assert_string_equal(s->events.specs[s->events.count - 1].filter,
					    rows[i].filter);
		assert_int_equal(s->ns, rows[i].ns);
		assert_int_equal(s->after_ns, rows[i].after);
		assert_int_equal(s->limit, rows[i].limit);
		assert_int_equal(s->limit_ns, rows[i].limit_ns);
		assert_int_equal(!s->reason, !rows[i].reason);
		if (rows[i].reason)
			assert_string_equal(s->reason, rows[i].reason);
		if (s->kind == TRIGGER_PSI) {
			assert_string_equal(s->resource, "memory");
			assert_int_equal(s->some_ms, 150);
			assert_int_equal(s->window_ms, 1000);
		}
		if (s->kind == TRIGGER_LOAD)
			assert_true(s->load == 1.5);
		trigger_specs_release(&list);
	}
}

static void test_what_is_none(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *says;
	} rows[] = {
		{"", -EINVAL, "event"},
		{"sched:nothing", -ENOENT, "nothing"},
		{"cycles", -EINVAL, "give a number"},
		{"cs prev_pid > 1", -EINVAL, "filter"},
		{"sched:sched_switch,after=2", -EINVAL, "2"},
		{"sched:sched_switch,after=", -EINVAL, "after"},
		{"sched:sched_switch,after=400d", -EINVAL, "after"},
		{"sched:sched_switch,limit=3", -EINVAL, "1/10s"},
		{"sched:sched_switch,limit=0/1s", -EINVAL, "1000"},
		{"sched:sched_switch,limit=1001/1s", -EINVAL, "1000"},
		{"sched:sched_switch,limit=1/0s", -EINVAL, "0s"},
		{"sched:sched_switch,reason=", -EINVAL, "reason"},
		{"sched:sched_switch,soon=1s", -EINVAL, "options are after="},
		{"cs,limits=1/1s", -EINVAL, "'limits=1/1s': options are after="},
		{"sched:sched_switch prev_pid == 1,afer=2s", -EINVAL, "'afer=2s': options are"},
		{"sched:sched_switch prev_comm == \"a/b\" || prev_comm ~ /x,Limit=1/1s,after=1s",
		 -EINVAL, "'Limit=1/1s': options are"},
		{"latency: cs/period=1/..sched:sched_switch prev_pid == 1 > 5us,resaon=me", -EINVAL,
		 "'resaon=me': options are"},
		{"uprobe:./prog:work,afer=2s", -EINVAL, "'afer=2s': options are"},
		{"mem:0x1000/4:w,afer=2s", -EINVAL, "'afer=2s': options are"},
		{"latency:uprobe:./p:f..uretprobe:./p:f>1ms,Limit=1/1s", -EINVAL,
		 "'Limit=1/1s': options are"},
		{"psi:memory:150/1000,afer=2s", -EINVAL, "'afer=2s': options are"},
		{"cs/period=7,soon=1/", -ENOENT, "unknown term"},
		{"dummy", -EINVAL, "never"},
		{"latency:sched:sched_switch>1ms", -EINVAL, "START-EVENT..END-EVENT"},
		{"latency:sched:sched_switch..cs", -EINVAL, "START-EVENT..END-EVENT"},
		{"latency:sched:sched_switch..>1ms", -EINVAL, "event"},
		{"latency:..cs>1ms", -EINVAL, "event"},
		{"latency:cs..cs>soon", -EINVAL, "soon"},
		{"psi:", -EINVAL, "cpu, memory"},
		{"psi:disk:1/1000", -EINVAL, "cpu, memory"},
		{"psi:cpu", -EINVAL, "cpu, memory"},
		{"psi:cpu:5", -EINVAL, "SOME_MS"},
		{"psi:cpu:5/100", -EINVAL, "500"},
		{"psi:cpu:501/500", -EINVAL, "500"},
		{"psi:cpu:0/500", -EINVAL, "500"},
		{"load:", -EINVAL, "load"},
		{"load:-1", -EINVAL, "-1"},
		{"load:nan", -EINVAL, "nan"},
		{"load:1..2", -EINVAL, "1..2"},
		{"every:9ms", -EINVAL, "10 ms"},
		{"every:", -EINVAL, "every"},
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trigger_specs list = {0};
		struct error err = ERROR_INIT;

		assert_int_equal(trigger_specs_add(&list, rows[i].text, &lab->env, &err),
				 rows[i].rc);
		if (!strstr(err.text, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, err.text);
		assert_int_equal(list.nr, 0);
		trigger_specs_release(&list);
	}
}

/* Any of the characters that mean something, in any order. */
static void test_any_text(void **state)
{
	static const char *const parts[] = {
		"latency:", "psi:",    "cpu",	   "load:", "every:", "sched:sched_switch",
		"cs",	    "..",      ">",	   "/",	    "1s",     ",after=",
		"5",	    ",limit=", ",reason=", " ",	    "'",      "\"",
		",",	    "mem:0x1", "period=9", "{",	    "}",      ":",
		"uprobe:",  "./prog",  "work",	   "+",
	};
	struct trigger_specs list = {0};
	struct lab *lab = *state;

	srand(4);
	for (int i = 0; i < 20000; i++) {
		char text[256] = "";

		for (int n = rand() % 10; n >= 0; n--)
			strcat(text, parts[(size_t)rand() % (sizeof(parts) / sizeof(parts[0]))]);
		trigger_specs_add(&list, text, &lab->env, NULL);
	}
	assert_true(list.nr > 10);
	trigger_specs_release(&list);
}

static void test_pressure(void **state)
{
	struct lab *lab = *state;
	struct error err = ERROR_INIT;
	char *text;

	assert_int_equal(pressure_open(lab->tree.root, "memory", 100, 1000, &err), -ENOENT);
	assert_non_null(strstr(err.text, "psi=1"));
	tree_file(&lab->tree, "memory", "");
	close(pressure_open(lab->tree.root, "memory", 100, 1000, &err));
	assert_int_equal(file_text(&text, "%s/memory", lab->tree.root), 0);
	assert_string_equal(text, "some 100000 1000000");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pressure, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
