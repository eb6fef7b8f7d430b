// SPDX-License-Identifier: Apache-2.0
/*
 * CPUs that come and go: events of those that are back are opened again; missed CPUs are reported
 * and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/open/hotplug.h"
#include "sys/kernel/uevent.h"

struct lab {
	struct hotplug h;
	char said[1024];
	int refuse; /* result of opening again */
	size_t refused;
};

/* As the main thread does. */
static void revive(struct lab *lab)
{
	int cpu;

	while (hotplug_due(&lab->h, &cpu)) {
		lab->refused += lab->refuse != 0;
		hotplug_revived(&lab->h, cpu, lab->refuse);
	}
}

static void hear(enum message_level level, const char *text, void *arg)
{
	struct lab *lab = arg;
	unsigned int cpu;

	if (level == MESSAGE_DETAIL)
		strcat(lab->said, "detail");
	if (sscanf(text, "CPU %u has gone offline", &cpu) == 1 && strstr(text, "gone offline"))
		sprintf(lab->said + strlen(lab->said), "-%u ", cpu);
	else if (sscanf(text, "CPU %u has come online", &cpu) == 1 && strstr(text, "has come"))
		sprintf(lab->said + strlen(lab->said), "?%u ", cpu);
	else if (sscanf(text, "CPU %u is online again", &cpu) == 1)
		sprintf(lab->said + strlen(lab->said), "+%u ", cpu);
	else
		strcat(lab->said, text);
}

/* What is said when these are online. */
static void expect(struct lab *lab, const char *online, const char *said)
{
	struct cpus cpus;

	assert_int_equal(cpus_parse(online, &cpus, NULL), 0);
	lab->said[0] = '\0';
	hotplug_update(&lab->h, &cpus);
	revive(lab);
	assert_string_equal(lab->said, said);
	cpus_release(&cpus);
}

/* The only CPU that every machine has is in all of these recordings. */
static void open_plan_lab(struct lab *lab, const struct messages *messages, const char *named,
			  struct plan plan)
{
	struct target_opts opts = {.all_cpus = !named};

	*lab = (struct lab){.h = {.messages = messages}};
	if (named)
		assert_int_equal(cpus_parse(named, &opts.cpus, NULL), 0);
	assert_int_equal(cpus_parse(named ? named : "0", &plan.sampled, NULL), 0);
	assert_int_equal(cpus_parse(named ? "0,60000" : "0", &plan.cpus, NULL), 0);
	assert_int_equal(hotplug_init(&lab->h, &opts, &plan), 0);
	/* Without the uevents of this machine. */
	if (lab->h.fd >= 0)
		close(lab->h.fd);
	lab->h.fd = -1;
	cpus_release(&opts.cpus);
	cpus_release(&plan.sampled);
	cpus_release(&plan.cpus);
}

static void open_lab(struct lab *lab, const struct messages *messages, const char *named)
{
	open_plan_lab(lab, messages, named, (struct plan){.target = TARGET_CPUS});
}

static void expect_end(struct lab *lab, size_t missed, const char *said)
{
	lab->said[0] = '\0';
	hotplug_say(&lab->h);
	assert_string_equal(lab->said, said);
	assert_int_equal(hotplug_missed(&lab->h), missed);
}

static void test_whole_system(void **state)
{
	struct lab lab;
	const struct messages messages = {hear, &lab};

	open_lab(&lab, &messages, NULL);
	expect(&lab, "0", "");
	expect(&lab, "0,4", "?4 "); /* it has no ring */
	expect(&lab, "4", "-0 ");
	expect_end(&lab, 1, "lost what happened on 1 CPU after coming online: 4");
	for (int i = 0; i < 3; i++) {
		expect(&lab, "0,4", "+0 ");
		expect(&lab, "0,4", "");
		expect(&lab, "7", i ? "-0 " : "-0 ?7 ");
	}
	expect(&lab, "0", "+0 ");
	expect_end(&lab, 3,
		   "lost what happened on 3 CPUs after coming online: 0 (for a moment), 4, 7");
	hotplug_release(&lab.h);
}

