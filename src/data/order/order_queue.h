/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records waiting for their turn: in memory (struct queue), on disk (struct spill), and the merge
 * of both. Used by order.c only; one thread. Everything is ordered by {time, place}.
 */
#ifndef RINGTAIL_DATA_ORDER_ORDER_QUEUE_H
#define RINGTAIL_DATA_ORDER_ORDER_QUEUE_H

#include "base/buf.h"
#include "data/scan/scan.h"

/* A record as it waits, in memory and in the temporary file alike; its bytes follow. */
struct queued {
	uint64_t time, place;
	const struct pd_evsel *evsel;
	uint64_t offset, inner;
	uint32_t segment;
	uint32_t size; /* bytes of this block: with the record and padding to 8 */
};

#define QUEUED_MAX (sizeof(struct queued) + 65536)

/* Whether {time_a, place_a} comes before {time_b, place_b}. */
static inline bool queued_before(uint64_t time_a, uint64_t place_a, uint64_t time_b,
				 uint64_t place_b)
{
	return time_a != time_b ? time_a < time_b : place_a < place_b;
}

/*
 * In memory. Records are pushed in any order; queue_settle() makes the smallest available by
 * queue_peek() while more may be pushed later, queue_sort() once for all.
 * All zero is an empty queue.
 */
struct queue_entry {
	uint64_t time, place;
	size_t at; /* of the block in the arena */
};

struct queue {
	struct buf arena;
	struct queue_entry *e;
	size_t nr, cap;
	size_t settled; /* e[0 .. settled) is a binary heap */
	bool sorted;	/* e[next .. nr) is in order instead */
	size_t next;
	size_t live; /* bytes of blocks that were not popped */
};

int queue_push(struct queue *q, const struct data_record *rec); /* 0 or -ENOMEM */
void queue_settle(struct queue *q); /* makes a heap of what was pushed since the last call */
int queue_sort(struct queue *q);    /* 0 or -ENOMEM */
const struct queued *queue_peek(const struct queue *q); /* NULL: empty */
void queue_pop(struct queue *q);     /* the peeked bytes stay until the next push */
int queue_compact(struct queue *q);  /* gives back popped blocks if it is worth it */
void queue_clear(struct queue *q);   /* empty, memory kept */
void queue_release(struct queue *q); /* an empty queue remains */

/* Records that were not popped. */
static inline size_t queue_count(const struct queue *q)
{
	return q->nr - q->next;
}

/* A k-way merge. @head is the smallest of an input; @next moves on (*@ret NULL at its end). */
struct merge_input {
	const struct queued *head;
	int (*next)(void *ctx, const struct queued **ret);
	void *ctx;
};

struct merger {
	struct merge_input *in;
	size_t nr, cap;
};

void merger_clear(struct merger *m);			 /* no inputs remain, memory is kept */
int merger_add(struct merger *m, struct merge_input in); /* head NULL: ignored. 0 or -ENOMEM */
const struct queued *merger_top(const struct merger *m); /* NULL: all inputs are at their end */
int merger_advance(struct merger *m);			 /* past the top. 0 or an input's error */
void merger_release(struct merger *m); /* frees the list of inputs, not the inputs */

/*
 * Sorted runs in an unlinked temporary file. When there are many, those of a size are merged into
 * one, so that the number of runs, and with it the memory for reading them, stays small.
 */
struct order_run {
	struct spill *spill;
	uint64_t at, end; /* in the temporary file: what was not read into @buf yet */
	uint8_t *buf;	  /* made when the run is first read */
	size_t pos, len;
	unsigned int level; /* how often its records were merged */
};

struct spill {
	int fd; /* -1: none yet */
	uint64_t end;
	struct order_run *runs;
	size_t nr, cap;
	struct buf out; /* of the run being written */
};

/* An empty spill without a file. spill_release() closes the file and frees the memory. */
void spill_init(struct spill *s);
void spill_release(struct spill *s);

/* Writes what a sorted queue holds as one run and clears it. 0 or a negative errno, @err filled. */
int spill_queue(struct spill *s, struct queue *q, struct error *err);

/* Adds every run that has something left to @m. 0, -ENOMEM or -EIO. */
int spill_inputs(struct spill *s, struct merger *m);

#endif
