/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's side of -M: takes requests, writes the snapshots, and answers the requests.
 *
 * A request during a snapshot waits in the queue (record/trigger/request.h) for its end. So does a
 * rotation, which with -M is such a request.
 *
 * Threads: only the main thread. An all-zero struct stands for a session without -M; all calls but
 * snapshot_service_ask() accept it.
 */
#ifndef RINGTAIL_RECORD_SESSION_SNAPSHOT_SERVICE_H
#define RINGTAIL_RECORD_SESSION_SNAPSHOT_SERVICE_H

#include "record/plan/clock.h"
#include "record/trigger/request.h"
#include "record/session/rotation.h"
#include "record/session/snapshot.h"
#include "record/session/workload.h"

/* The parts of a recording that the service uses; all outlive it. */
struct snapshot_service_parts {
	const struct output_opts *opts;
	const struct messages *messages;
	const struct plan *plan;
	const struct opened *opened;
	struct crew *crew;
	struct output *output;
	int stop; /* struct snapshot's */
	/* With opts->rotation.enabled: rotation_rotate(), so that a snapshot is one output. */
	enum outcome (*rotate)(void *arg, struct error *err);
	/* Answers a client that waits: as control_answer(), with the file appended to @text. */
	void (*answer)(void *arg, uint64_t ticket, struct buf *text, const struct error *err);
	void (*meanwhile)(void *arg); /* called while a snapshot is written, as struct snapshot's */
	void *arg;
};

struct snapshot_service {
	struct snapshot_service_parts parts;
	struct flight *flight; /* NULL without -M */
	bool traces;	       /* snapshots of AUX areas alone: -S without -M */
	struct clock clock;
	struct snapshot snapshot;
	struct request_queue queue;
	size_t given_up;			  /* snapshots that found no room */
	bool handed_last;			  /* snapshot_service_hand_last() handed one over */
	enum outcome last;			  /* outcome of the snapshot at the end */
	struct rate_limit refusal, failure, flaw; /* limit repeated messages */
};

/*
 * If opts->memory.bytes is set, makes the memory that the crew will fill instead of the output's
 * lanes; call it before workers start. Returns 0 or a negative errno with @err filled. Call
 * snapshot_service_release() in both cases.
 */
int snapshot_service_open(struct snapshot_service *m, const struct snapshot_service_parts *parts,
			  struct error *err);
void snapshot_service_release(struct snapshot_service *m);

/*
 * Queues a request for snapshot_service_serve(). A request without bounds gets those of the
 * options; a time of 0 becomes the time of this call. Returns -EINPROGRESS, which is no error, or
 * -ENOBUFS with @err filled, when too many requests wait.
 */
int snapshot_service_ask(struct snapshot_service *m, const struct snapshot_request *request,
			 struct error *err);

/* The same for @origin, with a reason or NULL; a refusal is only a message. */
void snapshot_service_ask_for(struct snapshot_service *m, enum pd_snapshot_origin origin,
			      const char *reason);

/* Returns whether there are snapshots: with -M, and of AUX areas. */
bool snapshot_service_there(const struct snapshot_service *m);

/* Returns whether requests wait for snapshot_service_serve(). */
bool snapshot_service_waits(const struct snapshot_service *m);

/*
 * While workers run: writes the snapshots of all requests queued so far. Returns 0, or a negative
 * errno with @err filled, after which the caller ends the recording.
 */
int snapshot_service_serve(struct snapshot_service *m, struct error *err);

/*
 * When no event runs, but workers do: hands these the snapshot at the end of AUX areas alone (-Se),
 * which they write with the rest of their records. Returns as snapshot_service_serve() does.
 */
int snapshot_service_hand_last(struct snapshot_service *m, struct error *err);

/*
 * When no worker runs: gathers the losses. Writes the last snapshot if the options ask for one at
 * every end, or at the way in which the command ended. If it finds no room it is given up, and
 * @last keeps the outcome. Returns as snapshot_service_serve() does.
 */
int snapshot_service_finish(struct snapshot_service *m, const struct workload *w,
			    struct error *err);

#endif
