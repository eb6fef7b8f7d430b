// SPDX-License-Identifier: Apache-2.0
/* What doctor.c and checks.c say about made-up machines. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sys/doctor/doctor.h"
#include "../../support/tree.h"

#define KERNEL "proc/sys/kernel/"

struct machine {
	struct tree tree;
	struct doctor_facts facts;
	struct doctor_report report;
};

/* A machine that allows everything to root. */
static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	tree_make(&m->tree);
	m->facts =
		(struct doctor_facts){.root = m->tree.root, .cpus = 8, .program = "/bin/ringtail"};
	tree_file(&m->tree, KERNEL "perf_event_paranoid", "2\n");
	tree_file(&m->tree, KERNEL "perf_event_mlock_kb", "516\n");
	tree_file(&m->tree, KERNEL "perf_event_max_sample_rate", "100000\n");
	tree_file(&m->tree, KERNEL "kptr_restrict", "0\n");
	tree_file(&m->tree, KERNEL "io_uring_disabled", "0\n");
	tree_file(&m->tree, "proc/self/status",
		  "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
	tree_file(&m->tree, "proc/self/limits",
		  "Max open files            1024                 4096                 files\n"
		  "Max locked memory         8388608              8388608              bytes\n");
	tree_file(&m->tree, "sys/bus/event_source/devices/cpu/type", "4\n");
	tree_file(&m->tree, "sys/kernel/tracing/events/sched/sched_switch/id", "1\n");
	tree_file(&m->tree, "usr/lib/debug/.build-id/x", "");
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	tree_remove(&m->tree);
	free(m);
	return 0;
}

static void become_user(struct machine *m)
{
	tree_file(&m->tree, "proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n");
}

static const struct doctor_line *line(struct machine *m, const char *about)
{
	doctor_examine(&m->facts, &m->report);
	for (size_t i = 0; i < m->report.nr; i++)
		if (!strcmp(m->report.line[i].about, about))
			return &m->report.line[i];
	return NULL;
}

/* Whoever is limited is told the cost and the remedy, and nobody else is. */
static void check_texts(const struct doctor_report *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		bool fine = r->line[i].state == DOCTOR_FINE;

		assert_true(*r->line[i].found);
		assert_int_equal(!*r->line[i].cost, fine);
		assert_int_equal(!*r->line[i].mend, fine);
	}
}

static void root_is_fine(void **state)
{
	struct machine *m = *state;

	doctor_examine(&m->facts, &m->report);
	check_texts(&m->report);
	for (size_t i = 0; i < m->report.nr; i++)
		assert_int_equal(m->report.line[i].state, DOCTOR_FINE);
	assert_true(m->report.nr >= 13);
	assert_false(doctor_impossible(&m->report));
}

/* A program file that grants what the container lacks could not be run at all. */
static void containers_get_no_setcap(void **state)
{
	struct machine *m = *state;

	become_user(m);
	assert_non_null(strstr(line(m, "capabilities")->mend, "setcap"));
	tree_file(&m->tree, "proc/self/status",
		  "CapEff:\t0\nCapBnd:\t00000000a80425fb\nSeccomp:\t0\n");
	assert_null(strstr(line(m, "capabilities")->mend, "setcap"));
	assert_non_null(strstr(line(m, "capabilities")->mend, "--cap-add"));
	assert_null(strstr(line(m, "bpf")->mend, "setcap"));
}

static void users_are_limited(void **state)
{
	static const char *const abouts[] = {"perf_event_paranoid", "capabilities", "locked memory",
					     "kptr_restrict", "bpf"};
	struct machine *m = *state;

	become_user(m);
	for (size_t i = 0; i < sizeof(abouts) / sizeof(*abouts); i++)
		assert_int_equal(line(m, abouts[i])->state, DOCTOR_LIMITED);
	check_texts(&m->report);
	assert_false(doctor_impossible(&m->report));
	assert_non_null(strstr(line(m, "perf_event_paranoid")->cost, "user space"));
	tree_file(&m->tree, KERNEL "perf_event_paranoid", "1\n");
	assert_non_null(strstr(line(m, "perf_event_paranoid")->cost, "whole CPUs"));
	assert_int_equal(line(m, "kptr_restrict")->state, DOCTOR_FINE);
	tree_file(&m->tree, KERNEL "perf_event_paranoid", "-1\n");
	assert_int_equal(line(m, "perf_event_paranoid")->state, DOCTOR_FINE);
}

