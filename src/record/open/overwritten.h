/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much was overwritten in rings by what came later, as asked (--overwrite). It is no loss.
 *
 * Bytes of records are known from the heads of the rings (ring/backward.h). Samples are known
 * exactly of an event of which each count is a sample: those that the counter has, less those that
 * were taken, less those that were lost since they fell into a pause of their ring.
 */
#ifndef RINGTAIL_RECORD_OPEN_OVERWRITTEN_H
#define RINGTAIL_RECORD_OPEN_OVERWRITTEN_H

#include "record/open/open.h"

struct overwritten_event {
	unsigned int event; /* index in the plan */
	uint64_t samples;
};

/* An all-zero struct is empty. */
struct overwritten {
	uint64_t bytes;			  /* of all records */
	struct overwritten_event *events; /* those of which samples were overwritten */
	size_t nr;
	size_t unknown;		    /* events of which that cannot be known */
	unsigned int first_unknown; /* one of them */
};

/*
 * When the events are disabled and all is taken: @taken are the samples of each event of @plan that
 * were taken out of rings that are overwritten. Returns 0 with @ret to be released, or -ENOMEM.
 */
int overwritten_count(const struct plan *plan, const struct opened *opened, const uint64_t *taken,
		      struct overwritten *ret);
void overwritten_release(struct overwritten *o);

#endif
