// SPDX-License-Identifier: Apache-2.0
/*
 * The least that recording AUX areas can cost: what bench/aux compares recorders with.
 *
 * usage: aux-floor [-S] PMU BYTES PERIOD_US AREA FILE SECONDS
 *
 * Opens an event of the test PMU (tests/vm/auxsim) on each CPU, with a ring of 64 KB and an AUX
 * area of AREA bytes (a power of two, as 64K or 1M). It ends after SECONDS or at SIGINT. One
 * thread, no header, no sideband, nothing looked at, and each byte is written from where the kernel
 * put it.
 *
 * Without -S, a full trace: whenever an area has a quarter of its size, that goes to FILE, the
 * records of its ring go to FILE.records, and both are released. With -S, at each SIGUSR2: all
 * events are disabled, all areas are written to FILE as they are, and all events are enabled.
 *
 * At the end a line, of a full trace: the times that an area was full, and the bytes in FILE.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CPUS 1024
#define RING	 (64u << 10)

struct place {
	struct perf_event_mmap_page *page;
	const uint8_t *ring, *area;
};

struct floor {
	struct pollfd polled[MAX_CPUS];
	struct place places[MAX_CPUS];
	int nr, out, records;
	size_t area;
	bool snapshot;
};

static volatile sig_atomic_t stopped, asked;

static void on_signal(int signal)
{
	if (signal == SIGUSR2)
		asked = 1;
	else
		stopped = 1;
}

static uint32_t type_of(const char *pmu)
{
	char path[256];
	unsigned int type = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f)
		fclose(f);
	return type;
}

static int open_place(struct floor *f, int cpu, const struct perf_event_attr *attr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct place *p = &f->places[f->nr];
	void *area;

	if (fd < 0)
		return -1;
	p->page = mmap(NULL, page + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p->page == MAP_FAILED)
		return -1;
	p->page->aux_offset = page + RING;
	p->page->aux_size = f->area;
	area = mmap(NULL, f->area, PROT_READ | (f->snapshot ? 0 : PROT_WRITE), MAP_SHARED, fd,
		    (off_t)(page + RING));
	if (area == MAP_FAILED)
		return -1;
	p->ring = (const uint8_t *)p->page + page;
	p->area = area;
	f->polled[f->nr++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

static int switch_all(const struct floor *f, unsigned long how)
{
	for (int i = 0; i < f->nr; i++)
		if (ioctl(f->polled[i].fd, how, 0))
			return -1;
	return 0;
}

static int open_all(struct floor *f, const struct perf_event_attr *attr)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
		if (open_place(f, cpu, attr))
			return -1;
	return switch_all(f, PERF_EVENT_IOC_ENABLE);
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

/* Writes what is between two positions of a ring, and releases it. */
static int take(int fd, const uint8_t *ring, size_t size, const __u64 *head_at, __u64 *tail_at)
{
	/* As the head is the kernel's to change: an acquire, then a release. */
	uint64_t head = __atomic_load_n(head_at, __ATOMIC_ACQUIRE), tail = *tail_at;
	size_t at = tail & (size - 1), len = head - tail;
	size_t first = len < size - at ? len : size - at;

	if (put(fd, ring + at, first) || put(fd, ring, len - first))
		return -1;
	__atomic_store_n(tail_at, head, __ATOMIC_RELEASE);
	return 0;
}

static int take_full(const struct floor *f, const struct place *p)
{
	struct perf_event_mmap_page *page = p->page;

	if (take(f->out, p->area, f->area, &page->aux_head, &page->aux_tail))
		return -1;
	return take(f->records, p->ring, RING, &page->data_head, &page->data_tail);
}

static int take_snapshot(const struct floor *f)
{
	int rc = switch_all(f, PERF_EVENT_IOC_DISABLE);

	for (int i = 0; !rc && i < f->nr; i++)
		rc = put(f->out, f->places[i].area, f->area);
	if (!rc)
		rc = switch_all(f, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < f->nr; i++) /* nothing of a ring is wanted */
		__atomic_store_n(&f->places[i].page->data_tail, f->places[i].page->data_head,
				 __ATOMIC_RELEASE);
	return rc;
}

