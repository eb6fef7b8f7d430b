// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

int priority_realtime(int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) ? -errno : 0;
}

/* Tries it without RESET_ON_FORK: an unprivileged thread cannot clear that flag again. */
int priority_may_realtime(int priority)
{
	const struct sched_param param = {.sched_priority = priority};
	struct sched_param before;
	int policy = sched_getscheduler(0);

	if (policy < 0 || sched_getparam(0, &before) || sched_setscheduler(0, SCHED_FIFO, &param))
		return -errno;
	return sched_setscheduler(0, policy, &before) ? -errno : 0;
}

/* On Linux a nice value belongs to the thread, unlike in POSIX. */
int priority_nice(int nice)
{
	id_t self = (id_t)gettid();
	int now;

	errno = 0;
	now = getpriority(PRIO_PROCESS, self);
	if (errno)
		return -errno;
	if (now <= nice)
		return 0;
	return setpriority(PRIO_PROCESS, self, nice) ? -errno : 0;
}
