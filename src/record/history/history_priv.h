/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to history.c and history_snapshot.c: the chunks and the state of a snapshot. */
#ifndef RINGTAIL_RECORD_HISTORY_HISTORY_PRIV_H
#define RINGTAIL_RECORD_HISTORY_HISTORY_PRIV_H

#include <pthread.h>

#include "record/history/history.h"

/* A part of a chunk from its beginning: its size, and the samples in it. */
struct extent {
	size_t bytes;
	uint64_t samples;
};

struct chunk {
	struct chunk *next;   /* the next younger one of its ring */
	uint64_t number;      /* in the order of sealing */
	uint64_t first, last; /* times of the earliest and the latest sample */
	uint64_t samples;
	size_t bytes;	      /* of the samples, unpacked */
	size_t len, capacity; /* of @data; @len is @bytes unless it was packed */
	bool packing, packed;
	struct extent unwritten; /* by any snapshot; the front, as snapshots take the newest */
	struct extent before;	 /* if @touched: @unwritten as it was before the snapshot */
	bool touched;		 /* the running snapshot wrote from it */
	bool pending;		 /* the running snapshot has yet to write it */
	struct extent spared;	 /* front that the running snapshot does not write */
	uint8_t *data;
};

struct history_ring {
	struct chunk *open; /* NULL: no samples yet */
	bool busy;	    /* its writer fills @open, without the lock */
	struct chunk *sealed, **end;
	struct chunk *plain;  /* the first sealed chunk that is not packed, or NULL */
	struct chunk *cursor; /* the next chunk of the snapshot, or NULL */
};

struct history {
	pthread_mutex_t lock; /* guards all fields that change */
	/* The snapshot has reached another chunk or its end, or a chunk was packed. */
	pthread_cond_t moved;
	/* As history_on_full() set it, or NULL. */
	void (*full)(size_t ring, void *arg);
	void *full_arg;
	uint64_t budget, reserved;
	size_t chunk_size;
	unsigned int time_at;
	uint64_t memory; /* of all chunks but the spare */
	uint8_t *spare;	 /* data of an evicted full-size chunk, for reuse: its pages are mapped */
	size_t packing;	 /* chunks */
	uint64_t numbers;
	/* The running snapshot: */
	uint64_t limit; /* it writes the chunks with lower numbers */
	uint64_t since; /* of those, the samples of this time or later */
	bool again;	/* also samples that an earlier snapshot wrote */
	history_unpack_fn *unpack;
	uint8_t *unpacked;		 /* samples of the chunk handed out, or NULL */
	uint64_t snapshot_evicted;	 /* samples that it wrote, in chunks evicted since */
	bool announced;			 /* history_announce() was called; it has not begun */
	struct history_ring *handed_out; /* the caller holds the chunk at this ring's cursor */
	struct history_figures sums;	 /* taken, written, evicted, held */
	size_t nr;
	struct history_ring rings[];
};

/* Under the lock: evicts chunks until the budget is kept. It may release the lock meanwhile. */
void history_make_room(struct history *h);

/* Returns the time of a sample, or 0 if it has none. */
uint64_t history_time_of(const struct history *h, const uint8_t *sample, size_t size);

#endif
