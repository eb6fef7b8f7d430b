/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one thread writes, and what it learnt meanwhile: a file and the chain of sinks before it.
 *
 *   chain: tally ──► [compress] ──► file ──► writer
 *
 * One thread at a time uses a lane: the main thread until a worker has it and after that has ended.
 * Only lane_flushed_size() and lane_view() may be called meanwhile, by any.
 */
#ifndef RINGTAIL_RECORD_LANE_H
#define RINGTAIL_RECORD_LANE_H

#include <stdatomic.h>

#include "data/parts.h"
#include "record/compress.h"
#include "record/dsos.h"
#include "record/loss.h"
#include "record/sideband.h"
#include "record/tally.h"

/* Bytes of data in all files of an output, and how many make it full. */
struct meter {
	_Atomic uint64_t bytes, limit; /* limit 0: never */
};

struct lane {
	struct writer *writer;
	struct sink *file, *chain;
	struct sink *compress; /* NULL: records are not compressed */
	struct dso_names *dsos;
	struct loss lost_records;  /* sums of LOST, by CPU */
	struct loss dropped;	   /* by PMUs */
	struct sideband *sideband; /* where sideband goes besides; NULL: nowhere */
	struct meter *meter;	   /* of the output, not the lane's */
	bool saved;
	uint64_t metered;	   /* what of the file is in it, bytes */
	_Atomic uint64_t flushed_bytes, flushed_records;
	_Atomic uint64_t flushed_samples, flushed_lost, flushed_dropped; /* of lane_view() */
};

/*
 * Makes the chain before @writer, which belongs to the lane now. @compression: level, 0 for none.
 * @time_at as in struct tally_opts. @meter stays the caller's. Returns 0 or -ENOMEM;
 * lane_release() is due in both cases.
 */
int lane_init(struct lane *lane, struct writer *writer, int compression, unsigned int time_at,
	      struct meter *meter);
void lane_release(struct lane *lane); /* accepts an all-zero struct */

/* Flushes what the lane holds, and notes it. Returns 0 or a negative errno. */
int lane_flush(struct lane *lane, struct error *err);

/*
 * The last for a lane, when its recording failed with @code: makes readable what the disk still
 * takes. A second call does nothing.
 */
void lane_save(struct lane *lane, int code);

/* Brings the meter up to date. True if the output is full. */
bool lane_measure(struct lane *lane);

/* The chain was flushed. */
void lane_note_flush(struct lane *lane);

/* What was in its file at the last flush. */
struct part lane_flushed_size(const struct lane *lane);

/* What it had taken and written at the last flush; each number by itself is one that was true. */
struct lane_view {
	uint64_t samples;
	uint64_t bytes;		/* of records in its file */
	uint64_t lost, dropped; /* as LOST and LOST_SAMPLES records say */
};
struct lane_view lane_view(const struct lane *lane);

/* Adds what @from learnt to @to. Returns 0 or -ENOMEM. */
int lane_merge(struct lane *to, const struct lane *from);

#endif
