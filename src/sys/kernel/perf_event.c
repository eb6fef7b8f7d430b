// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/perf_event.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int perf_event_open_cgroup(struct pd_attr *attr, int cgroup, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, cgroup, cpu, group_fd,
			  PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);

	return fd < 0 ? -errno : (int)fd;
}

int perf_event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

int perf_event_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}

int perf_event_set_filter(int fd, const char *filter)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? -errno : 0;
}

int perf_event_id(int fd, uint64_t *ret)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, ret) < 0 ? -errno : 0;
}

int perf_event_set_period(int fd, uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
}

int perf_event_set_output(int fd, int to_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to_fd) < 0 ? -errno : 0;
}

int perf_event_pause_output(int fd, bool pause)
{
	return ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause) < 0 ? -errno : 0;
}

/*
 * Waits until no writer is inside a record. The kernel holds rcu_read_lock() while it writes one
 * (kernel/events/ring_buffer.c, perf_output_begin() to perf_output_end()), and this membarrier is
 * synchronize_rcu(). It is refused with nohz_full and by some seccomp profiles: then a pause
 * suffices, because a record takes microseconds.
 */
void perf_event_await_writers(void)
{
	const struct timespec some = {.tv_nsec = 10 * 1000 * 1000};

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&some, NULL);
}

int perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int prot = access == PERF_EVENT_OVERWRITE ? PROT_READ : PROT_READ | PROT_WRITE;
	void *map = mmap(NULL, page + data_size, prot, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ret = map;
	return 0;
}

void perf_event_unmap(void *map, size_t data_size)
{
	if (map)
		munmap(map, (size_t)sysconf(_SC_PAGESIZE) + data_size);
}

int perf_event_map_aux(int fd, void *ring, size_t data_size, size_t size,
		       enum perf_event_access access, void **ret)
{
	struct perf_event_mmap_page *page = ring;
	int prot = access == PERF_EVENT_OVERWRITE ? PROT_READ : PROT_READ | PROT_WRITE;
	int flags = MAP_SHARED;
	void *map;

	page->aux_offset = (uint64_t)sysconf(_SC_PAGESIZE) + data_size;
	page->aux_size = size;
	/* What is overwritten is read while events are stopped: no time for page faults. */
	flags |= access == PERF_EVENT_OVERWRITE ? MAP_POPULATE : 0;
	map = mmap(NULL, size, prot, flags, fd, (off_t)page->aux_offset);
	if (map == MAP_FAILED)
		return -errno;
	*ret = map;
	return 0;
}

void perf_event_unmap_aux(void *aux, size_t size)
{
	if (aux)
		munmap(aux, size);
}

int perf_event_read(int fd, uint64_t *ret, size_t words)
{
	ssize_t n = read(fd, ret, words * sizeof(*ret));

	return n < 0 ? -errno : (int)((size_t)n / sizeof(*ret));
}
