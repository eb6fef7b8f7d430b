/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history: the newest samples of a recording, in memory of a fixed size (-M).
 *
 *   a writer:    history_write() ──► open chunk of a ring ──► sealed chunks, oldest first
 *   main thread: history_snapshot_begin() … history_snapshot_next() … history_snapshot_end()
 *
 * A chunk holds whole samples of one ring. It is sealed when it is full and before a snapshot
 * (history_seal()); its samples never change then. All rings share one budget. When it is exceeded,
 * the chunk of any ring that ends first in time is evicted. So the history is one window of time,
 * also when rings are drained one after the other. A chunk counts with all the memory that it
 * takes.
 *
 * Each sample is counted once: taken = written (by at least one snapshot) + evicted (before any
 * snapshot wrote it) + held (still here, not written).
 *
 * A snapshot writes the chunks that were sealed when it was announced (history_announce()). From
 * then until its begin the budget is doubled, or HISTORY_SLACK larger if that is more. While it
 * runs, a writer that would have to evict a chunk not yet written waits. A snapshot goes from the
 * oldest chunk to the newest, so a writer waits only if it fills the memory faster than the output
 * takes the data.
 *
 * Sealed chunks may be packed (history_pack()): compressed records then replace their samples. A
 * chunk that a snapshot has yet to write is not packed.
 *
 * A snapshot with a shorter window leaves the older fronts of chunks unwritten, for a later one.
 *
 * Threads: a lock guards all but the open chunk of a ring while its writer fills it. It is taken
 * once for as much as fits a chunk, never for each sample. Times are in ns, sizes in bytes.
 */
#ifndef RINGTAIL_RECORD_HISTORY_HISTORY_H
#define RINGTAIL_RECORD_HISTORY_HISTORY_H

#include <stdbool.h>

#include "perfdata/abi.h"
#include "record/pipeline/run.h"

#define HISTORY_RECORD_MAX ((size_t)64 << 10) /* bytes; no record is larger */
#define HISTORY_CHUNK	   ((size_t)128 << 10)
#define HISTORY_SLACK	   ((uint64_t)32 << 20)

struct history;

/*
 * Takes a record that is no sample, whole and 8-byte aligned, valid during the call. Returns 0 or a
 * negative errno.
 */
typedef int history_other_fn(const struct perf_event_header *hdr, void *arg);

/*
 * Returns a history of @budget bytes, at least HISTORY_RECORD_MAX for each of the @rings that has
 * samples, or NULL when out of memory. @time_at: offset of TIME in every sample.
 */
struct history *history_new(uint64_t budget, size_t rings, unsigned int time_at);
void history_free(struct history *h); /* accepts NULL */

/*
 * Copies the samples of @run, which are of one ring and in order, and passes all other records to
 * @other. One thread at a time for each ring. Returns 0, -ENOMEM, or the error of @other.
 */
int history_write(struct history *h, const struct run *run, history_other_fn *other, void *arg);

/*
 * Before any write: makes history_write() call @full when it has sealed a full chunk of a ring,
 * before it allocates the next one, so that @full can pack chunks and nothing need be evicted.
 * @full runs in the writer's thread, without the lock.
 */
void history_on_full(struct history *h, void (*full)(size_t ring, void *arg), void *arg);

/* The ring's writer: seals the open chunk, so that the next snapshot has it. */
void history_seal(struct history *h, size_t ring);

/*
 * The ring's writer, when nothing more comes for now: seals the open chunk if all open chunks,
 * which keep their whole memory, may take more than a sixteenth of the budget.
 */
void history_rest(struct history *h, size_t ring);

/*
 * Packs @len bytes of whole samples into other records. Returns their length, with them in *@ret,
 * which @arg owns and which are valid until the next call; or 0 on failure.
 */
typedef size_t history_pack_fn(const uint8_t *samples, size_t len, const uint8_t **ret, void *arg);

/* Unpacks exactly @bytes of samples from packed records. Returns 0 or a negative errno. */
typedef int history_unpack_fn(const uint8_t *packed, size_t len, uint8_t *samples, size_t bytes);

/*
 * The ring's writer: packs the oldest sealed chunk of @ring that is not packed, and keeps the
 * result if it is smaller. Works without the lock. Returns false if no chunk may be packed now.
 */
bool history_pack(struct history *h, size_t ring, history_pack_fn *pack, void *arg);

/* Takes @bytes from the budget, at most half of it, for memory used elsewhere. */
void history_reserve(struct history *h, uint64_t bytes);

/* Evicts each chunk that ends before @time. Not while a snapshot runs. */
void history_forget(struct history *h, uint64_t time);

/* Returns the time of the oldest sample, or UINT64_MAX if there is none. */
uint64_t history_oldest(struct history *h);

/* --- a snapshot, by the main thread --- */

/* Announces a snapshot of the chunks that are sealed now. */
void history_announce(struct history *h);

/* The window of a snapshot. All zero: all samples that no snapshot has written. */
struct history_bounds {
	bool again;	/* also samples that earlier snapshots have written */
	uint64_t since; /* samples before this time are left out */
	uint64_t bytes; /* about so many bytes of the newest samples; 0: all */
	/* To write a part of a packed chunk; NULL: packed chunks are written whole. */
	history_unpack_fn *unpack;
};

/* Begins the snapshot. Returns 0 or -ENOMEM; call history_snapshot_end() in both cases. */
int history_snapshot_begin(struct history *h, const struct history_bounds *bounds);

struct history_chunk {
	size_t ring;
	const uint8_t *data; /* whole records, valid until the next history_snapshot_*() call */
	size_t len;
	bool packed;  /* the records are the result of history_pack_fn */
	size_t bytes; /* of the samples, unpacked */
	uint64_t samples;
	uint64_t first, last; /* times */
};

/*
 * Counts the chunk of the last call as written, and fills *@ret with the next chunk or part of one.
 * Returns false after the last.
 */
bool history_snapshot_next(struct history *h, struct history_chunk *ret);

/* Ends the snapshot. The chunk of the last history_snapshot_next() does not count as written. */
void history_snapshot_end(struct history *h);

/*
 * In place of history_snapshot_end(), also after all chunks: the output was lost, so all that this
 * snapshot wrote counts as not written.
 */
void history_snapshot_cancel(struct history *h);

/* After a snapshot: whether it left out samples that no snapshot has written. */
bool history_left_out(struct history *h);

/* --- any thread --- */

struct history_figures {
	uint64_t taken, written, evicted; /* samples, each once; see above */
	uint64_t held;			  /* samples here that no snapshot has written */
	uint64_t samples, bytes;	  /* all samples here, and their bytes if none was packed */
	uint64_t memory;		  /* bytes that they take */
	uint64_t first, last;		  /* times; 0: the history is empty */
};

/* Fills *@ret. */
void history_figures(struct history *h, struct history_figures *ret);

#endif
