// SPDX-License-Identifier: Apache-2.0
/* From options to attributes, CPUs and rings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/regs.h"
#include "record/plan/attributes.h"
#include "record/plan/plan.h"

static const struct limits root = {
	.perfmon = true,
	.ipc_lock = true,
	.ptrace = true,
	.paranoid = 2,
	.mlock_kb = 516,
	.memlock = 8 << 20,
	.mem_total = 64ull << 30,
	.max_sample_rate = 100000,
	.page_size = 4096,
};

static const struct limits user = {
	.paranoid = 2,
	.mlock_kb = 516,
	.memlock = 8 << 20,
	.mem_total = 64ull << 30,
	.max_sample_rate = 100000,
	.page_size = 4096,
};

#define BASE                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_PERIOD)

/* A plan of @opts with @events; the last one of the plan is the dummy. */
static struct plan *make(struct plan_opts *opts, const char *events, const struct limits *limits)
{
	struct error err = ERROR_INIT;
	struct plan *plan = NULL;

	if (events)
		assert_int_equal(event_parse(&opts->events, events, NULL, &err), 0);
	if (plan_new(opts, limits, NULL, &plan, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < plan->nr; i++) {
		const struct pd_attr *a = &plan->events[i].attr;

		/* Trailers and the place of TIME are the same for all. */
		assert_int_equal(pd_attr_id_trailer_size(a),
				 pd_attr_id_trailer_size(&plan->events[0].attr));
		assert_int_equal(a->sample_type & BASE & ~PERF_SAMPLE_PERIOD,
				 BASE & ~PERF_SAMPLE_PERIOD);
		assert_true(a->flags & PD_ATTR_SAMPLE_ID_ALL);
		assert_true(a->flags & PD_ATTR_WATERMARK || plan->unbuffered);
		assert_int_equal(plan->events[i].dummy, i == plan->nr - 1);
	}
	return plan;
}

static void finish(struct plan_opts *opts, struct plan *plan)
{
	plan_free(plan);
	event_list_release(&opts->events);
	cpus_release(&opts->target.cpus);
	tasks_release(&opts->target.tasks);
}

static const char *const command[] = {"true", NULL};

static void test_command(void **state)
{
	struct plan_opts opts = {.target.command = command};
	struct plan *plan = make(&opts, "cpu-clock", &user);
	const struct pd_attr *a = &plan->events[0].attr, *dummy = &plan->events[1].attr;

	assert_int_equal(plan->target, TARGET_COMMAND);
	assert_int_equal(plan->nr, 2);
	assert_int_equal(a->sample_type, BASE | PERF_SAMPLE_CPU);
	assert_true(dummy->sample_type & PERF_SAMPLE_CPU);
	assert_int_equal(a->sample_period, 4000);
	assert_true(a->flags & PD_ATTR_FREQ);
	assert_int_equal(a->flags & (PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC | PD_ATTR_INHERIT),
			 PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC | PD_ATTR_INHERIT);
	assert_false(a->flags & (PD_ATTR_MMAP | PD_ATTR_COMM | PD_ATTR_TASK));
	assert_false(dummy->flags & (PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC));
	assert_true(dummy->flags & PD_ATTR_MMAP2);
	/* Unless asked for: it would mark the maps of other recorders. */
	assert_false((a->flags | dummy->flags) & PD_ATTR_BUILD_ID);
	assert_false(plan_build_ids(plan));
	/* What needs CAP_PERFMON is not asked for. */
	assert_true(dummy->flags & PD_ATTR_EXCLUDE_KERNEL);
	assert_false(dummy->flags & PD_ATTR_NAMESPACES);
	assert_int_equal(plan_set_command(plan, 4711), 0);
	assert_int_equal(plan->tasks.nr, 1);
	assert_int_equal(plan_places(plan), plan->cpus.nr);
	assert_int_equal(plan_descriptors(plan), 2 * plan->cpus.nr);
	finish(&opts, plan);
}

/* The file says on which CPU it was lost wherever rings are by CPU; by task, they tell no CPU. */
static void test_cpu_of_what_is_lost(void **state)
{
	for (int rings_by_task = 0; rings_by_task < 2; rings_by_task++) {
		struct plan_opts opts = {.target.command = command,
					 .target.no_inherit = rings_by_task};
		struct plan *plan = make(&opts, "cpu-clock", &user);

		assert_int_equal(plan->task_rings, rings_by_task);
		for (size_t i = 0; i < plan->nr; i++)
			assert_int_equal(!(plan->events[i].attr.sample_type & PERF_SAMPLE_CPU),
					 rings_by_task);
		finish(&opts, plan);
	}
}

/* --all-user and --all-kernel go before modifiers, but leave the dummy's maps and names alone. */
static void test_levels_of_all_events(void **state)
{
	const uint64_t levels = PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL;

	for (int all_user = 0; all_user < 2; all_user++) {
		struct plan_opts opts = {
			.target.all_cpus = true,
			.sample.all_user = all_user,
			.sample.all_kernel = !all_user,
			.sample.user_callchains = all_user,
			.sample.kernel_callchains = !all_user,
			.sample.callgraph = CALLGRAPH_FP,
		};
		struct plan *plan = make(&opts, "cpu-clock,cycles:k,cycles:u", &root);

		for (size_t i = 0; i + 1 < plan->nr; i++) {
			uint64_t flags = plan->events[i].attr.flags;

			assert_int_equal(flags & levels,
					 all_user ? PD_ATTR_EXCLUDE_KERNEL : PD_ATTR_EXCLUDE_USER);
			assert_int_equal(!(flags & PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL), !all_user);
			assert_int_equal(!(flags & PD_ATTR_EXCLUDE_CALLCHAIN_USER), all_user);
		}
		assert_true(plan->events[plan->nr - 1].dummy);
		assert_int_equal(plan->events[plan->nr - 1].attr.flags & levels, 0);
		finish(&opts, plan);
	}
}

/* --latency: one event brings the switches, in the ring of samples. */
static void test_switches(void **state)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		struct plan_opts opts = {.target.all_cpus = true, .sample.add_switches = wanted};
		struct plan *plan = make(&opts, "cpu-clock,page-faults", &root);

