// SPDX-License-Identifier: Apache-2.0
/*
 * Opens a plan on kernels that refuse parts of it. A fake kernel replaces the functions of
 * sys/perf_event.h, so that no real one is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/open/fallback.h"
#include "record/open/open.h"
#include "sys/kernel/perf_event.h"

/* --- the kernel ----------------------------------------------------------------------------------
 */

#define CPU_OFFLINE 8000 /* CPUs from this on */

static struct kernel {
	uint64_t flags, read_format; /* that it knows */
	bool pmu;		     /* has cycles */
	unsigned int precise;	     /* at most */
	bool user_only;		     /* as perf_event_paranoid 2 without capabilities */
	size_t lock_max;	     /* bytes of ring in all */
	size_t files_max;
	pid_t gone;	  /* task that has ended */
	bool counts_only; /* page-faults: no PMU here is one that cannot sample */
	int clock_max;	  /* the last of its clocks */

	size_t open, locked, mapped;
	size_t overwritten; /* rings mapped for reading only */
	bool no_aux;	    /* no PMU has an AUX area */
	size_t areas;	    /* mapped */
	uint64_t next_id;
	bool late;  /* a sampling event was opened while no ring of a dummy was mapped */
	int spawns; /* threads of ours that come up while events are opened */
} kernel;

/* --- threads that come up meanwhile --------------------------------------------------------------
 */

static pthread_t threads[16];
static int nr_threads;
static sem_t end_threads;

static void *thread_main(void *arg)
{
	sem_wait(&end_threads);
	return NULL;
}

static void spawn_thread(void)
{
	assert_int_equal(pthread_create(&threads[nr_threads++], NULL, thread_main, NULL), 0);
}

static void end_all_threads(void)
{
	for (int i = 0; i < nr_threads; i++)
		sem_post(&end_threads);
	while (nr_threads)
		pthread_join(threads[--nr_threads], NULL);
	/* A thread that was joined is in /proc for a moment more. */
	for (size_t nr = 0; nr != 1; sched_yield()) {
		struct tasks left = {0};

		assert_int_equal(tasks_add_threads(&left, getpid(), NULL), 0);
		nr = left.nr;
		tasks_release(&left);
	}
}

static const struct kernel newest = {
	.flags = ~0ull,
	.read_format = ~0ull,
	.pmu = true,
	.precise = 3,
	.clock_max = CLOCK_TAI,
	.lock_max = SIZE_MAX,
	.files_max = SIZE_MAX,
};

int perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd)
{
	unsigned int precise =
		(unsigned int)((attr->flags & PD_ATTR_PRECISE_IP) >> PD_ATTR_PRECISE_IP_SHIFT);

	if (attr->flags & ~kernel.flags || attr->read_format & ~kernel.read_format)
		return -EINVAL;
	if (attr->flags & PD_ATTR_USE_CLOCKID && attr->clockid > kernel.clock_max)
		return -EINVAL;
	if (kernel.user_only && !(attr->flags & PD_ATTR_EXCLUDE_KERNEL))
		return -EACCES;
	if (pid < 0 && cpu >= CPU_OFFLINE)
		return -ENODEV;
	if (kernel.counts_only && attr->type == PERF_TYPE_SOFTWARE && attr->sample_period &&
	    attr->config == PERF_COUNT_SW_PAGE_FAULTS)
		return -EINVAL;
	if (kernel.gone && pid == kernel.gone)
		return -ESRCH;
	if (attr->type == PERF_TYPE_HARDWARE && !kernel.pmu)
		return -ENOENT;
	if (precise > kernel.precise)
		return -EOPNOTSUPP;
	if (kernel.open >= kernel.files_max)
		return -EMFILE;
	if (!(attr->flags & PD_ATTR_TASK) && !kernel.mapped)
		kernel.late = true;
	if (kernel.spawns > 0 && attr->flags & PD_ATTR_TASK) {
		kernel.spawns--;
		spawn_thread();
	}
	kernel.open++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int perf_event_enable(int fd)
{
	return 0;
}

int perf_event_disable(int fd)
{
	return 0;
}

int perf_event_set_filter(int fd, const char *filter)
{
	return -EINVAL;
}

int perf_event_id(int fd, uint64_t *ret)
{
	*ret = ++kernel.next_id;
	return 0;
}

int perf_event_set_output(int fd, int to_fd)
{
	return 0;
}

int perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret)
{
	kernel.overwritten += access == PERF_EVENT_OVERWRITE;
	if (kernel.locked + data_size > kernel.lock_max)
		return -EPERM;
	kernel.locked += data_size;
	kernel.mapped++;
	*ret = calloc(1, 4096);
	return 0;
}

