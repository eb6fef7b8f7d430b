/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one thread writes, and what it learnt meanwhile: a file and the chain of sinks before it.
 *
 *   chain: tally ──► [census] ──► [compress] ──► file ──► writer
 *
 * One thread at a time uses a lane: the main thread until a worker has it and after that has ended.
 * Only lane_flushed_size() and lane_view() may be called meanwhile, by any.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_LANE_H
#define RINGTAIL_RECORD_OUTPUT_LANE_H

#include <stdatomic.h>

#include "data/file/parts.h"
#include "record/pipeline/compress.h"
#include "record/output/dsos.h"
#include "record/loss/loss.h"
#include "record/open/open.h"
#include "record/live/sideband.h"
#include "record/pipeline/tally.h"

/* Bytes of data in all files of an output, and how many make it full. */
struct meter {
	_Atomic uint64_t bytes, limit; /* limit 0: never */
};

struct lane {
	struct writer *writer;
	bool borrowed, shared; /* the writer: see struct lane_opts */
	struct sink *file, *chain;
	struct sink *census;   /* NULL: no ring is overwritten */
	struct sink *compress; /* NULL: records are not compressed */
	struct dso_names *dsos;
	struct loss lost_records;	  /* sums of LOST, by CPU */
	struct loss dropped;		  /* by PMUs, and by our readers */
	const struct opened *opened;	  /* says which event an id is of */
	struct throttle_stats *throttles; /* NULL: counted elsewhere */
	struct sideband *sideband;	  /* where sideband goes besides; NULL: nowhere */
	struct meter *meter;		  /* of the output, not the lane's */
	bool saved, stale;		  /* stale: others have truncated its file */
	uint64_t metered;		  /* what of the file is in it, bytes */
	_Atomic uint64_t flushed_bytes, flushed_records;
	_Atomic uint64_t flushed_samples, flushed_lost, flushed_dropped; /* of lane_view() */
};

struct lane_opts {
	struct writer *writer;
	bool borrowed;		     /* the writer stays another lane's */
	pthread_mutex_t *shared;     /* held while the writer is used; NULL: nobody else does */
	int compression;	     /* level, 0 for none */
	unsigned int time_at;	     /* as in struct tally_opts */
	bool own_build_ids;	     /* plan_build_ids() */
	const struct opened *opened; /* this and what follows stay the caller's */
	struct throttle_stats *throttles; /* counts throttling; NULL: somebody else does */
	struct meter *meter;
};

/*
 * Makes the chain before the writer, which belongs to the lane now unless it is borrowed. Returns 0
 * or -ENOMEM; lane_release() is due in both cases.
 */
int lane_init(struct lane *lane, const struct lane_opts *opts);
void lane_release(struct lane *lane); /* accepts an all-zero struct */

/* Flushes what the lane holds, and notes it. Returns 0 or a negative errno. */
int lane_flush(struct lane *lane, struct error *err);

/* As writer_rest(). */
int lane_rest(struct lane *lane, bool rests);

/*
 * The last for a lane, when its recording failed with @code: makes readable what the disk still
 * takes. A second call does nothing.
 */
void lane_save(struct lane *lane, int cause);

/*
 * Writes @run, samples that are compressed already as this lane would: @counts says what they are
 * (records, samples, times), @bytes how many they were. Returns 0 or a negative errno with @err
 * filled. Only with opts->compression.
 */
int lane_write_packed(struct lane *lane, const struct run *run, const struct tally *counts,
		      size_t bytes, struct error *err);

/* Counts what came after the recording failed. */
void lane_discard(struct lane *lane, const struct run *run);

/* Where a lane stands, all of it flushed. An all-zero struct is released. */
struct lane_mark {
	struct writer_mark *writer;
	struct tally counts;
	struct compress_stats compression;
};

/*
 * Returns 0 or a negative errno, -ENOTSUP where nothing can be taken back: a stream.
 * lane_mark_release() is due in both cases.
 */
int lane_mark(const struct lane *lane, struct lane_mark *ret);
void lane_mark_release(struct lane_mark *mark);

/* Takes back what was written since. Returns as writer_roll_back() does. */
int lane_roll_back(struct lane *lane, const struct lane_mark *mark, struct error *err);

/* Brings the meter up to date. True if the output is full. */
bool lane_measure(struct lane *lane);

/* Bytes of data in its file, or that it put into a shared one. */
uint64_t lane_bytes(const struct lane *lane);

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

/*
 * Adds what a LOST or LOST_SAMPLES record says, that came from @cpu: of the kernel's rings to
 * @lost_records, all other to @dropped. Returns 0 or -ENOMEM.
 */
int lane_count_lost(const struct opened *opened, const struct perf_event_header *hdr, int cpu,
		    struct loss *lost_records, struct loss *dropped);

/* Adds what @from learnt to @to. Returns 0 or -ENOMEM. */
int lane_merge(struct lane *to, const struct lane *from);

#endif
