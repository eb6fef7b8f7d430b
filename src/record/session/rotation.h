/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotation of outputs (--switch-output), and names with the time (--timestamp-filename).
 *
 * The output that is being written has the name that the user gave. A rotation renames it to
 * NAME.YYYYMMDDhhmmsscc, as perf does (6.1: builtin-record.c, record__switch_output()). cc is
 * hundredths of a second of local time. A name that exists is never overwritten.
 *
 * The next output is created first. Then all workers visit all their rings twice and pause. The
 * initial state of the next output is written to it, the workers get their lanes in it and go on,
 * and the output before is finished. So no record is lost or written twice, and the pause lasts as
 * long as emptying the rings and writing the initial state.
 *
 * At a rotation for size, a single writer stops by itself behind the run that filled the output.
 * Later records go to the next output, so that a slow main thread makes no file larger. The initial
 * state is then as of the last settling of sideband. All sideband since then follows it, so that
 * the next output has what its oldest samples need.
 *
 * An output that others have moved, deleted or truncated is not renamed. It is finished where it
 * is, and the next one is made all the same.
 *
 * With -M a rotation is a request for a snapshot (record/session/snapshot_service.h). During a
 * snapshot it waits in the queue. The main thread's. An all-zero struct is empty.
 */
#ifndef RINGTAIL_RECORD_SESSION_ROTATION_H
#define RINGTAIL_RECORD_SESSION_ROTATION_H

#include "record/session/crew.h"
#include "record/session/outcome.h"
#include "record/live/sideband.h"

struct rotation {
	const struct output_opts *opts;
	const struct messages *messages;
	struct sideband *sideband;   /* NULL without switch_output, and with memory */
	struct lost_carryover *late; /* likewise */
	char **kept; /* finished outputs that exist, with switch_max_files; oldest first */
	size_t nr_kept, capacity;
	size_t nr_earlier; /* of these, by earlier recordings */
	/* Sums over finished outputs. */
	size_t outputs, deleted;
	uint64_t samples, trace, bytes; /* @trace: bytes of AUX areas */
	struct loss loss;
	uint64_t *taken; /* of each event: samples out of rings that are overwritten */
	char *last;	 /* name of the last finished output, if it was renamed */
	char *moved;	 /* name of an output that was renamed, when the next one failed */
	bool full;	 /* the next rotation is for size; the caller sets it */
	bool strayed;	 /* a message was printed: others moved, deleted or truncated it */
	size_t lost;	 /* outputs that were deleted before they were finished, without memory */
	struct names_wait wait; /* for names, at the end of each output */
};

/*
 * rotation_release() is due also on failure, which is -ENOMEM with @err filled. @patience (NULL:
 * none) has a say while an output waits for files at its end.
 */
int rotation_init(struct rotation *r, const struct output_opts *opts, const struct plan *plan,
		  const struct messages *messages, const struct patience *patience,
		  struct error *err);
void rotation_release(struct rotation *r);

/* The output has its initial state: watches its size from here on. */
void rotation_watch(const struct rotation *r, const struct output *out);

/* Prints once if the output was moved, deleted or truncated. Any time. */
void rotation_look(struct rotation *r, const struct output *out);

/* The workers have visited all their rings. Returns 0 or -ENOMEM with @err filled. */
int rotation_settle(struct rotation *r, struct error *err);

/*
 * Rotates: *@out is then the next output, unless UNDONE. Needs memory, or opts->rotation.enabled
 * and workers that run. @err is filled unless DONE, and must not be NULL.
 */
enum outcome rotation_rotate(struct rotation *r, struct crew *crew, struct output *out,
			     const struct plan *plan, const struct opened *opened,
			     struct error *err);

/* When no worker runs: finishes the last output. Returns 0 or a negative errno with @err filled. */
int rotation_end(struct rotation *r, struct output *out, const struct plan *plan,
		 const struct opened *opened, struct error *err);

#endif
