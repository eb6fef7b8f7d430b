/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is kept in memory (-M): what workers write to in place of an output's lanes.
 *
 *   writer of worker N ──┬─ samples ──► history (record/history.h)
 *                        └─ the rest ──► log (record/sideband.h)
 *
 * The rest is never evicted: what is older than any sample in memory changes what is known to be
 * alive, so the memory for it follows what lives and how long the samples reach back. Its bytes
 * count; when they are more than half of what was asked for, the oldest samples go before their
 * time.
 *
 * The sinks are their workers', the rest is the main thread's.
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
	uint64_t bytes; /* flight_least() or more */
	size_t workers;
	int compression;	 /* level, 0 for none: of samples in memory, by their workers */
	const struct plan *plan; /* this and what follows must outlive it */
	const struct opened *opened;
};

/* NULL when out of memory. */
struct flight *flight_new(const struct flight_opts *opts);
void flight_free(struct flight *f); /* accepts NULL */

/* Bytes that a recording of @plan by so many workers needs: for each ring the largest record. */
uint64_t flight_least(const struct plan *plan, size_t workers);

/* What was there before: as record_emit_fn, @flight being a struct flight. */
int flight_before(const struct perf_event_header *hdr, void *flight);

/* Where worker @number writes. */
struct sink *flight_sink(struct flight *f, size_t number);

/* How full the memory before its writer is, as compress_watch() has it. Before it runs. */
void flight_watch(struct flight *f, size_t number, size_t room, unsigned int (*fullness)(void *arg),
		  void *arg);

/* While it is on, a flush makes what a worker has taken part of the next dump. */
void flight_visit(struct flight *f, bool on);

/* The same for all, when no worker runs. */
void flight_seal(struct flight *f);

/* Which worker has written what came from @ring. Any thread. */
size_t flight_worker_of(const struct flight *f, size_t ring);

/* For the worker's opts: the argument, and what is called when it was flushed or has failed. */
void *flight_intake(struct flight *f, size_t number);
void flight_was_flushed(void *intake);
void flight_discard(void *intake, const struct run *run);

/*
 * All workers have visited all their rings: what is older than the samples in memory is applied.
 * Returns 0 or -ENOMEM with @err filled.
 */
int flight_settle(struct flight *f, struct error *err);

/* The same, after the oldest samples have gone if the log has more than its half. */
int flight_trim(struct flight *f, struct error *err);

/* For record/snapshot.h. */
struct history *flight_history(struct flight *f);
struct sideband *flight_log(struct flight *f);

/* When no worker runs: what was compressed in memory. Returns false if nothing is. */
bool flight_compression(const struct flight *f, struct compress_stats *ret);

/* Bytes that compression takes beside the chunks. */
uint64_t flight_overhead(const struct flight *f);

/* When no worker runs: losses of all intakes are gathered. Returns 0 or -ENOMEM. */
int flight_end(struct flight *f);

/* Valid as long as @f; empty before flight_end(). */
const struct loss *flight_lost_records(const struct flight *f); /* as LOST records say */
const struct loss *flight_dropped(const struct flight *f);

/* Losses that were met up to the last flush, of both kinds. Any time. */
void flight_losses(struct flight *f, uint64_t *ret_lost, uint64_t *ret_dropped);

#endif
