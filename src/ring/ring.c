// SPDX-License-Identifier: Apache-2.0
#include "ring/ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "perfdata/record.h"

int ring_init(struct ring *r, void *page, const void *data, uint64_t size)
{
	if (size < 8 || (size & (size - 1)))
		return -EINVAL;
	r->page = page;
	r->data = data;
	r->size = size;
	r->tail = r->page->data_tail;
	return 0;
}

struct ring_spans ring_spans_of(const uint8_t *data, uint64_t size, uint64_t position,
				uint64_t bytes)
{
	uint64_t at = position & (size - 1), first = bytes < size - at ? bytes : size - at;

	return (struct ring_spans){
		.a = data + at, .b = data, .a_len = first, .b_len = bytes - first};
}

size_t ring_peek(const struct ring *r, struct ring_spans *ret)
{
	/* C: pairs with the kernel's B, the barrier between its data and its store of data_head. */
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t bytes = head - r->tail;

	/*
	 * The kernel never runs further ahead than the size. A damaged head must not make us read
	 * more.
	 */
	if (bytes > r->size)
		bytes = 0;
	*ret = ring_spans_of(r->data, r->size, r->tail, bytes);
	return bytes;
}

void ring_pass(struct ring *r, size_t bytes)
{
	assert(bytes <= r->size);
	r->tail += bytes;
}

void ring_release(struct ring *r, size_t bytes)
{
	ring_pass(r, bytes);
	/* D: pairs with the kernel's A; our loads of the data are done before it sees the room. */
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

void ring_spans_copy(const struct ring_spans *spans, size_t from, void *to, size_t len)
{
	size_t first = 0;

	if (from < spans->a_len) {
		first = len < spans->a_len - from ? len : spans->a_len - from;
		memcpy(to, spans->a + from, first);
	}
	if (first < len)
		memcpy((uint8_t *)to + first, spans->b + (from + first - spans->a_len),
		       len - first);
}

size_t ring_whole_records(const uint8_t *p, size_t len)
{
	struct perf_event_header hdr;
	size_t at = 0, size;

	while ((size = pd_record_at(p + at, len - at, &hdr)))
		at += size;
	return at;
}
