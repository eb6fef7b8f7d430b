/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in memory (-M): the sinks that workers write to in place of an output's lanes.
 *
 *   writer of worker N ──┬─ samples ──► history (record/history/history.h)
 *                        └─ sideband ──► log (record/live/sideband.h)
 *
 * A flight never evicts sideband. It applies records older than all samples in the history to the
 * task table. So memory for sideband depends on the live tasks and maps, and on the time that the
 * samples span. The log counts as part of the requested memory. If it exceeds half of that, a
 * flight evicts the oldest samples early.
 *
 * Ownership: a flight owns history, log and sinks. Threads: only its worker uses a sink and an
 * intake; only the main thread calls the other functions, unless a comment says otherwise.
 */
#ifndef RINGTAIL_RECORD_FLIGHT_FLIGHT_H
#define RINGTAIL_RECORD_FLIGHT_FLIGHT_H

#include "base/error.h"
#include "record/initial/emit.h"
#include "record/history/history.h"
#include "record/loss/loss.h"
#include "record/open/open.h"
#include "record/history/pack.h"
#include "record/live/sideband.h"
#include "record/pipeline/sink.h"

struct flight;

struct flight_opts {
	uint64_t bytes; /* of memory, flight_least() or more */
	size_t workers;
	int compression;	     /* level at which workers pack the history; 0: none */
	const struct plan *plan;     /* must outlive the flight */
	const struct opened *opened; /* must outlive the flight */
};

/* Returns NULL when out of memory. */
struct flight *flight_new(const struct flight_opts *opts);
void flight_free(struct flight *f); /* accepts NULL */

/* Returns the least bytes for a recording of @plan: the largest record for each ring or worker. */
uint64_t flight_least(const struct plan *plan, size_t workers);

/* A record_emit_fn for the initial state, before workers run; @flight is a struct flight. */
int flight_add_initial(const struct perf_event_header *hdr, void *flight);

/* Returns the sink of worker @number, which @f owns. */
struct sink *flight_sink(struct flight *f, size_t number);

/* Before worker @number runs: gives its packer its fifo of @room bytes, see compress_watch(). */
void flight_watch(struct flight *f, size_t number, size_t room, struct fifo *fifo);

/* While @on, a flush of a worker seals its chunks, so that the next snapshot has them. */
void flight_visit(struct flight *f, bool on);

/* When no worker runs: seals the chunks of all rings. */
void flight_seal(struct flight *f);

/* Any thread: returns the worker that writes the records of @ring; a huge number: none so far. */
size_t flight_worker_of(const struct flight *f, size_t ring);

/* Returns the argument of worker @number for the two functions below, for struct worker_opts. */
void *flight_intake(struct flight *f, size_t number);

/* The worker's functions flushed() and discard(). */
void flight_was_flushed(void *intake);
void flight_discard(void *intake, const struct run *run);

/*
 * After all workers have drained all their rings: applies the sideband that is older than the
 * samples in the history. Returns 0 or -ENOMEM with @err filled.
 */
int flight_settle(struct flight *f, struct error *err);

/* As flight_settle(), but first evicts the oldest samples if the log exceeds half of the memory. */
int flight_trim(struct flight *f, struct error *err);

/* For record/session/snapshot.h; both remain the flight's. */
struct history *flight_history(struct flight *f);
struct sideband *flight_log(struct flight *f);

/* When no worker runs: fills *@ret for all packers. Returns false if nothing is packed. */
bool flight_compression(const struct flight *f, struct compress_stats *ret);

/* Returns the bytes that packers take beside the chunks. */
uint64_t flight_overhead(const struct flight *f);

/* When no worker runs: adds up the losses of all intakes. Returns 0 or -ENOMEM. */
int flight_end(struct flight *f);

/* Return losses, owned by @f and empty before flight_end(): those in LOST records, and others. */
const struct loss *flight_lost_records(const struct flight *f);
const struct loss *flight_dropped(const struct flight *f);

/* Any time: fills in the sums of both kinds of losses up to the last flushes. */
void flight_losses(struct flight *f, uint64_t *ret_lost, uint64_t *ret_dropped);

#endif
