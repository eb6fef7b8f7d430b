/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_event_open(2) and the ioctls of its file descriptors.
 *
 * Thin: errno becomes a negative return, nothing is retried. Any thread may call.
 * Source: perf_event_open(2), include/uapi/linux/perf_event.h.
 */
#ifndef RINGTAIL_SYS_KERNEL_PERF_EVENT_H
#define RINGTAIL_SYS_KERNEL_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pd_attr; /* perfdata/abi.h: laid out as the kernel's struct perf_event_attr */

/*
 * Opens an event, close-on-exec. @pid -1: every task (on @cpu); @cpu -1: any CPU. @group_fd -1: no
 * group. Returns the descriptor or a negative errno; with -E2BIG the kernel has stored the size of
 * the attributes that it knows in @attr->size.
 */
int perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd);

/* Each returns 0 or a negative errno. */
int perf_event_enable(int fd);
int perf_event_disable(int fd);
int perf_event_set_filter(int fd, const char *filter); /* of a tracepoint */
int perf_event_id(int fd, uint64_t *ret);
int perf_event_set_period(int fd, uint64_t period); /* or frequency, as it was opened */
int perf_event_set_output(int fd, int to_fd); /* records of @fd go to the ring mapped at @to_fd */

/*
 * While the ring mapped at @fd is paused, records that are meant for it are counted as lost.
 * Returns 0 or a negative errno.
 */
int perf_event_pause_output(int fd, bool pause);

/*
 * Waits until no record is being written that was begun before the call: a pause keeps those away
 * that come later. It takes a grace period of RCU, some 10 ms.
 */
void perf_event_await_writers(void);

/* How a ring is mapped, which tells the kernel what to do when it is full. */
enum perf_event_access {
	PERF_EVENT_CONSUME,   /* the tail is written: what is not released is kept */
	PERF_EVENT_OVERWRITE, /* for reading only: the oldest is overwritten */
};

/*
 * Maps the header page and @data_size bytes of ring (a power of two, in whole pages). Returns 0
 * with the address in *@ret, to be unmapped with perf_event_unmap() and the same size; or a
 * negative errno (-EPERM: more than may be locked).
 */
int perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret);
void perf_event_unmap(void *map, size_t data_size); /* accepts NULL */

/*
 * Reads the counter: at most @words values, laid out as the event's read_format says. Returns the
 * number of values, or a negative errno (-ENOSPC: it has more).
 */
int perf_event_read(int fd, uint64_t *ret, size_t words);

#endif
