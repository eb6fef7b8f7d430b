/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output side of a recording: events and features of the header, and a lane for each thread
 * that writes.
 *
 * With --threads the output is a directory: "data" with the header, what the main thread writes
 * and an account of the others (data/parts.h), and data.N, which worker N writes. Else there is one
 * file or pipe, that the main thread writes before the only worker runs and when it has ended.
 *
 * The main thread's, but for the lanes that workers have.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_H
#define RINGTAIL_RECORD_OUTPUT_H

#include "record/lane.h"
#include "record/open.h"

struct output {
	struct pd_evlist *list;
	struct lane *lanes; /* [0] is the main thread's, and the only one without a directory */
	size_t nr;
	const struct opened *opened; /* the caller's */
	struct meter *meter;
	uint64_t *counted;  /* of each descriptor: losses in this output and those before it */
	struct loss loss;   /* complete after output_finish() */
	struct tally tally; /* likewise */
};

/*
 * Creates the output of @opts for the events of @opened and @workers threads (with
 * opts->threads; else there is one). Returns 0 or a negative errno with @err filled;
 * output_release() is due in both cases.
 */
int output_create(struct output *out, const struct record_opts *opts, const struct plan *plan,
		  const struct opened *opened, size_t workers, struct error *err);

/* What worker @number writes to. */
struct lane *output_lane(const struct output *out, size_t number);

/*
 * Publishes what the workers have flushed, so that its loss would be noticed. Any time. Returns 0
 * or a negative errno.
 */
int output_checkpoint(struct output *out, struct error *err);

/*
 * When no worker runs: counts what was lost, writes it, and completes the output. Nothing may be
 * written afterwards.
 */
int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err);

/* From now on sideband goes to @sideband, too (NULL: no more). */
void output_listen(struct output *out, struct sideband *sideband);

/* Bytes of data that lanes have measured so far. Any time. */
uint64_t output_metered(const struct output *out);

/* At that many bytes of data lane_measure() tells that it is full; 0: never. */
void output_limit(const struct output *out, uint64_t bytes);

/* After output_finish(@before): losses that it has counted are none of @out. */
void output_follow(struct output *out, struct output *before);

uint64_t output_size(const struct output *out); /* bytes; when no worker runs */

/* Of all stages that compress; when no worker runs. False if there are none. */
bool output_compression(const struct output *out, struct compress_stats *ret);

void output_release(struct output *out);

#endif