static int loop(const struct floor *f, const sigset_t *inside)
{
	struct pollfd polled[MAX_CPUS];
	int rc = 0;

	memcpy(polled, f->polled, sizeof(polled));
	while (!rc && !stopped) {
		/* Signals come here alone. */
		int found = ppoll(polled, f->snapshot ? 0 : (nfds_t)f->nr, NULL, inside);

		if (asked) {
			asked = 0;
			rc = take_snapshot(f);
		}
		for (int i = 0; !rc && found > 0 && i < f->nr; i++)
			if (polled[i].revents)
				rc = take_full(f, &f->places[i]);
	}
	if (rc || switch_all(f, PERF_EVENT_IOC_DISABLE))
		return -1;
	for (int i = 0; !rc && !f->snapshot && i < f->nr; i++)
		rc = take_full(f, &f->places[i]);
	return rc;
}

/* Returns the AUX records in FILE.records that say that the area was full; -1 if it cannot. */
static long truncated(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct perf_event_header h;
	const uint8_t *p;
	long found = 0;

	if (size <= 0)
		return size < 0 ? -1 : 0;
	p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	for (off_t at = 0; at + (off_t)sizeof(h) <= size; at += h.size) {
		uint64_t words[3]; /* offset, size, flags */

		memcpy(&h, p + at, sizeof(h));
		if (h.size < sizeof(h))
			return -1;
		if (h.type != PERF_RECORD_AUX)
			continue;
		memcpy(words, p + at + sizeof(h), sizeof(words));
		found += (words[2] & PERF_AUX_FLAG_TRUNCATED) != 0;
	}
	return found;
}

static int run(struct floor *f, const struct perf_event_attr *attr, unsigned int seconds)
{
	struct sigaction on = {.sa_handler = on_signal};
	sigset_t ours, before;

	sigemptyset(&ours);
	for (const int *n = (const int[]){SIGINT, SIGALRM, SIGUSR2, 0}; *n; n++) {
		sigaddset(&ours, *n);
		sigaction(*n, &on, NULL);
	}
	sigprocmask(SIG_BLOCK, &ours, &before);
	if (open_all(f, attr))
		return -1;
	alarm(seconds);
	return loop(f, &before);
}

static size_t size_from(const char *text)
{
	char *unit;
	size_t n = strtoull(text, &unit, 0);

	return *unit == 'K' ? n << 10 : *unit == 'M' ? n << 20 : n;
}

static int open_file(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

int main(int argc, char **argv)
{
	static struct floor f;
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1, .watermark = 1};
	char records[4096];
	int option;

	while ((option = getopt(argc, argv, "S")) == 'S')
		f.snapshot = true;
	if (option != -1 || optind != argc - 6) {
		fprintf(stderr, "usage: aux-floor [-S] PMU BYTES PERIOD_US AREA FILE SECONDS\n");
		return 2;
	}
	argv += optind;
	f.area = size_from(argv[3]);
	attr.type = type_of(argv[0]);
	attr.config = strtoull(argv[1], NULL, 0);
	attr.config1 = strtoull(argv[2], NULL, 0);
	attr.config2 = f.snapshot ? 2 : 0; /* the head is an offset, as Intel PT's */
	attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.wakeup_watermark = RING / 2;
	attr.aux_watermark = f.snapshot ? 0 : (uint32_t)(f.area / 4);
	snprintf(records, sizeof(records), "%s.records", argv[4]);
	f.out = open_file(argv[4]);
	f.records = open_file(records);
	if (f.out < 0 || f.records < 0 || run(&f, &attr, (unsigned int)strtoul(argv[5], NULL, 0))) {
		perror("aux-floor");
		return 1;
	}
	if (!f.snapshot)
		printf("%ld %lld\n", truncated(f.records), (long long)lseek(f.out, 0, SEEK_END));
	return 0;
}
