// SPDX-License-Identifier: Apache-2.0
#include "ring/backward.h"

#include <errno.h>
#include <string.h>

int backward_init(struct backward *b, const void *page, const void *data, uint64_t size)
{
	if (size < 8 || (size & (size - 1)))
		return -EINVAL;
	b->page = page;
	b->data = data;
	b->size = size;
	b->read = b->page->data_head;
	return 0;
}

/* Returns the bytes of the whole records in the @window bytes from @head on. */
static uint64_t whole_records(const struct backward *b, uint64_t head, uint64_t window)
{
	struct perf_event_header h;
	uint64_t at = 0;

	/* Everything is a multiple of 8 bytes, so that no header wraps. */
	while (window - at >= sizeof(h)) {
		memcpy(&h, b->data + ((head + at) & (b->size - 1)), sizeof(h));
		if (h.size < sizeof(h) || h.size % 8 || h.size > window - at)
			break;
		at += h.size;
	}
	return at;
}

size_t backward_find(const struct backward *b, struct backward_records *ret)
{
	/* Pairs with the kernel's B, as in ring_peek(): everything above the head is written. */
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t written = b->read - head;
	uint64_t bytes = whole_records(b, head, written < b->size ? written : b->size);
	uint64_t at = head & (b->size - 1);

	ret->head = head;
	ret->overwritten = written - bytes;
	ret->spans.a = b->data + at;
	ret->spans.a_len = bytes < b->size - at ? bytes : b->size - at;
	ret->spans.b = b->data;
	ret->spans.b_len = bytes - ret->spans.a_len;
	return bytes;
}

void backward_done(struct backward *b, const struct backward_records *found)
{
	b->read = found->head;
}
