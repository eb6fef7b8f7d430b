/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake kernel that refuses what it does not know, or has no room for: it replaces the functions
 * of sys/kernel/perf_event.h. And a recording on it. Include it once.
 */
#ifndef RINGTAIL_TESTS_REFUSING_KERNEL_H
#define RINGTAIL_TESTS_REFUSING_KERNEL_H

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

static inline void *thread_main(void *arg)
{
	sem_wait(&end_threads);
	return NULL;
}

static inline void spawn_thread(void)
{
	assert_int_equal(pthread_create(&threads[nr_threads++], NULL, thread_main, NULL), 0);
}

static inline void end_all_threads(void)
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

/* As for all tasks of the CPU. */
int perf_event_open_cgroup(struct pd_attr *attr, int cgroup, int cpu, int group_fd)
{
	return perf_event_open(attr, -1, cpu, group_fd);
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

static inline void hear(enum message_level level, const char *text, void *arg)
{
	struct lab *lab = arg;

	assert_true(strlen(lab->said) + strlen(text) + 2 < sizeof(lab->said));
	strcat(strcat(lab->said, text), "\n");
}

static inline int lab_open(struct lab *lab, const struct kernel *k, const char *events)
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

static inline void lab_close(struct lab *lab)
{
	opened_close(lab->opened);
	plan_free(lab->plan);
	event_list_release(&lab->opts.events);
	assert_int_equal(kernel.locked, 0);
}

#endif
