/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drains the overwrite rings of a reader, when a flush or the end asks for it.
 *
 * The kernel wakes nobody for such a ring. A drain has two steps: overwrite_drain_pause() pauses
 * all rings, so that they end at the same moment, and overwrite_drain_take() copies from one ring
 * what no earlier drain has copied, and resumes it. Between the two the caller drains the rings of
 * sideband: all sideband older than the last sample is then in the output.
 *
 * Records of a ring come newest first, as they lie in it (ring/backward.h).
 *
 * Threads: one, the reader's, uses a struct overwrite_drain.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_OVERWRITE_DRAIN_H
#define RINGTAIL_RECORD_PIPELINE_OVERWRITE_DRAIN_H

#include "record/pipeline/fifo.h"
#include "record/pipeline/reader.h"

struct overwrite_drain;

/* Returns a drain into @fifo, which remains the caller's, or NULL when out of memory. */
struct overwrite_drain *overwrite_drain_new(struct fifo *fifo);
void overwrite_drain_free(struct overwrite_drain *d); /* accepts NULL */

/*
 * Adds a ring, mapped for reading only. Its memory and descriptors remain the caller's. Returns 0
 * or a negative errno with @err filled: -ENOMEM, or what backward_init() returns.
 */
int overwrite_drain_add(struct overwrite_drain *d, const struct reader_source *source,
			struct error *err);

/* Returns the number of rings. */
size_t overwrite_drain_rings(const struct overwrite_drain *d);

/*
 * Pauses all rings, and waits until no CPU writes to them any more. Returns 0 or a negative errno
 * with @err filled.
 */
int overwrite_drain_pause(struct overwrite_drain *d, struct error *err);

/*
 * After overwrite_drain_pause(): copies the new records of ring @i (below overwrite_drain_rings())
 * to the fifo, and waits for room there if need be. With @go_on it resumes the ring. Returns 0 or a
 * negative errno with @err filled.
 */
int overwrite_drain_take(struct overwrite_drain *d, size_t i, bool go_on, struct error *err);

struct overwrite_drain_stats {
	uint64_t taken;	      /* bytes */
	uint64_t overwritten; /* bytes that the kernel replaced before a drain */
	uint64_t drains;
};

/* Returns the counts, which remain the drain's. */
const struct overwrite_drain_stats *overwrite_drain_stats(const struct overwrite_drain *d);

#endif
