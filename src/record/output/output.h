/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output: the file, directory or pipe of a recording, with a lane for each thread that writes.
 *
 * A directory (-o DIR/, --threads, --kcore) of several workers has the file "data" and files
 * data.N. "data" holds the header, the main thread's records and a list of the parts
 * (data/file/parts.h); worker N writes data.N. Several workers with a pipe share one stream.
 *
 * One worker has one file, which is "data" in a directory, or a pipe. The main thread writes it
 * before the worker starts and after it has ended. There perf finds AUX traces, too, which it reads
 * by their offsets in "data".
 *
 * Ownership: an output owns lanes, writers and header; what comes from the caller must outlive it.
 * Threads: the main thread's, but for the lanes that workers have.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_OUTPUT_H
#define RINGTAIL_RECORD_OUTPUT_OUTPUT_H

#include "record/history/history.h"
#include "record/output/lane.h"
#include "record/loss/lost_carryover.h"
#include "record/open/open.h"

struct output {
	struct pd_evlist *list;
	struct lane *lanes; /* [0] is the main thread's; in a single file also the worker's */
	size_t nr;
	bool directory;		     /* each lane has a file of its own */
	pthread_mutex_t *stream;     /* of a shared stream: guards its writer; or NULL */
	const struct opened *opened; /* the caller's */
	struct meter *meter;
	struct writer_patience *patience; /* the caller's */
	bool no_build_ids;
	bool pipe; /* the output is "-" */
	struct symbols_opts symbols;
	struct names_wait *wait;   /* of output_finish(); the caller's; NULL: none */
	struct names_counts names; /* after output_finish() */
	/* With -M: losses in LOST records, and dropped samples, which lanes do not see; or NULL. */
	const struct loss *lost_records, *dropped;
	struct history *history; /* with -M: for the totals; the caller's */
	uint64_t taken;		 /* samples of the history at the end of the last output */
	uint64_t *counted;	 /* by descriptor: losses in this output and earlier ones */
	struct open_count *now;	 /* by descriptor, from output_count(); or NULL */
	bool by_event;		 /* losses come from the kernel's counters */
	bool gathered;		 /* the counts of all lanes are in @tally and the first lane */
	bool reported;		 /* losses that records reported are in @loss */
	bool losses_written;	 /* LOST_SAMPLES records for the losses are flushed */
	bool at_least;		 /* abandoned: more samples than in @tally may be readable */
	uint64_t trace_taken;	 /* bytes of AUX areas for this output; the session's */
	uint64_t trace_lost;	 /* of these: not written, after output_abandon() */
	struct loss loss;	 /* complete after output_finish() or output_abandon() */
	struct tally tally;	 /* likewise */
};

/*
 * Creates the output of @opts for the events of @opened and @workers threads. Until
 * output_persist() a write to a stream that takes no data fails with -EINTR when @patience (NULL:
 * none) ends. Returns 0 or a negative errno with @err filled; call output_release() in both cases.
 */
int output_create(struct output *out, const struct output_opts *opts, const struct plan *plan,
		  const struct opened *opened, size_t workers, struct writer_patience *patience,
		  struct error *err);

/* Calls writer_persist(), before workers run. Returns 0 or a negative errno with @err filled. */
int output_persist(struct output *out, struct error *err);

/* Returns the lane of worker @number. */
struct lane *output_lane(const struct output *out, size_t number);

/*
 * Any time: writes the flushed sizes of all parts to the header, so that a reporter notices if a
 * part was truncated. Returns 0 or a negative errno with @err filled.
 */
int output_checkpoint(struct output *out, struct error *err);

/* Calls writer_rest() for all lanes. Returns 0 or a negative errno. */
int output_rest(struct output *out, bool rests);

/* A position in an output that is all flushed. All zero: nothing to release. */
struct output_mark {
	struct lane_mark *lanes;
	size_t nr;
};

/* Calls lane_mark() for all lanes; returns as it does. Call output_mark_release() in all cases.
 */
int output_mark(const struct output *out, struct output_mark *ret);
void output_mark_release(struct output_mark *mark);

/* Removes what was written since @mark. Returns as writer_roll_back() does. */
int output_roll_back(struct output *out, const struct output_mark *mark, struct error *err);

/*
 * At a rotation, while all workers are paused: reads the kernel's counters. Later losses belong to
 * the next output. Tells @late which losses LOST records will report there although they belong to
 * this output. Returns 0 or -ENOMEM.
 */
int output_count(struct output *out, const struct plan *plan, struct lost_carryover *late);

/*
 * When no worker runs: counts and writes losses, and completes the output, which takes no more
 * records. Returns 0 or a negative errno with @err filled; output_abandon() is due on an error.
 */
int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err);

/*
 * When no worker runs and the recording has failed: counts losses, including samples that were
 * drained and are not readable, and writes the counts to the file if possible. Afterwards
 * out->tally has the readable samples.
 */
void output_abandon(struct output *out, const struct plan *plan, const struct opened *opened);

/* Makes all lanes add their sideband to @sideband, too (NULL: no more). */
void output_listen(struct output *out, struct sideband *sideband);

/*
 * As writer_place(), for the first file of the output that was moved or deleted. For a directory
 * output *@ret_path is the directory.
 */
enum writer_place output_place(const struct output *out, char **ret_path);

/*
 * When no worker runs: returns the samples, as of the last flush, in files that other processes
 * have deleted; all samples if the file with the header was deleted.
 */
uint64_t output_deleted_samples(const struct output *out);

/* Any time: returns the bytes of data that lane_measure() has counted so far. */
uint64_t output_metered(const struct output *out);

/* Makes lane_measure() return true from @bytes of data on; 0: never. */
void output_limit(const struct output *out, uint64_t bytes);

/* After output_finish(@before): losses that @before has counted do not count in @out. */
void output_follow(struct output *out, struct output *before);

/* When no worker runs: returns the size of all files, in bytes. */
uint64_t output_size(const struct output *out);

/* When no worker runs: adds up all compress stages in *@ret. Returns false if there are none. */
bool output_compression(const struct output *out, struct compress_stats *ret);

/*
 * When no worker runs: closes and deletes the output if it still has the name of @opts; a stream is
 * only closed. output_release() is due all the same.
 */
void output_discard(struct output *out, const struct output_opts *opts);

/* Closes and frees all. */
void output_release(struct output *out);

#endif