static void refusal_has_its_reason(void **state)
{
	struct machine *m = *state;

	become_user(m);
	m->facts.opened = -EACCES;
	tree_file(&m->tree, KERNEL "perf_event_paranoid", "3\n");
	assert_string_equal(line(m, "perf_event_open")->mend,
			    "sysctl kernel.perf_event_paranoid=2");
	assert_true(doctor_impossible(&m->report));
	check_texts(&m->report);
	tree_file(&m->tree, KERNEL "perf_event_paranoid", "2\n");
	tree_file(&m->tree, "proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");
	assert_non_null(strstr(line(m, "perf_event_open")->mend, "seccomp"));
}

static void security_modules_limit(void **state)
{
	struct machine *m = *state;

	/* yama has no say in perf_event_open */
	tree_file(&m->tree, "sys/kernel/security/lsm", "capability,yama,apparmor\n");
	tree_file(&m->tree, "proc/sys/kernel/yama/ptrace_scope", "3\n");
	root_is_fine(state);
	assert_non_null(strstr(line(m, "security modules")->found, "yama"));
	tree_file(&m->tree, "proc/self/attr/current", "unconfined\n");
	assert_int_equal(line(m, "apparmor")->state, DOCTOR_FINE);
	tree_file(&m->tree, "proc/self/attr/current", "docker-default (complain)\n");
	assert_int_equal(line(m, "apparmor")->state, DOCTOR_FINE);
	tree_file(&m->tree, "proc/self/attr/current", "docker-default (enforce)\n");
	assert_int_equal(line(m, "apparmor")->state, DOCTOR_LIMITED);
	assert_non_null(strstr(line(m, "apparmor")->mend, "aa-complain docker-default;"));
	check_texts(&m->report);
	/* with SELinux, the file has its context, and AppArmor has a file of its own */
	tree_file(&m->tree, "sys/fs/selinux/enforce", "1");
	tree_file(&m->tree, "proc/self/attr/current", "user_u:user_r:user_t:s0");
	assert_null(line(m, "apparmor"));
	assert_int_equal(line(m, "selinux")->state, DOCTOR_FINE);
	assert_non_null(
		strstr(line(m, "selinux")->found, "enforcing, context of this process: user_u"));
	m->facts.opened = -EACCES;
	assert_int_equal(line(m, "selinux")->state, DOCTOR_LIMITED);
	assert_non_null(strstr(line(m, "perf_event_open")->mend, "selinux"));
	check_texts(&m->report);
	tree_file(&m->tree, "sys/fs/selinux/enforce", "0");
	assert_int_equal(line(m, "selinux")->state, DOCTOR_FINE);
	tree_file(&m->tree, "proc/self/attr/apparmor/current", "snap.x (enforce)\n");
	assert_int_equal(line(m, "apparmor")->state, DOCTOR_LIMITED);
}

static void machines_differ(void **state)
{
	static const struct {
		const char *path, *text, *about;
	} rows[] = {
		{"sys/kernel/security/lockdown", "none integrity [confidentiality]\n", "lockdown"},
		{KERNEL "io_uring_disabled", "2\n", "io_uring"},
		{KERNEL "perf_event_max_sample_rate", "5000\n", "max_sample_rate"},
		{KERNEL "nmi_watchdog", "1\n", "nmi_watchdog"},
		{KERNEL "kptr_restrict", "2\n", "kptr_restrict"},
		{"proc/self/limits", "Max open files            64                   64\n",
		 "open files"},
	};
	struct machine *m = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tree_file(&m->tree, rows[i].path, rows[i].text);
		assert_int_equal(line(m, rows[i].about)->state, DOCTOR_LIMITED);
		check_texts(&m->report);
	}
	m->facts.root = "/nonexistent";
	assert_int_equal(line(m, "counters")->state, DOCTOR_LIMITED);
	assert_int_equal(line(m, "tracefs")->state, DOCTOR_LIMITED);
	assert_null(line(m, "perf_event_paranoid"));
	m->facts.opened = -ENOSYS;
	assert_non_null(strstr(line(m, "perf_event_open")->mend, "CONFIG_PERF_EVENTS"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(root_is_fine, setup, teardown),
		cmocka_unit_test_setup_teardown(users_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(containers_get_no_setcap, setup, teardown),
		cmocka_unit_test_setup_teardown(refusal_has_its_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(security_modules_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(machines_differ, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
