// SPDX-License-Identifier: Apache-2.0
#include "record/open/renumber.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/record.h"

struct pair {
	uint64_t from, to;
};

struct renumber {
	atomic_bool any;       /* read without the lock: most recordings have no pair */
	pthread_rwlock_t lock; /* guards the pairs */
	struct pair *pairs;    /* sorted by from */
	size_t nr, capacity;
};

struct renumber *renumber_new(void)
{
	struct renumber *r = calloc(1, sizeof(*r));

	if (r)
		pthread_rwlock_init(&r->lock, NULL);
	return r;
}

void renumber_free(struct renumber *r)
{
	if (!r)
		return;
	pthread_rwlock_destroy(&r->lock);
	free(r->pairs);
	free(r);
}

static int by_from(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

int renumber_add(struct renumber *r, uint64_t from, uint64_t to)
{
	size_t at;
	int rc;

	pthread_rwlock_wrlock(&r->lock);
	rc = array_grow(&r->pairs, &r->capacity, r->nr + 1, sizeof(*r->pairs));
	if (!rc) {
		/* The kernel's ids increase, so a new one is nearly always the last. */
		for (at = r->nr++; at && r->pairs[at - 1].from > from; at--)
			r->pairs[at] = r->pairs[at - 1];
		r->pairs[at] = (struct pair){from, to};
	}
	pthread_rwlock_unlock(&r->lock);
	atomic_store(&r->any, true);
	return rc;
}

static void replace(const struct renumber *r, uint8_t *id)
{
	const struct pair *found;
	struct pair key;

	memcpy(&key.from, id, sizeof(key.from));
	found = bsearch(&key, r->pairs, r->nr, sizeof(key), by_from);
	if (found)
		memcpy(id, &found->to, sizeof(found->to));
}

/* Offsets of ids in the bodies of records, by type, in bytes; 0: none. */
static const struct {
	uint8_t at[2];
} bodies[] = {
	[PERF_RECORD_SAMPLE] = {{8}},
	[PERF_RECORD_LOST] = {{8}},
	[PERF_RECORD_THROTTLE] = {{16, 24}},
	[PERF_RECORD_UNTHROTTLE] = {{16, 24}},
};

static void renumber_one(const struct renumber *r, uint32_t type, uint8_t *p, size_t size)
{
	for (size_t i = 0; type < sizeof(bodies) / sizeof(bodies[0]) && i < 2; i++)
		if (bodies[type].at[i] && bodies[type].at[i] + sizeof(uint64_t) <= size)
			replace(r, p + bodies[type].at[i]);
	if (type != PERF_RECORD_SAMPLE && size >= 2 * sizeof(uint64_t))
		replace(r, p + size - sizeof(uint64_t));
}

void renumber_records(struct renumber *r, uint8_t *p, size_t len)
{
	struct perf_event_header hdr;
	size_t size;

	if (!atomic_load_explicit(&r->any, memory_order_acquire))
		return;
	pthread_rwlock_rdlock(&r->lock);
	for (; (size = pd_record_at(p, len, &hdr)); p += size, len -= size)
		renumber_one(r, hdr.type, p, size);
	pthread_rwlock_unlock(&r->lock);
}

uint64_t renumber_id(struct renumber *r, uint64_t id)
{
	if (!atomic_load_explicit(&r->any, memory_order_acquire))
		return id;
	pthread_rwlock_rdlock(&r->lock);
	replace(r, (uint8_t *)&id);
	pthread_rwlock_unlock(&r->lock);
	return id;
}
