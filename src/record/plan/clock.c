// SPDX-License-Identifier: Apache-2.0
#include "record/plan/clock.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "sys/kernel/perf_event.h"

/* The trailer of the COMM record: sample_type is PERF_SAMPLE_TIME alone. */
struct trailer {
	uint64_t time;
};

static bool map_ring(struct clock *c)
{
	if (perf_event_map(c->fd, c->page_size, PERF_EVENT_CONSUME, &c->memory))
		return false;
	return !ring_init(&c->ring, c->memory, (uint8_t *)c->memory + c->page_size, c->page_size);
}

void clock_open(struct clock *c, const struct sample_opts *opts)
{
	struct pd_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
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
	if (c->fd >= 0 && !map_ring(c))
		clock_close(c);
}

void clock_close(struct clock *c)
{
	perf_event_unmap(c->memory, c->page_size);
	if (c->fd >= 0)
		close(c->fd);
	c->memory = NULL;
	c->fd = -1;
}

/* Returns the time at the end of the last record. */
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

uint64_t clock_now(struct clock *c)
{
	char name[17] = "";

	if (c->posix)
		return now_ns(c->id);
	if (c->fd < 0 || prctl(PR_GET_NAME, name) || prctl(PR_SET_NAME, name))
		return 0;
	return newest(&c->ring);
}