		for (size_t i = 0; i < plan->nr; i++)
			assert_int_equal(!(plan->events[i].attr.flags & PD_ATTR_CONTEXT_SWITCH),
					 !wanted || i);
		finish(&opts, plan);
	}
}

static void test_whole_system(void **state)
{
	struct plan_opts opts = {.target.all_cpus = true, .sample.frequency = 99};
	struct plan *plan = make(&opts, "cpu-clock,page-faults/period=7/", &root);
	const struct pd_attr *a = &plan->events[0].attr;

	assert_int_equal(plan->target, TARGET_CPUS);
	assert_int_equal(a->sample_type, BASE | PERF_SAMPLE_CPU);
	assert_int_equal(a->sample_period, 99);
	assert_false(a->flags & (PD_ATTR_INHERIT | PD_ATTR_ENABLE_ON_EXEC));
	assert_true(a->flags & PD_ATTR_DISABLED);
	assert_true(plan->events[2].attr.flags & PD_ATTR_NAMESPACES);
	assert_int_equal(plan->ring_size, RECORD_RING_SIZE);
	assert_int_equal(a->wakeup_events, 1 << 20);
	plan_set_ring_size(plan, 512 << 10, PLAN_SIDEBAND_SIZE);
	assert_int_equal(a->wakeup_events, 128 << 10);
	assert_int_equal(plan->events[2].attr.wakeup_events, PLAN_SIDEBAND_WAKE);
	finish(&opts, plan);
}

/* A plan of cpu-clock and page-faults, the first as if its PMU had an AUX area. */
static struct plan *make_aux(struct plan_opts *opts, const struct limits *limits)
{
	struct error err = ERROR_INIT;
	struct plan *plan = NULL;

