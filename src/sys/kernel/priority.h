/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the scheduling priority of the calling thread. Children do not inherit it. */
#ifndef RINGTAIL_SYS_KERNEL_PRIORITY_H
#define RINGTAIL_SYS_KERNEL_PRIORITY_H

/*
 * Sets SCHED_FIFO with @priority (1 to 99, see sched(7)): the thread then runs before all threads
 * without a real-time priority. Returns 0 or a negative errno: -EPERM without CAP_SYS_NICE and
 * RLIMIT_RTPRIO, or in a cgroup without real-time share.
 */
int priority_realtime(int priority);

/* Returns 0 if priority_realtime() would succeed, else its error. The thread's priority stays. */
int priority_may_realtime(int priority);

/* Sets the nice value to @nice if that is more than the present one. Returns 0 or a negative errno.
 */
int priority_nice(int nice);

#endif
