/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to record/history*.c: what is written, and how it is dumped. */
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
	struct extent unwritten; /* by any dump: dumps take the newest, so it is the front */
	struct extent before;	 /* of that when the dump that runs came to it, if @touched */
	bool touched;
	bool pending; /* the dump that runs is still to write it, but for @spared */
	struct extent spared;
	uint8_t *data;
};

struct history_ring {
	struct chunk *open; /* NULL: there is nothing in it */
	bool busy;	    /* its writer fills @open, without the lock */
	struct chunk *sealed, **end;
	struct chunk *plain;  /* of the sealed ones the first that was not packed, or NULL */
	struct chunk *cursor; /* of the dump: the next one, or NULL */
};

struct history {
	pthread_mutex_t lock; /* guards all that changes */
	/* The dump has come to another chunk, or to its end; or a chunk has been packed. */
	pthread_cond_t moved;
	/* Of history_on_full(), or NULL. */
	void (*full)(size_t ring, void *arg);
	void *full_arg;
	uint64_t budget, reserved;
	size_t chunk_size;
	unsigned int time_at;
	uint64_t memory; /* of all chunks but the spare */
	uint8_t *spare;	 /* the data of a whole one that has gone: its pages are there */
	size_t packing;	 /* chunks */
	uint64_t numbers;
	uint64_t limit;		     /* of the dump: chunks with a number below */
	uint64_t since;		     /* of the dump: samples that are not older */
	bool again;		     /* the dump also takes what has been written */
	history_unpack_fn *unpack;   /* of the dump; or NULL */
	uint8_t *unpacked;	     /* what it has made of the chunk that is handed out, or NULL */
	uint64_t dumped_and_gone;    /* samples that it wrote first, in chunks evicted since */
	bool announced;		     /* and not begun */
	struct history_ring *dumped; /* its cursor is handed out */
	struct history_figures sums; /* taken, written, passed, held */
	size_t nr;
	struct history_ring rings[];
};

/* Evicts what there is no room for. Under the lock, which it may leave meanwhile. */
void history_make_room(struct history *h);

/* The time of a sample; 0: it has none. */
uint64_t history_time_of(const struct history *h, const uint8_t *sample, size_t size);

#endif
