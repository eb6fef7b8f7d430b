// SPDX-License-Identifier: Apache-2.0
/* Opens plans on a kernel that has room for all, or for a part: events, rings, files, tasks. */
#include "refusing-kernel.h"

static void test_newest_kernel(void **state)
{
	struct lab lab;

	assert_int_equal(lab_open(&lab, &newest, NULL), 0);
	assert_string_equal(lab.said, "no event given: recording cycles\n");
	assert_int_equal(lab.plan->events[0].attr.flags & PD_ATTR_PRECISE_IP, PD_ATTR_PRECISE_IP);
	assert_int_equal(lab.opened->nr_fds, 2 * lab.plan->cpus.nr);
	for (size_t r = 0; r < lab.opened->nr_rings; r++) {
		enum ring_kind kind = lab.opened->rings[r].kind;
		bool used = kind == RING_SAMPLES || kind == RING_SIDEBAND;

		assert_int_equal(lab.opened->rings[r].memory != NULL, used);
		assert_int_equal(lab.opened->rings[r].nr_fds, used);
	}
	lab_close(&lab);
}

/* Each CPU has a ring for each kind of events, and never two kinds in one ring. */
static void test_rings_by_kind(void **state)
{
	struct lab lab;

	assert_int_equal(
		lab_open(&lab, &newest, "cpu-clock/overwrite/,page-faults,task-clock/overwrite/"),
		0);
	assert_int_equal(lab.opened->nr_rings, RING_KINDS * lab.plan->cpus.nr);
	assert_int_equal(kernel.mapped, (RING_KINDS - 1) * lab.plan->cpus.nr); /* no AUX event */
	assert_int_equal(kernel.overwritten, lab.plan->cpus.nr);
	for (size_t i = 0; i < lab.opened->nr_fds; i++) {
		const struct open_fd *f = &lab.opened->fds[i];
		const struct plan_event *event = &lab.plan->events[f->event];
		const struct open_ring *ring = &lab.opened->rings[f->ring];

		assert_int_equal(ring->kind, plan_ring_kind(event));
		assert_int_equal(ring->cpu, f->cpu);
		assert_int_equal(ring->kind == RING_OVERWRITTEN,
				 !!(event->attr.flags & PD_ATTR_WRITE_BACKWARD));
		assert_int_equal(ring->nr_fds, ring->kind == RING_OVERWRITTEN ? 2 : 1);
	}
	lab_close(&lab);
}

static void test_rings_are_halved(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), 0);
	k.lock_max = 3 * lab.plan->cpus.nr << 20;
	lab_close(&lab);
	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), 0);
	assert_int_equal(lab.plan->ring_size, 2 << 20);
	assert_int_equal(lab.plan->events[0].attr.wakeup_events, 512 << 10);
	lab_close(&lab);

	k.lock_max = 4096;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), -EPERM);
	assert_non_null(strstr(lab.err.text, "perf_event_mlock_kb"));
	lab_close(&lab);
}

/* As lab_open(), with the first of @events on a PMU that has an AUX area. */
static int lab_open_aux(struct lab *lab, const struct kernel *k, const char *events,
			struct aux_opts aux)
{
	const struct messages messages = {hear, lab};

	kernel = *k;
	*lab = (struct lab){
		.opts = {.target.command = command, .aux = aux},
		.limits = {.perfmon = true,
			   .ipc_lock = true,
			   .max_sample_rate = 100000,
			   .mem_total = 1ull << 40,
			   .page_size = 4096},
	};
	assert_int_equal(event_parse(&lab->opts.events, events, NULL, &lab->err), 0);
	lab->opts.events.specs[0].aux = true;
	lab->opts.events.specs[0].pmu = strdup("trace");
	assert_int_equal(plan_new(&lab->opts, &lab->limits, &messages, &lab->plan, &lab->err), 0);
	assert_int_equal(plan_set_command(lab->plan, 4711), 0);
	return open_plan(lab->plan, &lab->limits, &messages, &lab->opened, &lab->err);
}

/* An AUX area beside a ring of its own on each CPU; the other rings have none. */
static void test_aux_areas(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	assert_int_equal(lab_open_aux(&lab, &k, "cpu-clock,page-faults", (struct aux_opts){0}), 0);
	assert_int_equal(lab.plan->aux_mode, AUX_FULL);
	assert_int_equal(lab.plan->aux_size, RECORD_AUX_SIZE);
	assert_int_equal(kernel.areas, lab.plan->cpus.nr);
	assert_int_equal(plan_aux_areas(lab.plan), lab.plan->cpus.nr);
	for (size_t r = 0; r < lab.opened->nr_rings; r++) {
		const struct open_ring *ring = &lab.opened->rings[r];

		assert_int_equal(ring->aux != NULL, ring->kind == RING_AUX);
		assert_int_equal(ring->memory != NULL, ring->kind != RING_OVERWRITTEN);
		if (ring->aux) {
			assert_int_equal(ring->aux_size, lab.plan->aux_size);
			assert_int_equal(ring->data_size, lab.plan->beside_size);
		}
	}
	lab_close(&lab);
	assert_int_equal(kernel.areas, 0);
}

