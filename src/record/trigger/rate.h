/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit: at most N in any stretch of time, wherever the stretch begins.
 *
 * Times are ns of any clock that does not go back. One thread.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_RATE_H
#define RINGTAIL_RECORD_TRIGGER_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate {
	uint64_t *times; /* of the last @limit that were allowed; the oldest at @at */
	size_t limit, nr, at;
	uint64_t stretch;
};

/* @limit 0: each is allowed. Returns 0 or -ENOMEM. */
int rate_init(struct rate *r, size_t limit, uint64_t stretch);
void rate_release(struct rate *r); /* accepts one that is all zero */

/* Whether one more at @now is allowed; if so, it counts. */
bool rate_allows(struct rate *r, uint64_t now);

#endif