void perf_event_unmap(void *map, size_t data_size)
{
	if (map) {
		kernel.locked -= data_size;
		kernel.mapped--;
	}
	free(map);
}

int perf_event_map_aux(int fd, void *ring, size_t data_size, size_t size,
		       enum perf_event_access access, void **ret)
{
	if (kernel.no_aux)
		return -EOPNOTSUPP;
	if (kernel.locked + size > kernel.lock_max)
		return -EPERM;
	kernel.locked += size;
	kernel.areas++;
	*ret = calloc(1, size);
	return 0;
}

void perf_event_unmap_aux(void *map, size_t size)
{
	if (map) {
		kernel.locked -= size;
		kernel.areas--;
	}
	free(map);
}

int perf_event_read(int fd, uint64_t *ret, size_t words)
{
	memset(ret, 0, words * sizeof(*ret));
	return (int)words;
}

/* --- a recording on it ---------------------------------------------------------------------------
 */

static const char *const command[] = {"true", NULL};

struct lab {
	struct plan_opts opts;
	struct limits limits;
	struct plan *plan;
	struct opened *opened;
	struct error err;
	char said[2048];
};

static void hear(enum message_level level, const char *text, void *arg)
{
	struct lab *lab = arg;

	assert_true(strlen(lab->said) + strlen(text) + 2 < sizeof(lab->said));
	strcat(strcat(lab->said, text), "\n");
}

static int lab_open(struct lab *lab, const struct kernel *k, const char *events)
{
	const struct messages messages = {hear, lab};

	kernel = *k;
	*lab = (struct lab){
		.opts.target.command = command,
		.opts.build_id_mmap = true,
		.limits = {.perfmon = !k->user_only,
			   .ipc_lock = true,

			   .paranoid = 2,
			   .max_sample_rate = 100000,
			   .mem_total = 1ull << 40,
			   .page_size = 4096},
	};
	if (events)
		assert_int_equal(event_parse(&lab->opts.events, events, NULL, &lab->err), 0);
	assert_int_equal(plan_new(&lab->opts, &lab->limits, &messages, &lab->plan, &lab->err), 0);
	assert_int_equal(plan_set_command(lab->plan, 4711), 0);
	return open_plan(lab->plan, &lab->limits, &messages, &lab->opened, &lab->err);
}

static void lab_close(struct lab *lab)
{
	opened_close(lab->opened);
	plan_free(lab->plan);
	event_list_release(&lab->opts.events);
	assert_int_equal(kernel.locked, 0);
}

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

static void test_kernel_that_overwrites_nothing(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.flags = ~(uint64_t)PD_ATTR_WRITE_BACKWARD;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock/overwrite/"), -EINVAL);
	assert_non_null(strstr(lab.err.text, "4.7"));
	lab_close(&lab);
}

static void test_older_kernel(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.flags = ~(PD_ATTR_BUILD_ID | PD_ATTR_CGROUP);
	k.read_format = ~(uint64_t)PERF_FORMAT_LOST;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), 0);
	assert_non_null(strstr(lab.said, "older than 6.0"));
	assert_non_null(strstr(lab.said, "older than 5.12"));
	assert_non_null(strstr(lab.said, "older than 5.7"));
	assert_null(strstr(lab.said, "5.1:")); /* what it has stays */
	assert_true(lab.plan->events[1].attr.flags & PD_ATTR_KSYMBOL);
	assert_false(lab.plan->events[1].attr.flags & PD_ATTR_BUILD_ID);
	assert_false(lab.plan->events[0].attr.read_format & PERF_FORMAT_LOST);
	lab_close(&lab);
}

static void test_precision_comes_down(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.precise = 1;
	assert_int_equal(lab_open(&lab, &k, NULL), 0);
	assert_int_equal(lab.plan->events[0].attr.flags & PD_ATTR_PRECISE_IP,
			 1ull << PD_ATTR_PRECISE_IP_SHIFT);
	lab_close(&lab);

	/* One that was asked for does not. */
	assert_int_equal(lab_open(&lab, &k, "cycles:pp"), -EOPNOTSUPP);
	assert_non_null(strstr(lab.err.text, "cycles:pp"));
	lab_close(&lab);
}

