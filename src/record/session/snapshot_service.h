/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's side of -M: takes requests for snapshots, makes them, and answers.
 *
 * The main thread's. An all-zero struct has no memory; all calls but snapshot_service_ask() accept
 * it.
 */
#ifndef RINGTAIL_RECORD_SESSION_SNAPSHOT_SERVICE_H
#define RINGTAIL_RECORD_SESSION_SNAPSHOT_SERVICE_H

#include "record/plan/clock.h"
#include "record/trigger/request.h"
#include "record/session/rotation.h"
#include "record/session/snapshot.h"
#include "record/session/workload.h"

/* The parts of a recording that this is about; all outlive it. */
struct snapshot_service_parts {
	const struct output_opts *opts;
	const struct messages *messages;
	const struct plan *plan;
	const struct opened *opened;
	struct crew *crew;
	struct output *output;
	/* With opts->rotation.enabled: what was written is an output of its own. As rotation_cut().
	 */
	enum outcome (*cut)(void *arg, struct error *err);
	/* One who waits is told: as control_answer(), with the file behind @text. */
	void (*answer)(void *arg, uint64_t ticket, struct buf *text, const struct error *err);
	void (*meanwhile)(void *arg); /* while a snapshot is written: as that of struct snapshot */
	void *arg;
};

struct snapshot_service {
	struct snapshot_service_parts parts;
	struct flight *flight; /* NULL without -M */
	struct clock clock;
	struct snapshot snapshot;
	struct request_queue queue;
	size_t given_up;			  /* snapshots */
	enum outcome last;			  /* of the snapshot at the end */
	struct rate_limit refusal, failure, flaw; /* lines of requests and of snapshots */
};

/*
 * Makes what takes the place of the output's lanes, if opts->memory.bytes says so, for the crew
 * that is going to be hired. Returns 0 or a negative errno with @err filled;
 * snapshot_service_release() is due in both cases.
 */
int snapshot_service_open(struct snapshot_service *m, const struct snapshot_service_parts *parts,
			  struct error *err);
void snapshot_service_release(struct snapshot_service *m);

/*
 * Asks for a snapshot, by snapshot_service_serve(). One that says no bounds gets those of the
 * options; the time of asking is filled in if it is 0. Returns -EINPROGRESS, which is no error, or
 * -ENOBUFS with @err filled, when too many wait.
 */
int snapshot_service_ask(struct snapshot_service *m, const struct snapshot_request *request,
			 struct error *err);

/* The same for @origin, with a reason or NULL; that it is refused is a note. */
void snapshot_service_ask_for(struct snapshot_service *m, enum pd_snapshot_origin origin,
			      const char *reason);

/* Whether somebody waits for snapshot_service_serve(). */
bool snapshot_service_waits(const struct snapshot_service *m);

/*
 * Makes the snapshots that were asked for up to now. Workers run. Returns 0, or a negative errno
 * with @err filled, after which the recording is to end.
 */
int snapshot_service_serve(struct snapshot_service *m, struct error *err);

/*
 * When no worker runs: gathers the losses, and makes the last snapshot if the options say so, or
 * if the command has ended in the way that they name. One that finds no room is given up, which the
 * result says. As snapshot_service_serve().
 */
int snapshot_service_finish(struct snapshot_service *m, const struct workload *w,
			    struct error *err);

#endif