static void test_aux_areas_are_halved(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	assert_int_equal(lab_open_aux(&lab, &k, "cpu-clock", (struct aux_opts){0}), 0);
	k.lock_max = lab.plan->cpus.nr << 20;
	lab_close(&lab);
	assert_int_equal(lab_open_aux(&lab, &k, "cpu-clock", (struct aux_opts){0}), 0);
	assert_true(lab.plan->aux_size < 1 << 20 && lab.plan->aux_size >= 256 << 10);
	assert_int_equal(lab.plan->events[0].attr.aux_watermark, lab.plan->aux_size / 4);
	lab_close(&lab);

	k.lock_max = 4096;
	assert_int_equal(lab_open_aux(&lab, &k, "cpu-clock", (struct aux_opts){0}), -EPERM);
	assert_non_null(strstr(lab.err.text, "perf_event_mlock_kb"));
	lab_close(&lab);
}

static void test_pmu_without_aux_area(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.no_aux = true;
	assert_int_equal(lab_open_aux(&lab, &k, "cpu-clock", (struct aux_opts){0}), -EOPNOTSUPP);
	assert_non_null(strstr(lab.err.text, "AUX area"));
	lab_close(&lab);
}

static void test_too_many_files(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.files_max = 1;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), -EMFILE);
	assert_non_null(strstr(lab.err.text, "ulimit -n"));
	lab_close(&lab);
}

/*
 * A child that is forked between the two has samples that nobody can name. Also when a step back
 * opens all anew.
 */
static void test_sideband_comes_first(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	for (int pmu = 0; pmu < 2; pmu++) {
		k.pmu = pmu;
		assert_int_equal(lab_open(&lab, &k, NULL), 0);
		assert_false(kernel.late);
		assert_true(lab.plan->events[lab.opened->fds[0].event].dummy);
		lab_close(&lab);
	}
}

/* This process is recorded, and starts a thread while its events are opened. */
static void test_threads_that_come_up_meanwhile(void **state)
{
	for (int spawns = 0; spawns < 8; spawns++) {
		struct lab lab = {.limits = {.perfmon = true, .page_size = 4096}};
		const struct messages messages = {hear, &lab};
		struct opened *o;

		lab.limits.max_sample_rate = 100000;
		lab.limits.mem_total = 1ull << 40;
		kernel = newest;
		assert_int_equal(tasks_add_threads(&lab.opts.target.tasks, getpid(), NULL), 0);
		assert_int_equal(tasks_add_thread(&lab.opts.target.processes, getpid(), NULL), 0);
		assert_int_equal(plan_new(&lab.opts, &lab.limits, &messages, &lab.plan, NULL), 0);
		assert_int_equal(lab.plan->tasks.nr, 1);
		kernel.spawns = spawns;
		assert_int_equal(open_plan(lab.plan, &lab.limits, &messages, &o, NULL), 0);
		assert_int_equal(kernel.spawns, 0);
		assert_int_equal(lab.plan->tasks.nr, 1 + spawns);
		assert_int_equal(o->nr_tasks, 1 + spawns);
		assert_int_equal(o->nr_fds, plan_descriptors(lab.plan));
		assert_string_equal(lab.said, "no event given: recording cycles\n");
		opened_close(o);
		plan_free(lab.plan);
		tasks_release(&lab.opts.target.tasks);
		tasks_release(&lab.opts.target.processes);
		end_all_threads();
		assert_int_equal(kernel.locked, 0);
	}
}

static void test_task_gone(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.gone = 4711;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), -ESRCH);
	lab_close(&lab);
}

/* One of the CPUs that were listed is not there any more when events are opened. */
static void test_cpu_gone_offline(void **state)
{
	struct lab lab = {.limits = {.perfmon = true, .page_size = 4096},
			  .opts.target.all_cpus = true};
	const struct messages messages = {hear, &lab};
	size_t online;

	lab.limits.max_sample_rate = 100000;
	lab.limits.mem_total = 1ull << 40;
	kernel = newest;
	assert_int_equal(event_parse(&lab.opts.events, "{cpu-clock,page-faults},cs", NULL, NULL),
			 0);
	assert_int_equal(plan_new(&lab.opts, &lab.limits, &messages, &lab.plan, NULL), 0);
	online = lab.plan->cpus.nr;
	cpus_release(&lab.plan->cpus);
	cpus_release(&lab.plan->sampled);
	assert_int_equal(cpus_online(&lab.plan->cpus, NULL), 0);
	lab.plan->cpus.ids = reallocarray(lab.plan->cpus.ids, online + 1, sizeof(int));
	lab.plan->cpus.ids[lab.plan->cpus.nr++] = CPU_OFFLINE;
	assert_int_equal(cpus_copy(&lab.plan->cpus, &lab.plan->sampled), 0);

	assert_int_equal(open_plan(lab.plan, &lab.limits, &messages, &lab.opened, &lab.err), 0);
	assert_string_equal(lab.said, "CPU 8000 has gone offline and is not recorded\n");
	assert_int_equal(lab.opened->nr_fds, 4 * online);
	for (size_t r = 0; r < lab.opened->nr_rings; r++) {
		const struct open_ring *ring = &lab.opened->rings[r];

		assert_int_equal(ring->memory != NULL,
				 ring->cpu != CPU_OFFLINE && (ring->kind == RING_SAMPLES ||
							      ring->kind == RING_SIDEBAND));
	}
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_kernel),
		cmocka_unit_test(test_rings_by_kind),
		cmocka_unit_test(test_rings_are_halved),
		cmocka_unit_test(test_aux_areas),
		cmocka_unit_test(test_aux_areas_are_halved),
		cmocka_unit_test(test_pmu_without_aux_area),
		cmocka_unit_test(test_too_many_files),
		cmocka_unit_test(test_task_gone),
		cmocka_unit_test(test_cpu_gone_offline),
		cmocka_unit_test(test_sideband_comes_first),
		cmocka_unit_test(test_threads_that_come_up_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
