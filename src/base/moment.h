/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A moment: the time of a record, and among equal times its place in the file.
 *
 * The reporter compares sideband and samples by moment, so "the map as of this sample" has one
 * meaning in whatever order it walks the records. A record without a time gets the moment at which
 * a reader in file order would have met it (data/order/order.h).
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