	assert_int_equal(event_parse(&opts->events, "cpu-clock,page-faults", NULL, &err), 0);
	opts->events.specs[0].aux = true;
	opts->events.specs[0].pmu = strdup("trace");
	if (plan_new(opts, limits, NULL, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void test_aux_areas(void **state)
{
	struct plan_opts opts = {.target.all_cpus = true};
	struct plan *plan = make_aux(&opts, &root);
	const struct plan_event *e = plan->events;

	assert_int_equal(plan_ring_kind(&e[0]), RING_AUX);
	assert_int_equal(plan_ring_kind(&e[1]), RING_SAMPLES);
	assert_int_equal(plan->aux_mode, AUX_FULL);
	assert_int_equal(plan_aux_areas(plan), plan->cpus.nr);
	assert_int_equal(plan_sample_rings(plan), plan->cpus.nr);
	assert_int_equal(plan->aux_size, RECORD_AUX_SIZE);
	assert_int_equal(e[0].attr.aux_watermark, RECORD_AUX_SIZE / 4);
	assert_int_equal(e[1].attr.aux_watermark, 0);
	assert_int_equal(e[0].attr.sample_period, 1);
	assert_false(e[0].attr.flags & (PD_ATTR_FREQ | PD_ATTR_WRITE_BACKWARD));
	assert_true(e[0].attr.flags & PD_ATTR_CONTEXT_SWITCH);
	plan_set_aux_size(plan, 64 << 10);
	assert_int_equal(e[0].attr.aux_watermark, 16 << 10);
	finish(&opts, plan);

	opts = (struct plan_opts){.target.command = command};
	plan = make_aux(&opts, &user);
	assert_int_equal(plan->aux_size, RECORD_AUX_SIZE_USER);
	finish(&opts, plan);

	/* perf fails at a switch without CPU, which rings by task do not need otherwise. */
	opts = (struct plan_opts){.target = {.command = command, .no_inherit = true}};
	plan = make_aux(&opts, &user);
	assert_true(plan->task_rings);
	for (size_t i = 0; i < plan->nr; i++)
		assert_true(plan->events[i].attr.sample_type & PERF_SAMPLE_CPU);
	finish(&opts, plan);
}

/* The second event samples for the group of an AUX event, and all counts are read with it. */
static void test_aux_leads_group_that_is_read(void **state)
{
	static const uint64_t periods[] = {1, 1000, 0};

	for (int leader = 0; leader < 2; leader++) {
		struct plan_opts opts = {.target.command = command, .sample.period = 1000};
		struct error err = ERROR_INIT;
		const struct plan_event *e;
		struct plan *plan;

		assert_int_equal(event_parse(&opts.events,
					     leader ? "page-faults,{cpu-clock,cs,faults}:S"
						    : "{cpu-clock,cs,faults}:S",
					     NULL, &err),
				 0);
		opts.events.specs[leader].aux = true;
		opts.events.specs[leader].pmu = strdup("trace");
		assert_int_equal(plan_new(&opts, &user, NULL, &plan, &err), 0);
		e = plan->events + leader;
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(e[i].attr.sample_period, periods[i]);
			assert_false(e[i].attr.flags & (PD_ATTR_INHERIT | PD_ATTR_FREQ));
			assert_true(e[i].attr.sample_type & PERF_SAMPLE_READ);
			assert_true(e[i].attr.read_format & PERF_FORMAT_GROUP);
		}
		finish(&opts, plan);
	}
}

/* The ring beside an area has its AUX records: a larger one, which the user asked for, loses fewer.
 */
static void test_rings_beside_aux_areas(void **state)
{
	static const struct {
		uint64_t asked, size;
	} rows[] = {{0, PLAN_SIDEBAND_SIZE}, {64 << 10, PLAN_SIDEBAND_SIZE}, {8 << 20, 8 << 20}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan_opts opts = {.target.all_cpus = true, .ring_size = rows[i].asked};
		struct plan *plan = make_aux(&opts, &root);

		assert_int_equal(plan->beside_size, rows[i].size);
		assert_int_equal(plan->sideband_size, PLAN_SIDEBAND_SIZE);
		assert_true(plan->events[0].attr.wakeup_events <= rows[i].size / 4);
		plan_set_ring_size(plan, plan->ring_size / 2, plan->sideband_size / 2);
		assert_int_equal(plan->beside_size, rows[i].size / 2);
		finish(&opts, plan);
	}
}

/* Overwritten areas need no watermark, and hold at least a snapshot. */
static void test_aux_snapshots(void **state)
{
	struct plan_opts opts = {
		.target.command = command,
		.aux = {.snapshot = true, .snapshot_size = 1 << 20},
	};
	struct plan *plan = make_aux(&opts, &user);

	assert_int_equal(plan->aux_mode, AUX_SNAPSHOT);
	assert_int_equal(plan->aux_size, 1 << 20);
	assert_int_equal(plan->events[0].attr.aux_watermark, 0);
	finish(&opts, plan);
}

/* Rings by CPU need more in the trace than rings by task. */
static void test_aux_config(void **state)
{
	static const struct {
		bool by_task, samples;
		uint64_t config;
	} rows[] = {{false, false, 0xf5}, {true, false, 0xf4}, {false, true, 0x05}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan_opts opts = {.target.command = command,
					 .target.no_inherit = rows[i].by_task};
		struct error err = ERROR_INIT;
		struct event_spec *specs;
		struct plan *plan;

		assert_int_equal(event_parse(&opts.events, "cpu-clock,faults", NULL, &err), 0);
		specs = opts.events.specs;
		specs[0].aux = true;
		specs[0].pmu = strdup("trace");
		specs[0].attr.config = 0xf4;
		specs[0].aux_by_cpu = 1;
		specs[0].aux_unsampled = 0xf0;
		specs[1].attr.aux_sample_size = rows[i].samples ? 64 : 0;
		assert_int_equal(plan_new(&opts, &user, NULL, &plan, &err), 0);
		assert_int_equal(plan->events[0].attr.config, rows[i].config);
		finish(&opts, plan);
	}
}

/* -c sets the period of an AUX event that has a default, unless a term does. */
static void test_aux_period(void **state)
{
	static const struct {
		uint64_t of_spec, of_option, expected;
		bool explicit;
	} rows[] = {{0, 0, 1, false},
		    {0, 77, 1, false},
		    {1024, 0, 1024, false},
		    {1024, 77, 77, false},
		    {1024, 77, 1024, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan_opts opts = {.target.command = command,
					 .sample.period = rows[i].of_option};
		struct error err = ERROR_INIT;
		struct plan *plan;

		assert_int_equal(event_parse(&opts.events, "cpu-clock", NULL, &err), 0);
		opts.events.specs[0].aux = true;
		opts.events.specs[0].attr.sample_period = rows[i].of_spec;
		opts.events.specs[0].explicit_period = rows[i].explicit;
		assert_int_equal(plan_new(&opts, &user, NULL, &plan, &err), 0);
		assert_int_equal(plan->events[0].attr.sample_period, rows[i].expected);
		finish(&opts, plan);
	}
}

/* Whether a trace has guests may depend on the machine, whatever modifiers say. */
static void test_aux_guests(void **state)
{
	static const char *const events[] = {"cpu-clock", "cpu-clock:k", "cpu-clock:u"};
	static const bool by_modifiers[] = {true, false, true};

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		for (int exclude = -1; exclude <= 1; exclude++) {
			struct plan_opts opts = {.target.all_cpus = true};
			struct error err = ERROR_INIT;
			struct plan *plan;

			assert_int_equal(event_parse(&opts.events, events[i], NULL, &err), 0);
			opts.events.specs[0].aux = true;
			opts.events.specs[0].exclude_guest = exclude;
			assert_int_equal(plan_new(&opts, &root, NULL, &plan, &err), 0);
			assert_int_equal(!!(plan->events[0].attr.flags & PD_ATTR_EXCLUDE_GUEST),
					 exclude < 0 ? by_modifiers[i] : exclude);
			finish(&opts, plan);
		}
}

/* Decoders need the kernel's changes of its code, which only events of CPUs see. */
static void test_aux_text_pokes(void **state)
{
	static const struct {
		const char *pmu, *event;
		bool all_cpus, pokes;
	} rows[] = {
		{"intel_pt", "cpu-clock", true, true},
		{"intel_pt", "cpu-clock:u", true, false},
		{"intel_pt", "cpu-clock", false, false},
		{"cs_etm", "cpu-clock", true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan_opts opts = {
			.target = {.all_cpus = rows[i].all_cpus, .command = command}};
		struct error err = ERROR_INIT;
		struct plan *plan;

		assert_int_equal(event_parse(&opts.events, rows[i].event, NULL, &err), 0);
		opts.events.specs[0].aux = true;
		opts.events.specs[0].pmu = strdup(rows[i].pmu);
		assert_int_equal(plan_new(&opts, &root, NULL, &plan, &err), 0);
		assert_int_equal(!!(plan->events[1].attr.flags & PD_ATTR_TEXT_POKE), rows[i].pokes);
		finish(&opts, plan);
	}
}

static void test_unbuffered(void **state)
{
	struct plan_opts opts = {.target.all_cpus = true, .unbuffered = true};
	struct plan *plan = make(&opts, "cpu-clock,page-faults", &root);

	for (size_t i = 0; i < plan->nr; i++) {
		assert_int_equal(plan->events[i].attr.wakeup_events, 1);
		assert_int_equal(!(plan->events[i].attr.flags & PD_ATTR_WATERMARK),
				 !plan->events[i].dummy);
	}
	finish(&opts, plan);
}

static void test_dummy_on_all_cpus(void **state)
{
	struct plan_opts opts = {0};
	struct error err = ERROR_INIT;
	struct plan *plan;

	assert_int_equal(cpus_parse("0", &opts.target.cpus, &err), 0);
	plan = make(&opts, "cpu-clock", &root);
	for (size_t i = 0; i < plan->cpus.nr; i++) {
		int cpu = plan->cpus.ids[i];

		assert_int_equal(plan_wants(plan, &plan->events[0], cpu), cpu == 0);
		assert_true(plan_wants(plan, &plan->events[1], cpu));
	}
	assert_int_equal(plan_descriptors(plan), 1 + plan->cpus.nr);
	finish(&opts, plan);
}

static void test_tasks(void **state)
{
	struct plan_opts opts = {.target.no_inherit = true};
	struct error err = ERROR_INIT;
	struct plan *plan;

	assert_int_equal(tasks_add_threads(&opts.target.tasks, getpid(), &err), 0);
	plan = make(&opts, "cpu-clock", &user);
	assert_int_equal(plan->target, TARGET_TASKS);
	/* Not inherited: a ring for each task, wherever it runs. */
	assert_true(plan->task_rings);
	assert_int_equal(plan_places(plan), opts.target.tasks.nr);
	assert_false(plan->events[0].attr.flags & PD_ATTR_INHERIT);
	finish(&opts, plan);
}

static void test_call_graphs(void **state)
{
	struct plan_opts opts = {.target.command = command, .sample.callgraph = CALLGRAPH_FP};
	struct plan *plan = make(&opts, "cpu-clock", &user);

	assert_int_equal(plan->events[0].attr.sample_type,
			 BASE | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN);
	assert_false(plan->events[1].attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	finish(&opts, plan);

	opts = (struct plan_opts){.target.command = command,
				  .sample.callgraph = CALLGRAPH_DWARF,
				  .sample.stack_size = 4096};
	plan = make(&opts, "cpu-clock", &user);
	assert_int_equal(plan->events[0].attr.sample_type,
			 BASE | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				 PERF_SAMPLE_STACK_USER);
	assert_int_equal(plan->events[0].attr.sample_stack_user, 4096);
	assert_int_equal(plan->events[0].attr.sample_regs_user, pd_regs_general(NULL));
	assert_true(plan->events[0].attr.flags & PD_ATTR_EXCLUDE_CALLCHAIN_USER);
	assert_true(plan_data_maps(plan)); /* perf wants them */
	finish(&opts, plan);
}

/* Each option by itself, and what it asks of the kernel. */
static void test_options_of_samples(void **state)
{
	static const struct {
		struct sample_opts opts;
		uint64_t type;
	} rows[] = {
		{{.add_weight = true}, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
		{{.add_transaction = true}, PERF_SAMPLE_TRANSACTION},
		{{.add_physical = true}, PERF_SAMPLE_PHYS_ADDR},
		{{.add_data_page = true}, PERF_SAMPLE_DATA_PAGE_SIZE},
		{{.add_code_page = true}, PERF_SAMPLE_CODE_PAGE_SIZE},
		{{.add_cgroup = true}, PERF_SAMPLE_CGROUP},
		{{.add_mem_info = true}, PERF_SAMPLE_DATA_SRC},
		{{.user_regs = 3}, PERF_SAMPLE_REGS_USER},
		{{.intr_regs = 3}, PERF_SAMPLE_REGS_INTR},
		{{.branches = PERF_SAMPLE_BRANCH_ANY}, PERF_SAMPLE_BRANCH_STACK},
		{{.callgraph = CALLGRAPH_LBR}, PERF_SAMPLE_BRANCH_STACK},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan_opts opts = {.target.command = command, .sample = rows[i].opts};
		struct plan *plan = make(&opts, "cpu-clock", &user);
		const struct pd_attr *a = &plan->events[0].attr;

		assert_true(a->sample_type & rows[i].type);
		assert_false(plan->events[1].attr.sample_type & rows[i].type);
		assert_int_equal(a->sample_regs_user, rows[i].opts.user_regs);
		assert_int_equal(a->sample_regs_intr, rows[i].opts.intr_regs);
		if (rows[i].opts.callgraph == CALLGRAPH_LBR)
			assert_true(a->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
		else
			assert_int_equal(a->branch_sample_type, rows[i].opts.branches);
		finish(&opts, plan);
	}
}

/* A term of an event overrides the option, and one branch stack serves one purpose. */
static void test_branch_stacks(void **state)
{
	struct plan_opts opts = {.target.command = command,
				 .sample.branches = PERF_SAMPLE_BRANCH_ANY};
	struct plan *plan = make(&opts, "cpu-clock/branch_type=ind_call/", &user);
	struct error err = ERROR_INIT;

	assert_int_equal(plan->events[0].attr.branch_sample_type, PERF_SAMPLE_BRANCH_IND_CALL);
	assert_true(plan->events[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	plan_free(plan);
	event_list_release(&opts.events);
	plan = make(&opts, "cpu-clock/branch_type=no/", &user);
	assert_int_equal(plan->events[0].attr.branch_sample_type, 0);
	assert_false(plan->events[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	finish(&opts, plan);
	plan_free(make(&opts, "cpu-clock/branch_type=ind_call/", &user));
	opts.sample.callgraph = CALLGRAPH_LBR;
	assert_int_equal(plan_new(&opts, &user, NULL, &plan, &err), -EINVAL);
	assert_non_null(strstr(err.text, "lbr"));
	event_list_release(&opts.events);
}

/* The kernel refuses a tracepoint with a branch stack. */
static void test_scheduling_has_no_branch_stacks(void **state)
{
	struct plan_opts opts = {.target.command = command,
				 .sample.branches = PERF_SAMPLE_BRANCH_ANY};
	struct error err = ERROR_INIT;
	struct plan *plan;

	assert_int_equal(event_parse(&opts.scheduling, "context-switches", NULL, &err), 0);
	plan = make(&opts, "cpu-clock", &root);
	assert_true(plan->events[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_false(plan->events[1].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(plan->events[1].attr.branch_sample_type, 0);
	event_list_release(&opts.scheduling);
	finish(&opts, plan);
}

static void test_counts_of_threads(void **state)
{
	struct plan_opts opts = {.target.command = command,
				 .sample = {.thread_counts = true, .no_samples = true}};
	struct plan *plan = make(&opts, "cpu-clock", &user);
	const struct pd_attr *a = &plan->events[0].attr;

	assert_true(a->flags & PD_ATTR_INHERIT_STAT);
	assert_true(a->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	assert_int_equal(a->sample_period, 0);
	assert_false(a->flags & PD_ATTR_FREQ);
	finish(&opts, plan);
}

/* Cgroups are of CPUs, since the kernel opens their events by CPU. */
static void test_cgroups(void **state)
{
	struct plan_opts opts = {.target.all_cpus = true};
	struct error err = ERROR_INIT;
	struct plan *plan;

	assert_int_equal(event_parse(&opts.events, "cpu-clock,page-faults", NULL, &err), 0);
	assert_int_equal(event_list_cgroups(&opts.events, "a,b", &err), 0);
	plan = make(&opts, NULL, &root);
	assert_string_equal(plan->events[0].cgroup, "a");
	assert_string_equal(plan->events[1].cgroup, "b");
	assert_null(plan->events[2].cgroup);
	plan_free(plan);
	opts.events.specs[1].leader = 0;
	assert_int_equal(plan_new(&opts, &root, NULL, &plan, &err), -EINVAL);
	assert_non_null(strstr(err.text, "different cgroups"));
	opts.events.specs[1].leader = 1;
	opts.target.all_cpus = false;
	opts.target.command = command;
	assert_int_equal(plan_new(&opts, &root, NULL, &plan, &err), -EINVAL);
	event_list_release(&opts.events);
}

static void test_what_samples_carry(void **state)
{
	struct plan_opts opts = {
		.target.command = command,
		.sample.period = 3,
		.sample.add_address = true,
		.sample.add_raw = true,
		.sample.add_period = true,
		.sample.use_clockid = true,
		.sample.clockid = CLOCK_MONOTONIC,
		.delay_ms = 10,
	};
	struct plan *plan = make(&opts, "page-faults", &user);
	const struct pd_attr *a = &plan->events[0].attr;

	assert_int_equal(a->sample_type, BASE | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
						 PERF_SAMPLE_RAW | PERF_SAMPLE_CPU);
	assert_int_equal(a->sample_period, 3);
	assert_false(a->flags & PD_ATTR_FREQ);
	assert_true(a->flags & PD_ATTR_USE_CLOCKID);
	assert_int_equal(a->clockid, CLOCK_MONOTONIC);
	assert_false(a->flags & PD_ATTR_ENABLE_ON_EXEC); /* but by the timer */
	/* Events that share a ring share a clock. */
	assert_int_equal(plan->events[1].attr.clockid, CLOCK_MONOTONIC);
	assert_true(plan->events[1].attr.flags & PD_ATTR_MMAP_DATA);
	assert_true(plan_data_maps(plan));
	finish(&opts, plan);
}

/* By name or by number. */
static void test_each_one_is_a_sample(void **state)
{
	struct plan_opts opts = {.target.command = command};
	struct plan *plan = make(&opts, "2:7,5:0,mem:0x1000:w,cpu-clock", &user);

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(plan->events[i].attr.sample_period, 1);
		assert_false(plan->events[i].attr.flags & PD_ATTR_FREQ);
	}
	assert_true(plan->events[3].attr.flags & PD_ATTR_FREQ);
	finish(&opts, plan);

	opts = (struct plan_opts){.target.command = command, .sample.frequency = 99};
	plan = make(&opts, "2:7,mem:0x1000:w", &user);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(plan->events[i].attr.sample_period, 99);
		assert_true(plan->events[i].attr.flags & PD_ATTR_FREQ);
	}
	finish(&opts, plan);
}

static void test_groups(void **state)
{
	struct plan_opts opts = {.target.command = command};
	struct plan *plan = make(&opts, "page-faults,{task-clock,cpu-clock}:S", &user);

	assert_int_equal(plan->events[0].leader, 0);
	assert_int_equal(plan->events[1].leader, 1);
	assert_int_equal(plan->events[1].members, 2);
	assert_int_equal(plan->events[2].leader, 1);
	assert_int_equal(plan->events[2].members, 0);
	assert_true(plan->events[1].attr.flags & PD_ATTR_DISABLED);
	assert_false(plan->events[2].attr.flags & (PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC));
	assert_true(plan->events[1].attr.read_format & PERF_FORMAT_GROUP);
	assert_true(plan->events[1].attr.sample_type & PERF_SAMPLE_READ);
	assert_int_equal(plan->events[1].attr.sample_period, 4000);
	assert_int_equal(plan->events[2].attr.sample_period, 0);
	assert_false(plan->events[1].attr.flags & PD_ATTR_INHERIT);
	assert_false(plan->events[0].attr.read_format & PERF_FORMAT_GROUP);
	finish(&opts, plan);
}

struct heard {
	int lines;
};

static void hear(enum message_level level, const char *text, void *arg)
{
	((struct heard *)arg)->lines++;
}

static void test_frequency_is_bound(void **state)
{
	struct plan_opts opts = {.target.command = command, .sample.frequency = 250000};
	struct heard heard = {0};
	const struct messages messages = {hear, &heard};
	struct error err = ERROR_INIT;
	struct plan *plan;

	assert_int_equal(event_parse(&opts.events, "cpu-clock", NULL, &err), 0);
	assert_int_equal(plan_new(&opts, &user, &messages, &plan, &err), 0);
	assert_int_equal(plan->events[0].attr.sample_period, 100000);
	assert_int_equal(heard.lines, 1);
	finish(&opts, plan);

	opts = (struct plan_opts){.target.command = command, .sample.frequency_max = true};
	plan = make(&opts, "cpu-clock", &user);
	assert_int_equal(plan->events[0].attr.sample_period, 100000);
	finish(&opts, plan);
}

static void test_refused(void **state)
{
	struct plan_opts opts = {.target.all_cpus = true};
	struct error err = ERROR_INIT;
	struct plan *plan = NULL;

	assert_int_equal(plan_new(&opts, &user, NULL, &plan, &err), -EACCES);
	assert_non_null(strstr(err.text, "perf_event_paranoid"));
	assert_non_null(strstr(err.text, "CAP_PERFMON"));

	assert_int_equal(tasks_add_thread(&opts.target.tasks, getpid(), &err), 0);
	assert_int_equal(plan_new(&opts, &root, NULL, &plan, &err), -EINVAL);
	tasks_release(&opts.target.tasks);

	opts.target.all_cpus = false;
	assert_int_equal(cpus_parse("60000", &opts.target.cpus, &err), 0);
	assert_int_equal(plan_new(&opts, &root, NULL, &plan, &err), -ENODEV);
	assert_non_null(strstr(err.text, "60000"));
	assert_null(plan);
	cpus_release(&opts.target.cpus);
}

static void test_ring_sizes(void **state)
{
	struct limits l = root;

	assert_int_equal(limits_ring_size(&l, 8 << 20, 2, 0, 2), 8 << 20);
	/* 1/64 of 1 GB is 16 MB: 4 MB for each of four rings. */
	l.mem_total = 1ull << 30;
	assert_int_equal(limits_ring_size(&l, 8 << 20, 4, 0, 4), 4 << 20);
	assert_int_equal(limits_ring_size(&l, 8 << 20, 100000, 0, 4), 4096);
	/* 8 MB of memlock and 2 × 516 KB for two rings with their header pages: 4 MB each. */
	assert_int_equal(limits_ring_size(&user, 8 << 20, 2, 4096, 2), 4 << 20);
	l = user;
	l.memlock = 0;
	assert_int_equal(limits_ring_size(&l, 8 << 20, 1, 0, 1), 512 << 10);
	l.paranoid = -1;
	assert_int_equal(limits_ring_size(&l, 8 << 20, 1, 0, 1), 8 << 20);
}

/* Rings of sideband give way to those of samples, which are as large as may be. */
static void test_default_rings_of_users(void **state)
{
	static const struct {
		uint64_t memlock, ring, sideband; /* KB, for each CPU */
	} cases[] = {
		{0, 256, 128},	   /* of 516 */
		{64, 256, 256},	   /* of 580 */
		{512, 512, 256},   /* of 1028 */
		{4096, 4096, 256}, /* of 4612, which 512 and the pages of both do not fit */
		{8192, 8192, 256},
	};
	struct plan_opts opts = {.target.all_cpus = true};
	struct limits l = user;

	l.paranoid = 0;
	l.mem_total = 1ull << 40;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plan *plan;

		l.memlock = 0;
		plan = make(&opts, "cpu-clock", &l);
		l.memlock = cases[i].memlock * 1024 * plan->online;
		finish(&opts, plan);
		opts = (struct plan_opts){.target.all_cpus = true};
		plan = make(&opts, "cpu-clock", &l);
		assert_int_equal(plan->ring_size, cases[i].ring << 10);
		assert_int_equal(plan->sideband_size, cases[i].sideband << 10);
		finish(&opts, plan);
		opts = (struct plan_opts){.target.all_cpus = true};
	}
}

/* What may be locked is for the rings that there are: sideband comes from all CPUs, samples not. */
static void test_rings_of_some_cpus(void **state)
{
	struct limits l = root;
	struct plan_opts opts = {.sample.frequency = 99};
	struct error err = ERROR_INIT;
	struct plan *plan;

	l.mem_total = 64ull * RECORD_RING_SIZE;
	assert_int_equal(cpus_parse("0", &opts.target.cpus, &err), 0);
	plan = make(&opts, "cpu-clock", &l);
	assert_int_equal(plan_sample_rings(plan), 1);
	assert_int_equal(plan->ring_size, RECORD_RING_SIZE);
	assert_int_equal(plan_places(plan), plan->online);
	finish(&opts, plan);
	opts = (struct plan_opts){.target.all_cpus = true};
	plan = make(&opts, "cpu-clock", &root);
	assert_int_equal(plan_sample_rings(plan), plan->online);
	finish(&opts, plan);
	opts = (struct plan_opts){.target.command = command, .target.no_inherit = true};
	plan = make(&opts, "cpu-clock", &root);
	assert_int_equal(plan_sample_rings(plan), 1);
	finish(&opts, plan);
}

static void test_cpu_lists(void **state)
{
	static const struct {
		const char *list;
		int rc;
		size_t nr;
		int last;
	} rows[] = {
		{"0", 0, 1, 0},
		{"0-3,5", 0, 5, 5},
		{"5,0-3,2", 0, 5, 5},
		{"7-7", 0, 1, 7},
		{"", -EINVAL, 0, 0},
		{"0-", -EINVAL, 0, 0},
		{"-3", -EINVAL, 0, 0},
		{"3-1", -EINVAL, 0, 0},
		{"1,,2", -EINVAL, 0, 0},
		{"1,", -EINVAL, 0, 0},
		{"a", -EINVAL, 0, 0},
		{"0-3x", -EINVAL, 0, 0},
		{" 1", -EINVAL, 0, 0},
		{"70000", -ERANGE, 0, 0},
		{"99999999999999999999", -ERANGE, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = ERROR_INIT;
		struct cpus set = {0};

		assert_int_equal(cpus_parse(rows[i].list, &set, &err), rows[i].rc);
		assert_int_equal(set.nr, rows[i].nr);
		if (rows[i].rc)
			assert_true(err.text[0]);
		else
			assert_int_equal(set.ids[set.nr - 1], rows[i].last);
		cpus_release(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_levels_of_all_events),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_whole_system),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_aux_areas),
		cmocka_unit_test(test_aux_leads_group_that_is_read),
		cmocka_unit_test(test_rings_beside_aux_areas),
		cmocka_unit_test(test_aux_snapshots),
		cmocka_unit_test(test_aux_config),
		cmocka_unit_test(test_aux_period),
		cmocka_unit_test(test_aux_guests),
		cmocka_unit_test(test_aux_text_pokes),
		cmocka_unit_test(test_unbuffered),
		cmocka_unit_test(test_dummy_on_all_cpus),
		cmocka_unit_test(test_call_graphs),
		cmocka_unit_test(test_what_samples_carry),
		cmocka_unit_test(test_options_of_samples),
		cmocka_unit_test(test_branch_stacks),
		cmocka_unit_test(test_scheduling_has_no_branch_stacks),
		cmocka_unit_test(test_counts_of_threads),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_each_one_is_a_sample),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_frequency_is_bound),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ring_sizes),
		cmocka_unit_test(test_default_rings_of_users),
		cmocka_unit_test(test_rings_of_some_cpus),
		cmocka_unit_test(test_cpu_lists),
		cmocka_unit_test(test_cpu_of_what_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
