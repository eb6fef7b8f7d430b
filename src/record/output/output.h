/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output side of a recording: events and features of the header, and a lane for each thread
 * that writes.
 *
 * A directory, as with --threads, has "data" with the header, what the main thread writes and an
 * account of the others (data/parts.h), and data.N, which worker N writes. A pipe is one stream
 * that all lanes share. Else there is one file or pipe, that the main thread writes before the only
 * worker runs and when it has ended.
 *
 * The main thread's, but for the lanes that workers have.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_OUTPUT_H
#define RINGTAIL_RECORD_OUTPUT_OUTPUT_H

#include "record/history/history.h"
#include "record/output/lane.h"
#include "record/loss/lost_carryover.h"
#include "record/open/open.h"

struct output {
	struct pd_evlist *list;
	struct lane *lanes; /* [0] is the main thread's, and the only one without a directory */
	size_t nr;
	bool directory;		     /* each lane has a file of its own */
	pthread_mutex_t *stream;     /* else, with several: guards the writer that they share */
	const struct opened *opened; /* the caller's */
	struct meter *meter;
	struct writer_patience *patience; /* the caller's */
	bool no_build_ids;
	/* What LOST records say, and what was dropped, where lanes do not see all of it; or NULL.
	 */
	const struct loss *lost_records, *dropped;
	struct history *history; /* with -M: the account of what was taken; the caller's */
	uint64_t taken;		 /* samples that it had when the output before was complete */
	uint64_t *counted;	 /* of each descriptor: losses in this output and those before it */
	struct open_count *now;	 /* of each descriptor, as of output_count(); or NULL */
	bool by_event;		 /* the kernel's counters told what the rings have lost */
	bool gathered, told; /* what lanes learnt is in @tally and the first lane, and in @loss */
	bool losses_written; /* and flushed: nothing is to be told in another way */
	bool at_least;	     /* given up, and more may be readable than @tally says */
	struct loss loss;    /* complete after output_finish() or output_abandon() */
	struct tally tally;  /* likewise */
};

/*
 * Creates the output of @opts for the events of @opened and @workers threads (with
 * opts->directory; else there is one). A stream that takes nothing is given up, with -EINTR, when
 * @patience (NULL: none) ends, until output_persist(). Returns 0 or a negative errno with @err
 * filled; output_release() is due in both cases.
 */
int output_create(struct output *out, const struct output_opts *opts, const struct plan *plan,
		  const struct opened *opened, size_t workers, struct writer_patience *patience,
		  struct error *err);

/* As writer_persist(), before workers run. */
int output_persist(struct output *out, struct error *err);

/* What worker @number writes to. */
struct lane *output_lane(const struct output *out, size_t number);

/*
 * Publishes what the workers have flushed, so that its loss would be noticed. Any time. Returns 0
 * or a negative errno.
 */
int output_checkpoint(struct output *out, struct error *err);

/* As writer_rest(), of all lanes. */
int output_rest(struct output *out, bool rests);

/* Where an output stands, all of it flushed. An all-zero struct is released. */
struct output_mark {
	struct lane_mark *lanes;
	size_t nr;
};

/* As lane_mark(). */
int output_mark(const struct output *out, struct output_mark *ret);
void output_mark_release(struct output_mark *mark);

/* Takes back what was written since. Returns as writer_roll_back() does. */
int output_roll_back(struct output *out, const struct output_mark *mark, struct error *err);

/*
 * While all workers are paused: what is lost from now on is of the next output, and what @late
 * mends there was of this one. Returns 0 or -ENOMEM.
 */
int output_count(struct output *out, const struct plan *plan, struct lost_carryover *late);

/*
 * When no worker runs: counts what was lost, writes it, and completes the output. Nothing may be
 * written afterwards.
 */
int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err);

/*
 * When no worker runs and the recording has failed: counts what was lost, of that what was taken
 * and is not readable, and says it in the file if that is possible. Its samples are then those that
 * are readable.
 */
void output_abandon(struct output *out, const struct plan *plan, const struct opened *opened);

/* From now on sideband goes to @sideband, too (NULL: no more). */
void output_listen(struct output *out, struct sideband *sideband);

/*
 * As writer_place(), of the first file that is not where it was; *@ret_path is the directory where
 * there is one.
 */
enum writer_place output_place(const struct output *out, char **ret_path);

/*
 * Samples in files that others have deleted, as of their last flush; all of them where the file
 * with the header is gone. When no worker runs.
 */
uint64_t output_deleted_samples(const struct output *out);

/* Bytes of data that lanes have measured so far. Any time. */
uint64_t output_metered(const struct output *out);

/* At that many bytes of data lane_measure() tells that it is full; 0: never. */
void output_limit(const struct output *out, uint64_t bytes);

/* After output_finish(@before): losses that it has counted are none of @out. */
void output_follow(struct output *out, struct output *before);

uint64_t output_size(const struct output *out); /* bytes; when no worker runs */

/* Of all stages that compress; when no worker runs. False if there are none. */
bool output_compression(const struct output *out, struct compress_stats *ret);

/*
 * Closes and deletes an output, as long as it has the name of @opts; a stream stays as it is. No
 * worker may run. output_release() is due all the same.
 */
void output_discard(struct output *out, const struct output_opts *opts);

/* Frees the memory and closes the lanes; deletes no file. For an output in any state. */
void output_release(struct output *out);

#endif
