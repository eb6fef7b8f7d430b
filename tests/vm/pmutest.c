// SPDX-License-Identifier: GPL-2.0
/*
 * Has this machine hardware counters that can be sampled? Straight from the system call, so that a
 * guest without them is told from a recorder that does not use them.
 *
 * usage: pmutest
 * A line an event: what was counted and sampled over a loop of a known number of steps. Ends with 0
 * when cycles and instructions both gave samples, most of them in the loop, else with 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STEPS	  20000000ul
#define RING_SIZE (128 * 4096ul)

struct result {
	uint64_t count, samples, in_loop, lost;
};

__attribute__((noinline, aligned(64))) static void loop(unsigned long steps)
{
	unsigned long x = 1;

	while (steps--) {
		x = x * 1103515245 + 12345;
		__asm__ volatile("" ::"r"(x));
	}
}

static void read_ring(const struct perf_event_mmap_page *page, struct result *r)
{
	const char *data = (const char *)page + 4096;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header h;
	uint64_t ip;

	/* It is large enough for all there can be, so nothing wraps. */
	for (uint64_t at = 0; at < head && at < RING_SIZE; at += h.size) {
		memcpy(&h, data + at, sizeof(h));
		if (h.size < sizeof(h))
			return;
		if (h.type == PERF_RECORD_LOST)
			r->lost++;
		if (h.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&ip, data + at + sizeof(h), sizeof(ip));
		r->samples++;
		r->in_loop += ip >= (uintptr_t)loop && ip < (uintptr_t)loop + 128;
	}
}

/* Returns 0 or a negative errno. */
static int sample(uint64_t config, uint64_t period, struct result *r)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int rc, fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *ring;

	if (fd < 0)
		return -errno;
	ring = mmap(NULL, 4096 + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		rc = -errno;
		close(fd);
		return rc;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	loop(STEPS);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	rc = read(fd, &r->count, sizeof(r->count)) == sizeof(r->count) ? 0 : -EIO;
	read_ring(ring, r);
	munmap(ring, 4096 + RING_SIZE);
	close(fd);
	return rc;
}

int main(void)
{
	static const struct {
		const char *name;
		uint64_t config;
		bool needed;
	} events[] = {
		{"cycles", PERF_COUNT_HW_CPU_CYCLES, true},
		{"instructions", PERF_COUNT_HW_INSTRUCTIONS, true},
		{"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
		{"cache-misses", PERF_COUNT_HW_CACHE_MISSES, false},
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct result r = {0};
		int rc = sample(events[i].config, 1000000, &r);

		if (rc)
			printf("%-14s %s\n", events[i].name, strerror(-rc));
		else
			printf("%-14s count %lu, samples %lu, in the loop %lu, lost %lu\n",
			       events[i].name, r.count, r.samples, r.in_loop, r.lost);
		if (events[i].needed && (rc || !r.samples || r.in_loop * 2 < r.samples))
			status = 1;
	}
	return status;
}
