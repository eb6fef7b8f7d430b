/* SPDX-License-Identifier: Apache-2.0 */
/* When the calling thread runs. What is set here is not inherited by children. */
#ifndef RINGTAIL_SYS_KERNEL_PRIORITY_H
#define RINGTAIL_SYS_KERNEL_PRIORITY_H

/*
 * Before all threads without a real-time priority (SCHED_FIFO, 1 to 99, see sched(7)). Returns 0 or
 * a negative errno: -EPERM without CAP_SYS_NICE and RLIMIT_RTPRIO, or in a cgroup that has no
 * real-time share.
 */
int priority_realtime(int priority);

/* Whether priority_realtime() would succeed: 0 or its error. The thread is as it was afterwards. */
int priority_may_realtime(int priority);

/* At @nice, if that is more than it has. Returns 0 or a negative errno. */
int priority_nice(int nice);

#endif
