/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: the file that one thread writes, the stages before it, and their counts.
 *
 *   chain: tally ──► [overwrite_tally] ──► [compress] ──► file ──► writer
 *
 * Threads: one at a time uses a lane: the main thread before its worker starts and after it has
 * ended, else the worker. Any thread may call lane_flushed_size() and lane_view() at any time.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_LANE_H
#define RINGTAIL_RECORD_OUTPUT_LANE_H

#include <stdatomic.h>

#include "data/file/parts.h"
#include "record/pipeline/compress.h"
#include "record/names/names.h"
#include "record/output/dsos.h"
#include "record/loss/loss.h"
#include "record/open/open.h"
#include "record/live/sideband.h"
#include "record/pipeline/tally.h"

/* Bytes of data in all files of an output, and the limit from which it is full. */
struct meter {
	_Atomic uint64_t bytes, limit; /* limit 0: never full */
};

struct lane {
	struct writer *writer;
	bool borrowed, shared; /* the writer: see struct lane_opts */
	struct sink *file, *chain;
	struct sink *overwrite_tally; /* NULL: there is no overwrite ring */
	struct sink *compress;	      /* NULL: records are not compressed */
	struct dso_names *dsos;
	struct names *names;		  /* NULL: the output carries none */
	struct loss lost_records;	  /* from LOST records, by CPU */
	struct loss dropped;		  /* by PMUs, and by readers */
	const struct opened *opened;	  /* maps ids to events */
	struct throttle_stats *throttles; /* NULL: counted elsewhere */
	struct sideband *sideband;	  /* gets the sideband, too; or NULL */
	struct meter *meter;		  /* the output's */
	bool saved;			  /* lane_save() was called */
	bool stale;			  /* another process has truncated the file */
	uint64_t metered;		  /* bytes of this lane that @meter includes */
	_Atomic uint64_t flushed_bytes, flushed_records;
	_Atomic uint64_t flushed_samples, flushed_lost, flushed_dropped; /* of lane_view() */
	_Atomic uint64_t flushed_trace;					 /* likewise */
};

struct lane_opts {
	struct writer *writer;
	bool borrowed;		       /* the writer stays another lane's */
	pthread_mutex_t *shared;       /* guards a writer that several lanes use; else NULL */
	int compression;	       /* level, 0 for none */
	unsigned int time_at;	       /* as in struct tally_opts */
	bool own_build_ids;	       /* plan_build_ids() */
	const struct opened *opened;   /* this and what follows stay the caller's */
	const struct pd_evlist *named; /* samples of these need names; NULL: names are not kept */
	struct throttle_stats *throttles; /* NULL: throttling is counted elsewhere */
	struct meter *meter;
};

/*
 * Makes the chain before the writer. The lane owns the writer now, unless it is borrowed, also on
 * failure. Returns 0 or -ENOMEM; call lane_release() in both cases.
 */
int lane_init(struct lane *lane, const struct lane_opts *opts);
void lane_release(struct lane *lane); /* accepts an all-zero struct */

/* Flushes the chain and calls lane_note_flush(). Returns 0 or a negative errno with @err filled. */
int lane_flush(struct lane *lane, struct error *err);

/* Calls writer_rest(), unless the writer is shared. Returns 0 or a negative errno. */
int lane_rest(struct lane *lane, bool rests);

/*
 * After the recording failed with @cause: makes readable what the disk still takes. The lane takes
 * no more records. A second call does nothing.
 */
void lane_save(struct lane *lane, int cause);

/*
 * Writes @run, samples compressed already. @counts: their records, samples and times; @bytes: their
 * size before. Only with opts->compression. Returns 0 or a negative errno with @err filled.
 */
int lane_write_packed(struct lane *lane, const struct run *run, const struct tally *counts,
		      size_t bytes, struct error *err);

/* Counts the records of @run as not written, because the recording has failed. */
void lane_discard(struct lane *lane, const struct run *run);

/* A position in a lane that is all flushed. All zero: nothing to release. */
struct lane_mark {
	struct writer_mark *writer;
	struct tally counts;
	struct compress_stats compression;
};

/*
 * Takes the position now. Returns 0 or a negative errno; -ENOTSUP for a stream, which cannot be
 * rolled back. Call lane_mark_release() in both cases.
 */
int lane_mark(const struct lane *lane, struct lane_mark *ret);
void lane_mark_release(struct lane_mark *mark);

/* Removes what was written since @mark. Returns as writer_roll_back() does. */
int lane_roll_back(struct lane *lane, const struct lane_mark *mark, struct error *err);

/* Makes room for addresses that need names, if those of the samples written so far are many. */
void lane_make_room(struct lane *lane);

/* Adds the lane's new bytes to the meter. Returns true if the output is full. */
bool lane_measure(struct lane *lane);

/* Returns the bytes of data in its file; of a shared file, those that it wrote. */
uint64_t lane_bytes(const struct lane *lane);

/* Stores the counts for lane_flushed_size() and lane_view(), after the chain was flushed. */
void lane_note_flush(struct lane *lane);

/* Returns the contents of its file at the last flush. */
struct part lane_flushed_size(const struct lane *lane);

/* Counts at the last flush. A flush may come between the reads of two of them. */
struct lane_view {
	uint64_t samples;
	uint64_t bytes;		/* of records in its file */
	uint64_t lost, dropped; /* from LOST and LOST_SAMPLES records */
	uint64_t trace;		/* bytes of AUX areas */
};

/* Returns the counts at the last flush. */
struct lane_view lane_view(const struct lane *lane);

/*
 * Adds the count of @hdr, a record of @cpu: of a LOST record to @lost_records, of a LOST_SAMPLES
 * record to @dropped. Returns 0 or -ENOMEM; ignores malformed records.
 */
int lane_count_lost(const struct opened *opened, const struct perf_event_header *hdr, int cpu,
		    struct loss *lost_records, struct loss *dropped);

/* Adds the losses and files of @from to @to. Returns 0 or -ENOMEM. */
int lane_merge(struct lane *to, const struct lane *from);

#endif
