/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that are overwritten, and their dumps.
 *
 * Nobody waits for such a ring, and nothing is taken from it but by a dump, which pauses all of
 * them, so that they end at the same moment, and copies what no dump before has taken. A ring goes
 * on as soon as it is copied. The two steps are apart so that the rings of sideband can be emptied
 * between them: what happened before the last sample is in the output then.
 *
 * Records of a ring come newest first, which is how they lie in it (ring/backward.h).
 *
 * One thread, its reader's, uses a struct overwrite_drain.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_OVERWRITE_DRAIN_H
#define RINGTAIL_RECORD_PIPELINE_OVERWRITE_DRAIN_H

#include "record/pipeline/fifo.h"
#include "record/pipeline/reader.h"

struct overwrite_drain;

/* @fifo remains the caller's. Returns NULL when out of memory. */
struct overwrite_drain *overwrite_drain_new(struct fifo *fifo);
void overwrite_drain_free(struct overwrite_drain *d); /* accepts NULL */

/* Adds a ring, mapped for reading only. Returns 0 or a negative errno with @err filled. */
int overwrite_drain_add(struct overwrite_drain *d, const struct reader_source *source,
			struct error *err);

/* The number of rings that were added. */
size_t overwrite_drain_rings(const struct overwrite_drain *d);

/*
 * Pauses all rings, and waits until nobody writes to them. Returns 0 or a negative errno with @err
 * filled.
 */
int overwrite_drain_pause(struct overwrite_drain *d, struct error *err);

/*
 * After overwrite_drain_pause(): takes what is new in ring number @i (below
 * overwrite_drain_rings()), waiting for room as long as that takes. With @go_on the ring is written
 * again. Returns 0 or a negative errno with
 * @err filled.
 */
int overwrite_drain_take(struct overwrite_drain *d, size_t i, bool go_on, struct error *err);

struct overwrite_drain_stats {
	uint64_t taken;	      /* bytes */
	uint64_t overwritten; /* bytes, before they could be taken */
	uint64_t dumps;
};
/* Counts of all rings so far. Valid as long as @d. */
const struct overwrite_drain_stats *overwrite_drain_stats(const struct overwrite_drain *d);

#endif
