/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what was overwritten in overwrite rings (--overwrite). That is no loss, because the user
 * asked for it.
 *
 * Bytes come from the heads of the rings (ring/backward.h). Samples are exact for an event whose
 * every count is a sample: the counter, less the samples drained, less those lost while their ring
 * was paused.
 *
 * Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_OPEN_OVERWRITE_COUNT_H
#define RINGTAIL_RECORD_OPEN_OVERWRITE_COUNT_H

#include "record/open/open.h"

struct overwrite_count_event {
	unsigned int event; /* index in the plan */
	uint64_t samples;
};

/* An all-zero struct is empty. */
struct overwrite_count {
	uint64_t bytes;			      /* of all records */
	struct overwrite_count_event *events; /* those with overwritten samples */
	size_t nr;
	size_t unknown;		    /* events whose overwritten samples cannot be counted */
	unsigned int first_unknown; /* one of them */
};

/*
 * After the events are disabled and all rings drained: fills @ret but for its bytes. @taken: the
 * samples drained from overwrite rings, by event of @plan. Returns 0 with @ret to be released, or
 * -ENOMEM.
 */
int overwrite_count_read(const struct plan *plan, const struct opened *opened,
			 const uint64_t *taken, struct overwrite_count *ret);

/* Frees what @o holds and empties it. */
void overwrite_count_release(struct overwrite_count *o);

#endif
