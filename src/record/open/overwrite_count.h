/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much was overwritten in rings by what came later, as asked (--overwrite). It is no loss.
 *
 * Bytes of records are known from the heads of the rings (ring/backward.h). Samples are known
 * exactly of an event of which each count is a sample: those that the counter has, less those that
 * were taken, less those that were lost since they fell into a pause of their ring.
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
	struct overwrite_count_event *events; /* those of which samples were overwritten */
	size_t nr;
	size_t unknown;		    /* events of which that cannot be known */
	unsigned int first_unknown; /* one of them */
};

/*
 * When the events are disabled and all is taken: @taken are the samples of each event of @plan that
 * were taken out of rings that are overwritten. Returns 0 with @ret to be released, or -ENOMEM.
 */
int overwrite_count_read(const struct plan *plan, const struct opened *opened,
			 const uint64_t *taken, struct overwrite_count *ret);
void overwrite_count_release(struct overwrite_count *o);

#endif
