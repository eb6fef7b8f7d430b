/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to history.c and history_snapshot.c: the chunks and the state of a snapshot. */
#ifndef RINGTAIL_RECORD_HISTORY_HISTORY_PRIV_H
#define RINGTAIL_RECORD_HISTORY_HISTORY_PRIV_H

#include <pthread.h>

#include "record/history/history.h"

/* The front of a chunk: bytes, and samples in them. */
struct extent {
	size_t bytes;
	uint64_t samples;
};

struct chunk {
	struct chunk *next;   /* of its ring, later */
	uint64_t number;      /* in the order of sealing */
	uint64_t first, last; /* times of the earliest and the latest sample */
	uint64_t samples;
	size_t bytes;	      /* of the samples */
	size_t len, capacity; /* bytes of data; unless it was packed, len is bytes */
	bool packing, packed;
	struct extent unwritten; /* by any snapshot: these write the newest, so it is the front */
	struct extent before;	 /* if @touched: @unwritten before the running snapshot */
	bool touched;
	bool pending; /* the running snapshot has yet to write it, but for @spared */
	struct extent spared;
	uint8_t *data;
};

struct history_ring {
	struct chunk *open; /* NULL: no samples yet */
	bool busy;	    /* its writer fills @open, without the lock */
	struct chunk *sealed, **end;
	struct chunk *plain;  /* the first sealed chunk that is not packed, or NULL */
	struct chunk *cursor; /* of the snapshot: the next chunk, or NULL */
};

struct history {
	pthread_mutex_t lock; /* guards all that changes */
	/* The snapshot has reached another chunk or its end, or a chunk was packed. */
	pthread_cond_t moved;
	/* Of history_on_full(), or NULL. */
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
	uint64_t limit; /* it writes chunks with a number below */
	uint64_t since; /* and samples of this time or later */
	bool again;	/* also samples that were written before */
	history_unpack_fn *unpack;
	uint8_t *unpacked;		 /* samples of the chunk handed out, or NULL */
	uint64_t snapshot_evicted;	 /* samples it wrote first, in chunks evicted since */
	bool announced;			 /* and not begun */
	struct history_ring *handed_out; /* the caller has the chunk at its cursor */
	struct history_figures sums;	 /* taken, written, evicted, held */
	size_t nr;
	struct history_ring rings[];
};

/* Under the lock: evicts chunks until the budget is kept. It may release the lock meanwhile. */
void history_make_room(struct history *h);

/* Returns the time of a sample, or 0 if it has none. */
uint64_t history_time_of(const struct history *h, const uint8_t *sample, size_t size);

#endif
