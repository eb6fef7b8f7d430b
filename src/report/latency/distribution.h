/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distribution of durations: percentiles, and a histogram in powers of two.
 *
 * It keeps values exactly, up to DISTRIBUTION_EXACT of them; then it counts them in buckets, and
 * percentiles are within 1 %. Count, sum, least and greatest value are always exact. All zero: no
 * values. One thread.
 */
#ifndef RINGTAIL_REPORT_LATENCY_DISTRIBUTION_H
#define RINGTAIL_REPORT_LATENCY_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISTRIBUTION_EXACT  ((size_t)1 << 16)
#define DISTRIBUTION_POWERS 65

struct distribution {
	uint64_t count, sum, min, max; /* the sum is at most UINT64_MAX */
	/* powers[0] counts zeroes, powers[n] values from 2^(n-1) up to, but without, 2^n. */
	uint64_t powers[DISTRIBUTION_POWERS];
	uint64_t *values; /* while few */
	size_t cap;
	bool sorted;
	uint64_t *buckets; /* once many; NULL before */
};

/* Returns 0 or -ENOMEM. */
int distribution_add(struct distribution *d, uint64_t value);

/* Returns the least value that the share @share (0 to 1) of the values does not exceed; 0: none. */
uint64_t distribution_at(struct distribution *d, double share);

/* Returns how many values are less than @value; if not exactly, too few. */
uint64_t distribution_below(const struct distribution *d, uint64_t value);

void distribution_release(struct distribution *d); /* accepts zeroes */

#endif
