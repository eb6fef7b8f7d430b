// SPDX-License-Identifier: Apache-2.0
#include "report/latency/distribution.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/* Each power of two has 128 buckets, so a bucket is narrower than 1 % of its values. */
#define BITS	7u
#define BUCKETS (58u << BITS)

static unsigned int power_of(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static size_t bucket_of(uint64_t value)
{
	unsigned int power = power_of(value), shift = power > BITS + 1 ? power - BITS - 1 : 0;

	return ((size_t)shift << BITS) + (value >> shift);
}

/* The middle of a bucket. */
static uint64_t value_of(size_t bucket)
{
	size_t shift = bucket >> BITS ? (bucket >> BITS) - 1 : 0;
	uint64_t low = (uint64_t)(bucket - (shift << BITS)) << shift;

	return low + (shift ? 1ull << (shift - 1) : 0);
}

static int to_buckets(struct distribution *d)
{
	d->buckets = calloc(BUCKETS, sizeof(*d->buckets));
	if (!d->buckets)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++)
		d->buckets[bucket_of(d->values[i])]++;
	free(d->values);
	d->values = NULL;
	return 0;
}

int distribution_add(struct distribution *d, uint64_t value)
{
	int rc = 0;

	if (d->count == DISTRIBUTION_EXACT)
		rc = to_buckets(d);
	if (!rc && !d->buckets)
		rc = array_grow(&d->values, &d->cap, d->count + 1, sizeof(*d->values));
	if (rc)
		return rc;
	if (d->buckets)
		d->buckets[bucket_of(value)]++;
	else
		d->values[d->count] = value;
	d->sorted = false;
	if (!d->count || value < d->min)
		d->min = value;
	if (value > d->max)
		d->max = value;
	if (__builtin_add_overflow(d->sum, value, &d->sum))
		d->sum = UINT64_MAX;
	d->powers[power_of(value)]++;
	d->count++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t in_buckets(const struct distribution *d, uint64_t rank)
{
	uint64_t before = 0, value;

	for (size_t i = 0; i < BUCKETS; i++) {
		before += d->buckets[i];
		if (before < rank)
			continue;
		value = value_of(i);
		return value < d->min ? d->min : value > d->max ? d->max : value;
	}
	return d->max;
}

uint64_t distribution_at(struct distribution *d, double share)
{
	double place = share * (double)d->count;
	uint64_t rank;

	if (!d->count)
		return 0;
	rank = (uint64_t)place;
	if ((double)rank < place)
		rank++;
	rank = rank < 1 ? 1 : rank > d->count ? d->count : rank;
	if (rank == d->count)
		return d->max;
	if (d->buckets)
		return in_buckets(d, rank);
	if (!d->sorted)
		qsort(d->values, d->count, sizeof(*d->values), compare);
	d->sorted = true;
	return d->values[rank - 1];
}

uint64_t distribution_below(const struct distribution *d, uint64_t value)
{
	uint64_t below = 0;

	for (size_t i = 0; d->buckets && i < bucket_of(value); i++)
		below += d->buckets[i];
	for (size_t i = 0; d->values && i < d->count; i++)
		below += d->values[i] < value;
	return below;
}

void distribution_release(struct distribution *d)
{
	free(d->values);
	free(d->buckets);
	*d = (struct distribution){0};
}
