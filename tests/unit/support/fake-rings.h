/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake kernel: replaces the functions of sys/perf_event.h. Rings are plain memory, to which the
 * test writes records. Include it once, behind cmocka.h.
 */
#ifndef RINGTAIL_TESTS_FAKE_RINGS_H
#define RINGTAIL_TESTS_FAKE_RINGS_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "sys/kernel/perf_event.h"

#define PAGE  4096u
#define RINGS 16

static struct kernel {
	struct pd_attr attr[64]; /* in the order of opening; the id of an event is its index + 1 */
	uint64_t opened, asked;
	struct perf_event_mmap_page *ring[RINGS];
	size_t size[RINGS]; /* bytes of data */
	int owner[RINGS];
	bool paused[RINGS];
	size_t rings, filters, enabled;
	int first;     /* the first descriptor that was opened */
	uint64_t lost; /* losses of that event */
	int broken;    /* descriptor whose counts cannot be read */
	int refusal;   /* the error of the next perf_event_open(), or 0 */
} kernel;

int perf_event_open(struct pd_attr *attr, pid_t pid, int cpu, int group_fd)
{
	int fd = kernel.refusal ? kernel.refusal : open("/dev/null", O_RDONLY | O_CLOEXEC);

	kernel.refusal = 0;
	if (fd < 0)
		return fd;
	assert_int_equal(group_fd, -1);
	assert_true(kernel.opened < 64);
	kernel.attr[kernel.opened++] = *attr;
	if (kernel.opened == 1)
		kernel.first = fd;
	return fd;
}

int perf_event_open_cgroup(struct pd_attr *attr, int cgroup, int cpu, int group_fd)
{
	return perf_event_open(attr, -1, cpu, group_fd);
}

int perf_event_enable(int fd)
{
	kernel.enabled++;
	return 0;
}

int perf_event_disable(int fd)
{
	return 0;
}

int perf_event_set_filter(int fd, const char *filter)
{
	assert_string_equal(filter, "next_pid > 1");
	kernel.filters++;
	return 0;
}

int perf_event_id(int fd, uint64_t *ret)
{
	*ret = ++kernel.asked;
	return 0;
}

int perf_event_set_output(int fd, int to_fd)
{
	return 0;
}

int perf_event_pause_output(int fd, bool pause)
{
	for (size_t i = 0; i < kernel.rings; i++)
		if (kernel.owner[i] == fd)
			kernel.paused[i] = pause;
	return 0;
}

void perf_event_await_writers(void)
{
}

int perf_event_map(int fd, size_t data_size, enum perf_event_access access, void **ret)
{
	assert_int_equal(data_size % PAGE, 0);
	assert_int_equal(access, PERF_EVENT_CONSUME);
	assert_true(kernel.rings < RINGS);
	*ret = calloc(1, PAGE + data_size);
	kernel.owner[kernel.rings] = fd;
	kernel.size[kernel.rings] = data_size;
	kernel.ring[kernel.rings++] = *ret;
	return 0;
}

void perf_event_unmap(void *map, size_t data_size)
{
	free(map);
}

/* No PMU of these rings has an AUX area. */
int perf_event_map_aux(int fd, void *ring, size_t data_size, size_t size,
		       enum perf_event_access access, void **ret)
{
	return -EOPNOTSUPP;
}

void perf_event_unmap_aux(void *aux, size_t size)
{
}

int perf_event_read(int fd, uint64_t *ret, size_t words)
{
	assert_int_equal(words, 3);
	if (kernel.broken && fd == kernel.broken)
		return -EIO;
	memcpy(ret, (uint64_t[]){0, 0, fd == kernel.first ? kernel.lost : 0}, 24);
	return 3;
}

/*
 * Writes a record with @nr @words behind its header to a ring. Returns false if the ring has no
 * room.
 */
static inline bool put(size_t ring, uint32_t type, uint16_t size, const uint64_t *words, size_t nr)
{
	struct perf_event_mmap_page *page = kernel.ring[ring];
	uint64_t all[8];
	struct perf_event_header hdr = {.type = type, .size = size};

	memcpy(all, &hdr, sizeof(hdr));
	memcpy(all + 1, words, nr * sizeof(*words));
	if (kernel.paused[ring] ||
	    page->data_head + (nr + 1) * 8 - page->data_tail > kernel.size[ring])
		return false;
	for (size_t i = 0; i <= nr; i++) {
		memcpy((uint8_t *)page + PAGE + page->data_head % kernel.size[ring], &all[i], 8);
		page->data_head += 8;
	}
	return true;
}

#define PID 11u
#define TID (PID | 12ull << 32)

static inline bool put_lost(size_t ring, uint64_t id, uint64_t lost, uint64_t time)
{
	return put(ring, PERF_RECORD_LOST, 56, (uint64_t[]){id, lost, TID, time, 0, id}, 6);
}

static inline bool put_sample_of(size_t ring, uint64_t id, uint64_t time, uint64_t pid_tid)
{
	return put(ring, PERF_RECORD_SAMPLE, 40, (uint64_t[]){id, pid_tid, time, ring}, 4);
}

static inline bool put_sample(size_t ring, uint64_t id, uint64_t time, uint32_t cpu)
{
	return put(ring, PERF_RECORD_SAMPLE, 40, (uint64_t[]){id, TID, time, cpu}, 4);
}

#endif
