// SPDX-License-Identifier: Apache-2.0
/* Means and their errors, rows of CPUs, and the figures that follow from several counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "count/figures.h"

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)));
}

static void test_spread(void **state)
{
	static const double values[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
	struct spread s = {0};

	(void)state;
	assert_true(spread_error(&s) == 0);
	for (size_t i = 0; i < 4; i++) {
		spread_add(&s, values[i]);
		assert_true(i || spread_error(&s) == 0);
	}
	assert_near(s.mean, 1e9 + 10);
	/* The variance of 4, 7, 13, 16 is 30. */
	assert_true(fabs(spread_error(&s) - sqrt(30.0 / 4)) < 1e-6);
}

/* --- rows ----------------------------------------------------------------------------------------
 */

static void write_file(const char *root, int cpu, const char *name, int number)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu,
		 name);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%d\n", number);
	fclose(f);
}

static void make_folder(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void make_folder(const char *fmt, ...)
{
	char path[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
}

/* Eight CPUs: two sockets of two cores of two threads; a node for each socket. */
static void make_machine(char *root)
{
	assert_non_null(mkdtemp(root));
	for (int cpu = 0; cpu < 8; cpu++) {
		make_folder("%s/sys/devices/system/cpu/cpu%d/topology", root, cpu);
		make_folder("%s/sys/devices/system/cpu/cpu%d/node%d", root, cpu, cpu / 4);
		write_file(root, cpu, "physical_package_id", cpu / 4);
		write_file(root, cpu, "core_id", cpu / 2 % 2);
		if (cpu / 4) /* the other socket has no dies, as on some machines */
			write_file(root, cpu, "die_id", -1);
	}
}

static void remove_machine(const char *root)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

static void test_rows(void **state)
{
	static const struct {
		enum count_by by;
		size_t nr;
		unsigned int nr_cpus; /* of each row */
		const char *first, *last;
	} tests[] = {
		{COUNT_BY_ALL, 1, 8, "", ""},
		{COUNT_BY_CPU, 8, 1, "CPU0", "CPU7"},
		{COUNT_BY_CORE, 4, 2, "S0-D0-C0", "S1-D0-C1"},
		{COUNT_BY_DIE, 2, 4, "S0-D0", "S1-D0"},
		{COUNT_BY_SOCKET, 2, 4, "S0", "S1"},
		{COUNT_BY_NODE, 2, 4, "N0", "N1"},
	};
	char root[] = "/tmp/test-table-XXXXXX";
	int ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct count_targets targets = {.cpus = {ids, 8}};
	struct counters c = {.targets = &targets, .nr_cpus = 8, .nr_tasks = 1};

	(void)state;
	make_machine(root);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		struct count_rows rows;

		assert_int_equal(count_rows_init(&rows, &c, tests[i].by, root), 0);
		assert_int_equal(rows.nr, tests[i].nr);
		assert_string_equal(rows.rows[0].name, tests[i].first);
		assert_string_equal(rows.rows[rows.nr - 1].name, tests[i].last);
		for (size_t row = 0; row < rows.nr; row++)
			assert_int_equal(rows.rows[row].nr_cpus, tests[i].nr_cpus);
		for (size_t place = 1; place < 8; place++)
			assert_true(rows.of_place[place] >= rows.of_place[place - 1]);
		count_rows_release(&rows);
	}
	remove_machine(root);
}

/* --- figures -------------------------------------------------------------------------------------
 */

#define EVENTS 6

static struct count_event event_of(uint32_t type, uint64_t config)
{
	return (struct count_event){.attr = {.type = type, .config = config},
				    .scale = 1,
				    .unit = "",
				    .supported = true};
}

static struct count_cell cell_of(double value)
{
	return (struct count_cell){
		.value = {1, value, 0}, .enabled = 10, .running = 10, .present = true};
}

static void expect(const struct count_table *table, size_t event, double value, const char *unit)
{
	struct count_figure f = count_figure(table, 0, event);

	if (!unit) {
		assert_null(f.unit);
		return;
	}
	assert_non_null(f.unit);
	assert_string_equal(f.unit, unit);
	assert_near(f.value, value);
}

static void test_figures(void **state)
{
	struct count_event events[EVENTS] = {
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
		event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
		event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
		event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES),
		event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
	};
	struct count_cell cells[EVENTS] = {cell_of(2e9), cell_of(6e9), cell_of(9e9),
					   cell_of(1e6), cell_of(4e6), cell_of(5000)};
	struct count_table table = {
		.events = events, .nr_events = EVENTS, .cells = cells, .elapsed = {1, 1e9, 0}};

	(void)state;
	expect(&table, 0, 2, "CPUs utilized");
	expect(&table, 1, 3, "GHz");
	expect(&table, 2, 1.5, "insn per cycle");
	expect(&table, 3, 25, "% of all branches");
	expect(&table, 4, 2, "M/sec");
	expect(&table, 5, 2.5, "K/sec");
	/* Cycles of user space say nothing about all instructions. */
	events[1].attr.flags |= PD_ATTR_EXCLUDE_KERNEL;
	expect(&table, 2, 4.5, "G/sec");
	/* What did not run has no figure, and makes none. */
	events[1].attr.flags = 0;
	cells[4].running = 0;
	expect(&table, 4, 0, NULL);
	expect(&table, 3, 500, "K/sec");
	cells[0].present = false;
	expect(&table, 5, 0, NULL);
	expect(&table, 2, 1.5, "insn per cycle");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
