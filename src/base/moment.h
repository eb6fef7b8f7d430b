/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point in the order of a recording: time first, place in the file among equals.
 *
 * Sideband and samples are compared by it, so "the map as of this sample" has one meaning, in
 * whatever order the records are read. A record without a time gets the moment at which a reader in
 * file order would have seen it (data/order/order.h).
 */
#ifndef RINGTAIL_BASE_MOMENT_H
#define RINGTAIL_BASE_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct moment {
	uint64_t time; /* ns of the recording's clock */
	uint64_t seq;  /* place in the file among records of one time */
};

/* Whether @a is earlier than @b. */
static inline bool moment_before(struct moment a, struct moment b)
{
	return a.time != b.time ? a.time < b.time : a.seq < b.seq;
}

#endif
