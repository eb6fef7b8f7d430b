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
	bool bounded;	 /* how much was said; else it is up to the recording's options */
	uint64_t ago;	 /* ns since it was asked for, where what.asked is not known */
	uint64_t ticket; /* of one who waits for an answer; 0: nobody does */
};

/* Bytes that do not fit are left out, never half a character. */
void request_set_reason(struct snapshot_request *request, const char *reason);

/*
 * "10s" or "16M" as last_ns or last_bytes; the other one is 0 then, and with "all" both are. A size
 * needs its unit (B, K, M, G), and so does a time (ms, s, m, h, d). Returns 0, or -EINVAL with @err
 * filled.
 */
int request_parse_last(const char *text, struct pd_snapshot_bounds *ret, struct error *err);

/*
 * The words of the command: "[--reason TEXT] [--last T|SIZE|all] [--since-last]", TEXT going on to
 * the next of these words. Changes of @ret what is said; @text is as before. Returns 0, or -EINVAL
 * with
 * @err filled.
 */
int request_parse(char *text, struct snapshot_request *ret, struct error *err);

#define REQUESTS_MAX 64

/* All-zero is empty. */
struct request_queue {
	struct snapshot_request waiting[REQUESTS_MAX]; /* in the order of coming */
	size_t nr;
	uint64_t refused; /* that found no room */
};

/* Returns 0, or -ENOBUFS with @err filled, and counts that. */
int request_queue_add(struct request_queue *q, const struct snapshot_request *request,
		      struct error *err);

/*
 * Takes out the first, and behind it all that ask for the same. Returns how many that are; 0: none
 * waits.
 */
size_t request_queue_take(struct request_queue *q, struct snapshot_request ret[REQUESTS_MAX]);

#endif
