/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for snapshots (-M), and the queue of them.
 *
 * A signal, a command, a trigger or the end puts a request into the queue. The main thread takes it
 * out when it has nothing else to do, so a request that comes during a snapshot waits for its end.
 * Requests that wait together and ask for the same share a snapshot. Each is in the log of the
 * output, and each gets an answer.
 *
 * The main thread's. No allocation.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_REQUEST_H
#define RINGTAIL_RECORD_TRIGGER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perfdata/snapshot_log.h"

struct snapshot_request {
	struct pd_snapshot_request what; /* by whom, why, when, how much: as the log has it */
	bool bounded;	 /* the request has bounds; else those of the options apply */
	uint64_t ago;	 /* ns since the request, if what.asked is unknown */
	uint64_t ticket; /* of the client that waits for an answer; 0: none */
};

/* Stores @reason; cuts what does not fit, at the end of a character. */
void request_set_reason(struct snapshot_request *request, const char *reason);

/*
 * Parses "10s" into last_ns or "16M" into last_bytes. The other is then 0, with "all" both are. A
 * size needs its unit (B, K, M, G), and so does a time (ms, s, m, h, d). Returns 0, or -EINVAL with
 * @err filled.
 */
int request_parse_last(const char *text, struct pd_snapshot_bounds *ret, struct error *err);

/*
 * Parses the words of a command, "[--reason TEXT] [--last T|SIZE|all] [--since-last]". TEXT ends at
 * the next of these words. Changes only the named fields of @ret; @text is unchanged on return.
 * Returns 0, or -EINVAL with @err filled.
 */
int request_parse(char *text, struct snapshot_request *ret, struct error *err);

#define REQUESTS_MAX 64

/* An all-zero queue is empty. */
struct request_queue {
	struct snapshot_request waiting[REQUESTS_MAX]; /* oldest first */
	size_t nr;
	uint64_t refused; /* number of requests that found no room */
};

/* Adds a request. Returns 0, or -ENOBUFS with @err filled; counts the refusal. */
int request_queue_add(struct request_queue *q, const struct snapshot_request *request,
		      struct error *err);

/*
 * Takes out the first request, and all later ones that ask for the same. Returns their number; 0:
 * none waits.
 */
size_t request_queue_take(struct request_queue *q, struct snapshot_request ret[REQUESTS_MAX]);

#endif
