/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_event_open(2) and the ioctls of its file descriptors.
 *
 * A thin layer: errno becomes a negative return value, and nothing is retried. Any thread may call.
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
 * group. Returns the descriptor or a negative errno. On -E2BIG the kernel has stored in @attr->size
 * the size of the attributes that it knows.
 */
int perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd);

/* As perf_event_open(), for the tasks of the cgroup whose directory @cgroup is, on @cpu. */
int perf_event_open_cgroup(struct pd_attr *attr, int cgroup, int cpu, int group_fd);

/* Each of these returns 0 or a negative errno. */
int perf_event_enable(int fd);
int perf_event_disable(int fd);
/* Sets the filter of a tracepoint. */
int perf_event_set_filter(int fd, const char *filter);
/* Returns the id of the event in *@ret. */
int perf_event_id(int fd, uint64_t *ret);
/* Sets the period; the frequency, in Hz, of an event opened with one. */
int perf_event_set_period(int fd, uint64_t period);
/* Sends the records of @fd to the ring mapped at @to_fd. */
int perf_event_set_output(int fd, int to_fd);

/*
 * Pauses or resumes the ring mapped at @fd. Records for a paused ring count as lost. Returns 0 or a
 * negative errno.
 */
int perf_event_pause_output(int fd, bool pause);

/*
 * Waits until all record writes begun before the call have ended; a pause prevents new ones. It
 * takes a grace period of RCU, some 10 ms.
 */
void perf_event_await_writers(void);

/* Kind of mapping of a ring; the kernel fills a full ring accordingly. */
enum perf_event_access {
	PERF_EVENT_CONSUME,   /* writable tail: the kernel keeps what is not released */
	PERF_EVENT_OVERWRITE, /* read-only: the kernel overwrites the oldest */
};

/*
 * Maps the header page and @data_size bytes of ring (a power of two, in whole pages). Returns 0
 * with the address in *@ret, for perf_event_unmap() with the same size; or a negative errno
 * (-EPERM: it exceeds the limit on locked memory).
 */
int perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret);
/* Unmaps a ring; accepts NULL. */
void perf_event_unmap(void *map, size_t data_size);

/*
 * Maps @size bytes (a power of two, in whole pages) of the AUX area of @fd, whose ring of
 * @data_size bytes is mapped at @ring with PERF_EVENT_CONSUME. PERF_EVENT_OVERWRITE: the hardware
 * overwrites the oldest trace, and it can be read while the event is disabled. Returns 0 with the
 * address in *@ret, for perf_event_unmap_aux() before the ring is unmapped; or a negative errno
 * (-EPERM: it exceeds the limit on locked memory; -EOPNOTSUPP: the PMU has no AUX area).
 */
int perf_event_map_aux(int fd, void *ring, size_t data_size, size_t size,
		       enum perf_event_access access, void **ret);
/* Unmaps an AUX area; accepts NULL. */
void perf_event_unmap_aux(void *aux, size_t size);

/*
 * Reads the counter: at most @words values, in the layout of the event's read_format. Returns the
 * number of values, or a negative errno (-ENOSPC: there are more).
 */
int perf_event_read(int fd, uint64_t *ret, size_t words);

#endif