static void test_no_pmu(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.pmu = false;
	assert_int_equal(lab_open(&lab, &k, NULL), 0);
	assert_string_equal(lab.plan->events[0].name, "cpu-clock");
	assert_string_equal(lab.said,
			    "no event given: recording cpu-clock (no PMU here counts cycles)\n");
	lab_close(&lab);

	assert_int_equal(lab_open(&lab, &k, "instructions"), -ENOENT);
	assert_non_null(strstr(lab.err.text, "cpu-clock"));
	assert_string_equal(lab.said, "");
	lab_close(&lab);
}

static void test_user_only(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.user_only = true;
	assert_int_equal(lab_open(&lab, &k, "cpu-clock,page-faults"), 0);
	assert_string_equal(lab.plan->events[0].name, "cpu-clock:u");
	assert_string_equal(lab.plan->events[1].name, "page-faults:u");
	assert_non_null(strstr(lab.said, "perf_event_paranoid is 2"));
	assert_null(strstr(lab.said, "counts nothing"));
	lab_close(&lab);

	/* What happens in the kernel alone counts nothing then, and :u by itself does the same. */
	assert_int_equal(lab_open(&lab, &k, "page-faults,context-switches,migrations"), 0);
	assert_non_null(strstr(lab.said, "event 'context-switches:u' counts nothing"));
	assert_non_null(strstr(lab.said, "event 'migrations:u' counts nothing"));
	assert_non_null(strstr(lab.said, "'sysctl kernel.perf_event_paranoid=1'"));
	assert_null(strstr(lab.said, "'page-faults"));
	lab_close(&lab);
	assert_int_equal(lab_open(&lab, &newest, "cs:u,cs:k,cs"), 0);
	assert_string_equal(lab.said, "event 'cs:u' counts nothing: it happens in the kernel, "
				      "which the options leave out\n");
	lab_close(&lab);

	/* A user who asks for the kernel gets nothing else. */
	assert_int_equal(lab_open(&lab, &k, "cpu-clock:k"), -EACCES);
	assert_non_null(strstr(lab.err.text, "perf_event_paranoid"));
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
			assert_int_equal(ring->data_size, lab.plan->sideband_size);
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

static void test_clock_is_blamed(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	assert_int_equal(lab_open(&lab, &k, "cpu-clock"), 0);
	opened_close(lab.opened);
	lab.opened = NULL;
	for (size_t i = 0; i < lab.plan->nr; i++) {
		lab.plan->events[i].attr.flags |= PD_ATTR_USE_CLOCKID;
		lab.plan->events[i].attr.clockid = 99;
	}
	assert_int_equal(open_plan(lab.plan, &lab.limits, &(struct messages){hear, &lab},
				   &lab.opened, &lab.err),
			 -EINVAL);
	assert_non_null(strstr(lab.err.text, "clock 99"));
	assert_non_null(strstr(lab.err.text, "cpu-clock")); /* not the dummy */
	lab_close(&lab);
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

static void test_counts_but_cannot_sample(void **state)
{
	struct kernel k = newest;
	struct lab lab;

	k.counts_only = true;
	assert_int_equal(lab_open(&lab, &k, "page-faults"), -EINVAL);
	assert_non_null(strstr(lab.err.text, "'page-faults' counts but cannot sample"));
	lab_close(&lab);
	assert_int_equal(lab_open(&lab, &k, "{cs,page-faults}:S"), 0);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_kernel),
		cmocka_unit_test(test_rings_by_kind),
		cmocka_unit_test(test_kernel_that_overwrites_nothing),
		cmocka_unit_test(test_older_kernel),
		cmocka_unit_test(test_precision_comes_down),
		cmocka_unit_test(test_no_pmu),
		cmocka_unit_test(test_user_only),
		cmocka_unit_test(test_rings_are_halved),
		cmocka_unit_test(test_aux_areas),
		cmocka_unit_test(test_aux_areas_are_halved),
		cmocka_unit_test(test_pmu_without_aux_area),
		cmocka_unit_test(test_too_many_files),
		cmocka_unit_test(test_clock_is_blamed),
		cmocka_unit_test(test_task_gone),
		cmocka_unit_test(test_cpu_gone_offline),
		cmocka_unit_test(test_counts_but_cannot_sample),
		cmocka_unit_test(test_sideband_comes_first),
		cmocka_unit_test(test_threads_that_come_up_meanwhile),
	};

	sem_init(&end_threads, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
