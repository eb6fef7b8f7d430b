// SPDX-License-Identifier: Apache-2.0
#include "sys/io/timer.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timer_open(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int timer_set(int fd, uint64_t ms, bool again)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
	};

	if (again)
		when.it_interval = when.it_value;
	return timerfd_settime(fd, 0, &when, NULL) ? -errno : 0;
}

bool timer_rang(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) == sizeof(times);
}
