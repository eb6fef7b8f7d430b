/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a snapshot of memory (record/flight/flight.h) to an output, while recording goes on.
 *
 * All workers visit all their rings: what they hold then belongs to the snapshot. They visit them
 * once more, so that all maps and names that its samples need are there. Then the main thread
 * writes through the output's lanes: the requests (perfdata/snapshot_log.h), what was alive before
 * the oldest sample, the log since then, the samples, oldest first, and the figures. Workers go on
 * meanwhile. They wait only for memory that unwritten samples of the snapshot take.
 *
 * The records between the first request of a number and the next of another are that snapshot's.
 * In a directory each file has the request; figures are in the first.
 *
 * The end of a snapshot is marked as a round: no record after the next mark is older than those
 * before this one. A snapshot that left out samples has no mark, since a later one may write them.
 *
 * A snapshot that takes long is flushed meanwhile. If the recorder is killed, it is readable so
 * far: a snapshot without an end.
 */
#ifndef RINGTAIL_RECORD_SESSION_SNAPSHOT_H
#define RINGTAIL_RECORD_SESSION_SNAPSHOT_H

#include "record/aux/window.h"
#include "record/plan/clock.h"
#include "record/session/crew.h"
#include "record/session/outcome.h"
#include "record/trigger/request.h"

struct snapshot {
	struct flight *flight; /* NULL: snapshots of AUX areas alone (-S without -M) */
	struct crew *crew;
	const struct plan *plan;
	const struct opened *opened;
	struct clock *clock;
	bool alone; /* the output has no snapshot before it, so write all again; the caller's */
	unsigned int flush_ms; /* interval of flushes while a snapshot is written */
	/*
	 * Called between the pieces of a snapshot, and while workers write one; may queue requests,
	 * but make no snapshot.
	 */
	void (*meanwhile)(void *arg);
	void *arg;
	int stop;  /* readable when the recording is to end, or -1 */
	bool ends; /* the end was requested: no wait for writers; the caller's and meanwhile()'s */
	size_t taken;
	uint64_t trace;			    /* bytes of trace in the last one */
	uint64_t trace_taken;		    /* in all, written or not, padding included */
	uint64_t trace_last;		    /* the last one's part of it */
	uint64_t trace_given_up;	    /* of snapshots that were undone */
	struct aux_snapshot traces;	    /* of the snapshot being written */
	struct pd_snapshot_figures figures; /* of the last one */
	uint64_t refused;		    /* requests so far; the caller's */
	struct snapshot_sums {
		uint64_t lost, passed, refused; /* samples, and requests */
	} sums, sums_before;			/* as of the last one, and of that before */
	struct output_mark before; /* of the snapshot that is neither kept nor undone yet */
	bool emitted;		   /* its sideband counts as written */
};

/*
 * Writes a snapshot for the @nr requests, at least one, which ask for the same. If no workers run,
 * it writes what memory holds now. Returns DONE, after which snapshot_keep() or snapshot_undo() is
 * due, or UNDONE or BROKEN with @err filled.
 */
enum outcome snapshot_take(struct snapshot *s, struct output *out,
			   const struct snapshot_request *requests, size_t nr, struct error *err);

/*
 * Before the workers start: makes room for the trace of a snapshot. In the first one, often the
 * only one, events would be stopped for as long as each page takes to be had.
 */
void snapshot_make_room(struct snapshot *s);

/* snapshot_take() without a flight: the trace of the AUX areas, by the workers, which run. */
enum outcome snapshot_take_traces(struct snapshot *s, const struct snapshot_request *requests,
				  size_t nr, struct error *err);

/*
 * Hands the workers such a snapshot, which they write before their next command is done. Returns 0,
 * or -ENOMEM with @err filled.
 */
int snapshot_hand_traces(struct snapshot *s, const struct snapshot_request *requests, size_t nr,
			 struct error *err);

/* Copies the AUX areas, if any, into @traces. Returns 0 or a negative errno. */
int snapshot_copy_traces(struct snapshot *s, struct error *err);

/* Writes @traces from the main thread, with a log record for each area. Returns as that does. */
int snapshot_write_traces(struct snapshot *s, struct output *out, struct error *err);

/* Keeps the snapshot in the output. */
void snapshot_keep(struct snapshot *s);

/* Removes the snapshot from the output. Returns 0, or a negative errno with @err filled. */
int snapshot_undo(struct snapshot *s, struct output *out, struct error *err);

#endif
