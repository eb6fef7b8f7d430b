/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sideband of a recording whose output is rotated, or is what memory holds: records wait here until
 * it is known that none before them is still to come from another ring, then they change the table
 * of what is alive (record/live.h).
 *
 * Whatever a ring held when it was visited has been added. So when all rings were visited since
 * sideband_settle(), every record that is older than the newest one known then is here; but for
 * those that a CPU was about to complete, and samples of a task that come just behind its EXIT, for
 * which SIDEBAND_GRACE_NS are left.
 *
 * A log also keeps what may be needed for a sample that is in memory: it is settled up to the
 * oldest of these, and sideband_snapshot() tells each record of it once.
 *
 * sideband_add() is any thread's, the rest is the main thread's; a lock guards all of it. It is
 * taken for sideband only, never for samples.
 */
#ifndef RINGTAIL_RECORD_LIVE_SIDEBAND_H
#define RINGTAIL_RECORD_LIVE_SIDEBAND_H

#include "record/live/task_table.h"

#define SIDEBAND_GRACE_NS 10000000ull

struct sideband;

/* @attr as for task_table_new(). NULL when out of memory. */
struct sideband *sideband_new(const struct pd_attr *attr);
struct sideband *sideband_new_log(const struct pd_attr *attr);
void sideband_free(struct sideband *s); /* accepts NULL */

/* Takes a copy of @hdr; types that task_table_wants() not are ignored, but by a log. Returns 0 or
 * -ENOMEM. */
int sideband_add(struct sideband *s, const struct perf_event_header *hdr);

/* All rings were visited since the last call. Returns 0 or -ENOMEM. */
int sideband_settle(struct sideband *s);

/* The same, and what is younger than @time, but for the grace, waits in any case. */
int sideband_settle_until(struct sideband *s, uint64_t time);

/* The time since when records of at most @bytes have come; 0: all of them are no more. */
uint64_t sideband_since(struct sideband *s, size_t bytes);

size_t sideband_bytes(struct sideband *s); /* of the records that wait */

/*
 * Makes records for what is alive (time 0), and passes on those that have come since, which stay.
 * Returns 0, what @emit returned, or -ENOMEM. The lock is held meanwhile, so @emit must not add to
 * @s, and whoever does must be paused: @emit may wait for a disk.
 */
int sideband_emit(struct sideband *s, record_emit_fn *emit, void *arg);

/*
 * Of a log: passes on those that wait and have not been passed on by an earlier call; unless
 * @again, all of them. Before that come, if it is @again or if others than those have been applied
 * since the last call, records for what was alive, with the time up to which they have been.
 * What is passed on are copies, without the lock: others add meanwhile.
 * Returns as sideband_emit() does. After a failure no more calls are due.
 */
int sideband_snapshot(struct sideband *s, bool again, record_emit_fn *emit, void *arg);

/* What the last sideband_snapshot() has passed on is lost: it counts for nothing. */
void sideband_untell(struct sideband *s);

/* What is alive, and how many records wait. */
void sideband_stats(struct sideband *s, struct task_table_stats *ret, size_t *ret_waiting);

#endif
