// SPDX-License-Identifier: Apache-2.0
#include "record/plan/clock.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "sys/kernel/perf_event.h"

/* The end of all records, samples among them: sample_type is PERF_SAMPLE_TIME alone. */
struct trailer {
	uint64_t time;
};

static bool map_ring(struct clock *c)
{
	if (perf_event_map(c->fd, c->page_size, PERF_EVENT_CONSUME, &c->memory))
		return false;
	return !ring_init(&c->ring, c->memory, (uint8_t *)c->memory + c->page_size, c->page_size);
}

static void *map_page(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED ? page : NULL;
}

void clock_open(struct clock *c, const struct sample_opts *opts)
{
	struct pd_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.flags = PD_ATTR_COMM | PD_ATTR_SAMPLE_ID_ALL | PD_ATTR_EXCLUDE_KERNEL |
			 PD_ATTR_EXCLUDE_HV,
	};

	*c = (struct clock){
		.posix = opts->use_clockid,
		.id = opts->clockid,
		.fd = -1,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
	};
	if (c->posix)
		return;
	c->fd = perf_event_open(&attr, 0, -1, -1);
	if (c->fd < 0)
		return;
	if (!map_ring(c))
		clock_close(c);
	else
		c->page = map_page(c->page_size);
}

void clock_close(struct clock *c)
{
	perf_event_unmap(c->memory, c->page_size);
	if (c->page)
		munmap(c->page, c->page_size);
	if (c->fd >= 0)
		close(c->fd);
	c->memory = c->page = NULL;
	c->fd = -1;
}

/* Releases all records, and returns the time at the end of the last one; 0: there is none. */
static uint64_t newest(struct ring *ring)
{
	struct ring_spans spans;
	struct trailer trailer = {0};
	size_t len = ring_peek(ring, &spans);

	if (len >= sizeof(trailer))
		ring_spans_copy(&spans, len - sizeof(trailer), &trailer, sizeof(trailer));
	ring_release(ring, len);
	return trailer.time;
}

/* The page has no memory of its own: what is read is the kernel's page of zeros. */
static void fault(const struct clock *c)
{
	if (c->page && !madvise(c->page, c->page_size, MADV_DONTNEED))
		(void)*(const volatile char *)c->page;
}

static bool rename_to_same(void)
{
	char name[17] = "";

	return !prctl(PR_GET_NAME, name) && !prctl(PR_SET_NAME, name);
}

uint64_t clock_now(struct clock *c)
{
	uint64_t time;

	if (c->posix)
		return now_ns(c->id);
	if (c->fd < 0)
		return 0;
	/* Other faults of this thread: a full ring would take no more. */
	newest(&c->ring);
	fault(c);
	time = newest(&c->ring);
	return time || !rename_to_same() ? time : newest(&c->ring);
}
