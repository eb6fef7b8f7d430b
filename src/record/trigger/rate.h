/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rate limit: at most N in any period of a given length.
 *
 * Times are ns of any clock that does not go back. One thread.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_RATE_H
#define RINGTAIL_RECORD_TRIGGER_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate {
	uint64_t *times; /* of the newest @limit; the oldest is at @at */
	size_t limit, nr, at;
	uint64_t stretch;
};

/* @limit 0: allows all. @stretch: length of the period, ns. Returns 0 or -ENOMEM. */
int rate_init(struct rate *r, size_t limit, uint64_t stretch);
void rate_release(struct rate *r); /* accepts an all-zero struct */

/* Returns whether the limit allows one more at @now, and if so, counts it. */
bool rate_allows(struct rate *r, uint64_t now);

#endif
