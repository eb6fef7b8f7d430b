// SPDX-License-Identifier: Apache-2.0
#include "sys/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

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

int perf_event_set_output(int fd, int to_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to_fd) < 0 ? -errno : 0;
}

int perf_event_map(int fd, size_t data_size, void **ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page + data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

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

int perf_event_read(int fd, uint64_t *ret, size_t words)
{
	ssize_t n = read(fd, ret, words * sizeof(*ret));

	return n < 0 ? -errno : (int)((size_t)n / sizeof(*ret));
}
