// SPDX-License-Identifier: Apache-2.0
/*
 * The least that taking samples out of rings can cost: what bench/record compares recorders with.
 *
 * usage: floor [-m BYTES] FILE
 *
 * Opens the event of bench/record (raw_syscalls:sys_enter of getppid, period 1, with the fields
 * that recorders ask for) on each CPU, with rings of BYTES (default 8 MB; a power of two). Then,
 * until SIGINT: whenever a ring is half full, what is there is written to FILE from the ring
 * itself, one write(2) a span, and the ring is released. No header, no sideband, nothing looked at,
 * one thread. At the end a line: the samples in FILE, those that the kernel lost, the loop's CPU
 * time in µs a sample, and that of a memcpy of samples from the rings to a buffer of half a ring,
 * in µs.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CPUS  1024
#define COPY_TIME 0.3 /* seconds */

struct floor {
	struct pollfd polled[MAX_CPUS];
	struct perf_event_mmap_page *rings[MAX_CPUS];
	int nr, out;
	size_t size, page;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static unsigned long tracepoint_id(void)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	unsigned long id = 0;
	char path[128];

	for (int i = 0; i < 2 && !id; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/events/raw_syscalls/sys_enter/id", dirs[i]);
		f = fopen(path, "r");
		if (f && fscanf(f, "%lu", &id) != 1)
			id = 0;
		if (f)
			fclose(f);
	}
	return id;
}

/* Returns 0, or -1 with errno set. */
static int open_ring(struct floor *f, int cpu, const struct perf_event_attr *attr)
{
	char filter[32];
	void *ring;
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	ring = mmap(NULL, f->page + f->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return -1;
	snprintf(filter, sizeof(filter), "id == %d", SYS_getppid);
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		return -1;
	f->polled[f->nr] = (struct pollfd){.fd = fd, .events = POLLIN};
	f->rings[f->nr++] = ring;
	return 0;
}

static int open_all(struct floor *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id(),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_RAW,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(f->size / 2),
	};
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
		if (open_ring(f, cpu, &attr))
			return -1;
	for (int i = 0; i < f->nr; i++)
		if (ioctl(f->polled[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return -1;
	return 0;
}

static int put(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Writes what the ring holds and releases it. */
static int take(struct floor *f, struct perf_event_mmap_page *ring)
{
	const uint8_t *data = (const uint8_t *)ring + f->page;
	/* As data_head is the kernel's to change: an acquire, then a release. */
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->data_tail;
	size_t at = tail & (f->size - 1), len = head - tail;
	size_t first = len < f->size - at ? len : f->size - at;

	if (put(f->out, data + at, first) || put(f->out, data, len - first))
		return -1;
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return 0;
}

static int loop(struct floor *f)
{
	while (!stopped) {
		if (poll(f->polled, (nfds_t)f->nr, -1) < 0)
			break;
		for (int i = 0; i < f->nr; i++)
			if (f->polled[i].revents && take(f, f->rings[i]))
				return -1;
	}
	for (int i = 0; i < f->nr; i++)
		if (ioctl(f->polled[i].fd, PERF_EVENT_IOC_DISABLE, 0) || take(f, f->rings[i]))
			return -1;
	return 0;
}

struct counts {
	uint64_t samples, bytes, lost;
};

static int count(const struct floor *f, struct counts *ret)
{
	struct stat st;
	const uint8_t *p;
	struct perf_event_header h;

	*ret = (struct counts){0};
	if (fstat(f->out, &st) || !st.st_size)
		return -1;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, f->out, 0);
	if (p == MAP_FAILED)
		return -1;
	for (off_t at = 0; at + (off_t)sizeof(h) <= st.st_size; at += h.size) {
		memcpy(&h, p + at, sizeof(h));
		if (h.size < sizeof(h))
			return -1;
		ret->samples += h.type == PERF_RECORD_SAMPLE;
		ret->bytes += h.type == PERF_RECORD_SAMPLE ? h.size : 0;
		if (h.type == PERF_RECORD_LOST) { /* after the header its id, then the number */
			uint64_t lost;

			memcpy(&lost, p + at + sizeof(h) + sizeof(uint64_t), sizeof(lost));
			ret->lost += lost;
		}
	}
	return 0;
}

/* CPU seconds to copy a byte of the rings. */
static double copy_cost(const struct floor *f)
{
	size_t half = f->size / 2, done = 0;
	uint8_t *to = malloc(half);
	double begin, now;

	if (!to)
		return 0;
	memset(to, 1, half);
	begin = now = cpu_seconds();
	for (size_t i = 0; now - begin < COPY_TIME; i++) {
		const uint8_t *ring = (const uint8_t *)f->rings[i / 2 % (size_t)f->nr] + f->page;

		memcpy(to, ring + i % 2 * half, half);
		__asm__ volatile("" : : "r"(to) : "memory"); /* it is wanted */
		done += half;
		now = cpu_seconds();
	}
	free(to);
	return (now - begin) / (double)done;
}

static int floor_run(struct floor *f)
{
	struct counts counts;
	double cpu;

	if (open_all(f) || loop(f)) {
		perror("floor");
		return 1;
	}
	cpu = cpu_seconds();
	if (count(f, &counts)) {
		fprintf(stderr, "floor: it wrote nothing, or no records\n");
		return 1;
	}
	printf("%llu %llu %.6f %.6f\n", (unsigned long long)counts.samples,
	       (unsigned long long)counts.lost, cpu / (double)counts.samples * 1e6,
	       copy_cost(f) * (double)counts.bytes / (double)counts.samples * 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	static struct floor f;
	struct sigaction on = {.sa_handler = stop};
	int option;

	f.size = 8u << 20;
	f.page = (size_t)sysconf(_SC_PAGESIZE);
	while ((option = getopt(argc, argv, "m:")) == 'm')
		f.size = strtoull(optarg, NULL, 0);
	if (option != -1 || optind != argc - 1 || f.size < f.page || f.size & (f.size - 1)) {
		fprintf(stderr, "usage: floor [-m BYTES] FILE\n");
		return 2;
	}
	f.out = open(argv[optind], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f.out < 0) {
		perror(argv[optind]);
		return 1;
	}
	sigaction(SIGINT, &on, NULL); /* without SA_RESTART: it ends poll() */
	return floor_run(&f);
}