/* One that cannot be opened is tried while the kernel is not ready, and when it comes again. */
static void test_refused(void **state)
{
	struct lab lab;
	const struct messages messages = {hear, &lab};

	open_lab(&lab, &messages, NULL);
	lab.refuse = -ENODEV;
	for (int i = 0; i < 3; i++) {
		expect(&lab, "1", i ? "-0 " : "-0 ?1 ");
		expect(&lab, "0", "");
		expect(&lab, "0", "");
		lab.refuse = 0;
		expect(&lab, "0", "+0 ");
		lab.refuse = -ENODEV;
	}
	assert_int_equal(lab.refused, 6);
	expect(&lab, "1", "-0 ");
	for (int i = 0; i < 20; i++)
		expect(&lab, "0", i == 5 ? "?0 " : "");
	assert_true(lab.refused < 15);
	lab.refuse = -ENOTSUP;
	expect(&lab, "1", "");
	expect(&lab, "0", "?0 ");
	expect(&lab, "0", "");
	expect_end(&lab, 2, "lost what happened on 2 CPUs after coming online: 0, 1");
	hotplug_release(&lab.h);
}

/* Of those that nobody asked for only maps and names are taken. */
static void test_named(void **state)
{
	struct lab lab;
	const struct messages messages = {hear, &lab};

	open_lab(&lab, &messages, "0");
	expect(&lab, "0-3", "");
	expect(&lab, "0,60000", "detail+60000 ");
	expect(&lab, "0", "detail-60000 ");
	expect(&lab, "2-9", "-0 ");
	expect(&lab, "2-9", "");
	expect_end(&lab, 0, "");
	expect(&lab, "0,2", "+0 ");
	expect_end(&lab, 1, "lost what happened on 1 CPU after coming online: 0 (for a moment)");
	hotplug_release(&lab.h);
}

/* The kernel keeps events of tasks; a CPU that was missing at the start has none. */
static void test_tasks(void **state)
{
	struct plan_event event = {.all_tasks = false};
	struct plan plan = {.target = TARGET_TASKS, .events = &event, .nr = 1};
	struct lab lab;
	const struct messages messages = {hear, &lab};

	open_plan_lab(&lab, &messages, NULL, plan);
	expect(&lab, "4", "?4 ");
	expect(&lab, "0", "");
	expect_end(&lab, 1, "lost what happened on 1 CPU after coming online: 4");
	hotplug_release(&lab.h);

	event.all_tasks = true;
	open_plan_lab(&lab, &messages, NULL, plan);
	expect(&lab, "7", "-0 ?7 ");
	expect(&lab, "0", "+0 ");
	expect_end(&lab, 2,
		   "lost what happened on 2 CPUs after coming online: 0 (for a moment), 7");
	hotplug_release(&lab.h);

	plan.task_rings = true;
	open_plan_lab(&lab, &messages, NULL, plan);
	expect(&lab, "4", "");
	expect_end(&lab, 0, "");
	hotplug_release(&lab.h);
}

/* A CPU that is offline for less than a scan takes: the kernel reports it, in order. */
static void test_told_by_the_kernel(void **state)
{
	static const struct {
		const char *message;
		int cpu; /* -1: of none */
		bool online;
	} uevents[] = {
		{"offline@/devices/system/cpu/cpu0", 0, false},
		{"online@/devices/system/cpu/cpu0", 0, true},
		{"online@/devices/system/cpu/cpu12", 12, true},
		{"change@/devices/system/cpu/cpu1", -1, false},
		{"online@/devices/system/cpu/cpu", -1, false},
		{"online@/devices/system/cpu/cpu1/x", -1, false},
		{"online@/devices/system/cpu/cpu99999999", -1, false},
		{"offline@/devices/system/memory/memory3", -1, false},
		{"online", -1, false},
		{"", -1, false},
	};
	struct lab lab;
	const struct messages messages = {hear, &lab};

	open_lab(&lab, &messages, NULL);
	for (size_t i = 0; i < sizeof(uevents) / sizeof(uevents[0]); i++) {
		size_t len = strlen(uevents[i].message);
		char *exactly = malloc(len + 1);
		bool online = false;
		int cpu = -1;

		memcpy(exactly, uevents[i].message, len + 1);
		assert_int_equal(uevent_parse_cpu(exactly, len + 1, &cpu, &online),
				 uevents[i].cpu >= 0);
		assert_false(uevent_parse_cpu(exactly, len, &cpu, &online));
		free(exactly);
		assert_int_equal(cpu, uevents[i].cpu);
		assert_int_equal(online, uevents[i].online);
		if (cpu >= 0)
			hotplug_event(&lab.h, cpu, online);
		revive(&lab);
	}
	assert_string_equal(lab.said, "-0 +0 ?12 ");
	expect(&lab, "0,12", "");
	hotplug_release(&lab.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_system),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_told_by_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
