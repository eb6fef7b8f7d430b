/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the sideband of all rings by time, and applies it to the table of live tasks.
 *
 * Rotated recordings and recordings in memory (-M) use it. A record waits here until no older one
 * can come from another ring; then it changes the task table (record/live/task_table.h).
 *
 * A pass over a ring adds all that the ring held. So after all rings were passed since
 * sideband_settle(), every record older than the newest one known then is here. SIDEBAND_GRACE_NS
 * are left for records that a CPU was about to complete, and for samples of a task that come just
 * behind its EXIT.
 *
 * A log (-M) also keeps the sideband that samples in the history may need: it is settled only up to
 * the oldest of these samples. sideband_snapshot() emits each record of it once.
 *
 * Threads: any may call sideband_add(), the rest is the main thread's. A lock guards all; it is
 * taken for sideband only, never for samples. Times are in ns.
 */
#ifndef RINGTAIL_RECORD_LIVE_SIDEBAND_H
#define RINGTAIL_RECORD_LIVE_SIDEBAND_H

#include "record/live/task_table.h"

#define SIDEBAND_GRACE_NS 10000000ull

struct sideband;

/* Return an empty table, or log; @attr as for task_table_new(). NULL when out of memory. */
struct sideband *sideband_new(const struct pd_attr *attr);
struct sideband *sideband_new_log(const struct pd_attr *attr);
void sideband_free(struct sideband *s); /* accepts NULL */

/*
 * Copies @hdr. Without a log, ignores types that task_table_wants() does not want. Returns 0 or
 * -ENOMEM.
 */
int sideband_add(struct sideband *s, const struct perf_event_header *hdr);

/*
 * Applies the records that no older one can precede any more. All rings must have been passed since
 * the last call. Returns 0 or -ENOMEM.
 */
int sideband_settle(struct sideband *s);

/* As sideband_settle(), but applies only records older than @time less the grace. */
int sideband_settle_until(struct sideband *s, uint64_t time);

/* Returns a time since which at most @bytes of records have come, or 0 if all are that few. */
uint64_t sideband_since(struct sideband *s, size_t bytes);

/* Returns the bytes of the records that wait. */
size_t sideband_bytes(struct sideband *s);

/*
 * Emits records for the live tasks (time 0), and the records that wait, which stay. Returns 0, the
 * error of @emit, or -ENOMEM. Holds the lock, so @emit must not add to @s, and threads that add
 * must be paused: @emit may wait for a disk.
 */
int sideband_emit(struct sideband *s, record_emit_fn *emit, void *arg);

/*
 * For a log: emits the waiting records that no earlier call has emitted; with @again, all of them.
 * Before these it emits records for the live tasks, with the time up to which sideband was applied,
 * if @again or if a record was applied that no call has emitted. It emits copies, without the lock,
 * so other threads can add. Returns as sideband_emit() does; after an error, make no more calls.
 */
int sideband_snapshot(struct sideband *s, bool again, record_emit_fn *emit, void *arg);

/* Undoes the last sideband_snapshot(), whose output was lost: its records count as not emitted. */
void sideband_snapshot_cancel(struct sideband *s);

/* Fills *@ret with the size of the task table, and *@ret_waiting with the records that wait. */
void sideband_stats(struct sideband *s, struct task_table_stats *ret, size_t *ret_waiting);

#endif
