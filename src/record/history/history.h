/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest samples of a recording, in memory of a fixed size (-M).
 *
 *   writer of a worker: history_write() ──► open chunk of a ring ──► sealed chunks, oldest first
 *   main thread:        history_dump_begin() … history_dump_next() … history_dump_end()
 *
 * A chunk holds whole samples of one ring. It is sealed when it is full and when a dump is near
 * (history_seal()), and its samples never change then. One budget is for all rings: beyond it the
 * chunk that ends first in time goes, whichever ring's it is, so that what is left is one window of
 * time, also when rings are emptied one after the other. Chunks count with all the memory that they
 * take.
 *
 * Each sample is counted once: taken = written (by one dump or several) + passed (evicted, and in
 * no dump) + held (still here, and in no dump).
 *
 * A dump takes the chunks that were sealed when it was announced (history_announce()). From then
 * until it begins the budget is HISTORY_SLACK, or as much as it is, larger; from its begin, whoever
 * would evict a chunk that it has not written yet waits. It goes from the oldest to the newest, so
 * that only happens to who comes round faster than the output takes the data.
 *
 * Sealed chunks may be packed (history_pack()): what they hold is then in other records, which take
 * less memory. What a dump waits for or is still to write is not.
 *
 * A dump may leave out what is old: then the fronts of chunks stay unwritten, for a later one.
 *
 * A lock guards all of it but the open chunk of a ring while its writer fills it. It is taken for
 * what fits a chunk, never for each sample.
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

/* A record that is no sample: whole, 8-byte aligned. Returns 0 or a negative errno. */
typedef int history_other_fn(const struct perf_event_header *hdr, void *arg);

/*
 * @budget bytes, at least HISTORY_RECORD_MAX for each of @rings that has samples. @time_at: offset
 * of TIME in every sample. NULL when out of memory.
 */
struct history *history_new(uint64_t budget, size_t rings, unsigned int time_at);
void history_free(struct history *h); /* accepts NULL */

/*
 * Takes the samples of @run, which is one ring's and in order; @other gets all other records. One
 * thread at a time for each ring. Returns 0, -ENOMEM, or what @other returned.
 */
int history_write(struct history *h, const struct run *run, history_other_fn *other, void *arg);

/*
 * From now on history_write() calls @full when a chunk of @ring was sealed since it is full, before
 * it takes memory for the next one: what is packed then need not go to make room. Before anybody
 * writes. By the thread that writes @ring, which does not have the lock.
 */
void history_on_full(struct history *h, void (*full)(size_t ring, void *arg), void *arg);

/* Whatever @ring has brought is of the next dump. By the thread that writes it. */
void history_seal(struct history *h, size_t ring);

/*
 * Nothing more comes from @ring for now: seals what it has if open chunks, which take their whole
 * memory, might be more than a small part of the budget. By the thread that writes it.
 */
void history_rest(struct history *h, size_t ring);

/*
 * Makes other records of @len bytes of whole samples, which somebody who reads them can make the
 * samples of again. Returns their length in bytes and them in *@ret, which stay @arg's until the
 * next call; or 0: it cannot.
 */
typedef size_t history_pack_fn(const uint8_t *samples, size_t len, const uint8_t **ret, void *arg);

/* Makes the samples again, exactly @bytes of them. Returns 0 or a negative errno. */
typedef int history_unpack_fn(const uint8_t *packed, size_t len, uint8_t *samples, size_t bytes);

/*
 * Packs the oldest chunk of @ring that is sealed and was not packed before, if that makes it
 * smaller. By the thread that writes @ring, which does not have the lock meanwhile. Returns false
 * if there is none that may be packed now.
 */
bool history_pack(struct history *h, size_t ring, history_pack_fn *pack, void *arg);

/* So much of the budget is for others; of more than half of it, half. */
void history_reserve(struct history *h, uint64_t bytes);

/* Evicts each chunk that ends before @time, ns. Not while a dump runs. */
void history_forget(struct history *h, uint64_t time);

/* The time of the oldest sample, ns; UINT64_MAX: there is none. */
uint64_t history_oldest(struct history *h);

/* --- a dump, by the main thread --- */

/* Whatever is sealed now is for the dump that begins next. */
void history_announce(struct history *h);

/* All zero: everything that no dump before has written. */
struct history_bounds {
	bool again;	/* also what dumps before have written */
	uint64_t since; /* ns; samples before it are left out */
	uint64_t bytes; /* about so many of the newest, the others are left out; 0: all are taken */
	/* For packed chunks of which a part is to be taken; without it they are taken whole. */
	history_unpack_fn *unpack;
};

/* Returns 0, or -ENOMEM: history_dump_end() is due all the same. */
int history_dump_begin(struct history *h, const struct history_bounds *bounds);

struct history_chunk {
	size_t ring;
	const uint8_t *data; /* whole records; valid until the next call about the dump */
	size_t len;
	bool packed;  /* they are what history_pack_fn made of the samples */
	size_t bytes; /* of the samples */
	uint64_t samples;
	uint64_t first, last; /* times, ns */
};

/* The next chunk, or part of one; the one before counts as written. Returns false after the last.
 */
bool history_dump_next(struct history *h, struct history_chunk *ret);

/* The dump is over, or given up: a chunk that was not followed by another call is not written. */
void history_dump_end(struct history *h);

/*
 * In place of history_dump_end(), also after all chunks: what it wrote is of no use, and counts as
 * if it had not been written.
 */
void history_dump_cancel(struct history *h);

/* After a dump: whether it has left out samples that were there and that no dump has written. */
bool history_left_out(struct history *h);

/* --- any thread --- */

struct history_figures {
	uint64_t taken, written, passed; /* samples, each once */
	uint64_t held;			 /* samples that no dump has written */
	uint64_t samples, bytes;	 /* all that is there, as if none was packed */
	uint64_t memory;		 /* bytes that this takes */
	uint64_t first, last;		 /* times, ns; 0: nothing is there */
};
/* Fills @ret under the lock. Any thread. */
void history_figures(struct history *h, struct history_figures *ret);

#endif
