// SPDX-License-Identifier: Apache-2.0
/*
 * Events at places in files: the possible places, and the attributes for the kernel. This test
 * program is the file, and also the process that maps it.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/plan/probe_targets.h"
#include "record/plan/tracefs_probe.h"
#include "symbol/resolve/locate.h"
#include "sys/io/file.h"
#include "tree.h"

#define SELF "/proc/self/exe"

volatile long place_variable;

static void parse(struct event_list *list, const char *text)
{
	const struct event_env env = {.symbols = &locate_symbols};
	struct error err = ERROR_INIT;

	if (event_parse(list, text, &env, &err))
		fail_msg("%s: %s", text, err.text);
}

/* Of whatever file it would be. */
static void test_where_they_can_be(void **state)
{
	static const char *const command[] = {"true", NULL};
	static pid_t pid = 1;
	static const struct {
		bool probe, fixed, rc, all, tasks;
		const char *says; /* NULL: it can */
	} rows[] = {
		{true, false, true, false, false, NULL},
		{true, false, true, true, false, NULL},
		{true, false, true, false, true, NULL},
		{false, false, false, false, true, NULL},
		{false, true, false, false, true, NULL},
		{false, true, false, false, false, NULL},
		{false, true, false, true, false, "name a process with -p"},
		{false, false, true, true, false, "uprobe:FILE:FUNCTION"},
		{false, false, true, false, false, "use uprobe:FILE:FUNCTION"},
		{false, false, false, false, false, "start it"},
	};
	char name[] = "x", file[] = "/x";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct event_spec event = {
			.name = name,
			.attr.bp_type = rows[i].rc ? HW_BREAKPOINT_X : HW_BREAKPOINT_W,
			.place = {.file = file, .probe = rows[i].probe, .fixed = rows[i].fixed},
		};
		const struct target_opts opts = {
			.all_cpus = rows[i].all,
			.command = command,
			.tasks = {&pid, rows[i].tasks, 1},
		};
		struct error err = ERROR_INIT;
		int rc = probe_targets_check(&event, &opts, &err);

		assert_int_equal(rc, rows[i].says ? -EINVAL : 0);
		if (rows[i].says && !strstr(err.text, rows[i].says))
			fail_msg("row %zu: %s", i, err.text);
	}
}

/* A plan of one event, as far as places.h looks at it. */
struct lab {
	struct event_list list;
	struct plan_event event;
	pid_t pids[3];
	struct plan plan;
	struct error err;
};

static void lab_init(struct lab *lab, const char *text, size_t tasks)
{
	*lab = (struct lab){.err = ERROR_INIT};
	parse(&lab->list, text);
	lab->event = (struct plan_event){
		.name = lab->list.specs[0].name,
		.attr = lab->list.specs[0].attr,
		.place = probe_targets_of(&lab->list.specs[0]),
	};
	lab->plan = (struct plan){
		.target = TARGET_TASKS,
		.events = &lab->event,
		.nr = 1,
		.tasks = {lab->pids, tasks, 3},
	};
}

static void lab_release(struct lab *lab)
{
	probe_targets_release(&lab->event);
	event_list_release(&lab->list);
}

/* One that has ended and is not waited for, and then is. */
static pid_t ended_child(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return pid;
}

static void test_each_task_has_its_address(void **state)
{
	struct pd_attr attr;
	struct lab lab;

	lab_init(&lab, "mem:" SELF ":place_variable:w", 3);
	lab.pids[0] = ended_child();
	lab.pids[1] = getpid();
	lab.pids[2] = gettid();
	for (int round = 0; round < 2; round++) {
		assert_int_equal(probe_targets_prepare(&lab.plan, &lab.err), 0);
		assert_int_equal(lab.event.attr.config1, (uintptr_t)&place_variable);
		assert_int_equal(probe_targets_attr(&lab.event, 0, &attr), -ESRCH);
		for (size_t t = 1; t < 3; t++) {
			assert_int_equal(probe_targets_attr(&lab.event, t, &attr), 0);
			assert_int_equal(attr.config1, (uintptr_t)&place_variable);
			assert_int_equal(attr.config2, sizeof(place_variable));
			assert_true(attr.flags & PD_ATTR_REMOVE_ON_EXEC);
		}
		if (!round)
			waitpid(lab.pids[0], NULL, 0);
	}
	lab_release(&lab);
}

static void test_a_file_that_is_not_mapped(void **state)
{
	struct lab lab;

	lab_init(&lab, "mem:/bin/true:0x0/8:w", 1);
	lab.pids[0] = getpid();
	assert_int_equal(probe_targets_prepare(&lab.plan, &lab.err), -ENOENT);
	assert_non_null(strstr(lab.err.text, "has not mapped"));
	lab_release(&lab);
}

/* The pointer is the kernel's alone. */
static void test_a_probe_is_opened_by_its_path(void **state)
{
	struct pd_attr attr;
	struct lab lab;

	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		skip();
	lab_init(&lab, "uretprobe:" SELF ":main", 1);
	assert_int_equal(probe_targets_prepare(&lab.plan, &lab.err), 0);
	assert_null(lab.event.probe);
	assert_int_equal(lab.event.attr.config1, 0);
	assert_int_equal(probe_targets_attr(&lab.event, 0, &attr), 0);
	assert_string_equal((const char *)(uintptr_t)attr.config1, SELF);
	assert_int_equal(attr.type, lab.event.attr.type);
	assert_int_equal(attr.config, 1);
	assert_true(attr.config2 != 0 && attr.config2 == lab.event.attr.config2);
	lab_release(&lab);
}

static void leave_probe(const struct tree *tree, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "events/ringtail_%d/p0/id", pid);
	tree_file(tree, path, "1\n");
}

/* A zombie counts as ended; a living process keeps its probe. */
static void test_probes_of_the_dead_are_removed(void **state)
{
	char gone[64], alive[64], path[PATH_MAX];
	struct tracefs_probe *probe;
	struct error err = ERROR_INIT;
	struct buf commands = {0};
	struct tree tree;
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	tree_make(&tree);
	leave_probe(&tree, pid);
	leave_probe(&tree, getppid());
	tree_file(&tree, "uprobe_events", "");
	/* Nobody is there to carry the commands out. */
	assert_int_equal(tracefs_probe_new(tree.root, SELF, 0, false, &probe, &err), -ENOENT);
	tree_path(&tree, "uprobe_events", path);
	assert_int_equal(file_read_at(-1, path, &commands), 0);
	snprintf(gone, sizeof(gone), "-:ringtail_%d/p0\n", pid);
	snprintf(alive, sizeof(alive), "-:ringtail_%d/", getppid());
	assert_non_null(strstr((char *)commands.data, gone));
	assert_null(strstr((char *)commands.data, alive));
	buf_release(&commands);
	tree_remove(&tree);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_they_can_be),
		cmocka_unit_test(test_each_task_has_its_address),
		cmocka_unit_test(test_a_file_that_is_not_mapped),
		cmocka_unit_test(test_a_probe_is_opened_by_its_path),
		cmocka_unit_test(test_probes_of_the_dead_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
