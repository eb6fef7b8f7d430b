/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of records that wait for their turn: in memory (struct queue), on disk (struct spill), and
 * the merge of both.
 *
 * All order is by {time, place}. For order.c, and of the queue in memory for who sorts as it does.
 * One thread.
 */
#ifndef RINGTAIL_DATA_ORDER_ORDER_QUEUE_H
#define RINGTAIL_DATA_ORDER_ORDER_QUEUE_H

#include "base/buf.h"
#include "data/scan/scan.h"

/* A waiting record, in memory and in the temporary file alike; its bytes follow. */
struct queued {
	uint64_t time, place;
	const struct pd_evsel *evsel;
	uint64_t offset, inner;
	uint32_t segment;
	uint32_t size; /* bytes of this block: with the record and padding to 8 */
};

#define QUEUED_MAX (sizeof(struct queued) + 65536)

/* Returns whether a comes before b. */
static inline bool queued_before(uint64_t time_a, uint64_t place_a, uint64_t time_b,
				 uint64_t place_b)
{
	return time_a != time_b ? time_a < time_b : place_a < place_b;
}

/*
 * The queue in memory. Push records in any order. After queue_settle(), queue_peek() returns the
 * smallest, and more pushes may follow; queue_sort() orders all, and no push may follow. All zero
 * is an empty queue.
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

/* Returns the record in @block, which has a time, as order_next() delivers it. */
struct data_record queued_record(const struct queued *block);

/* Adds a copy of the record. Returns 0 or -ENOMEM. */
int queue_push(struct queue *q, const struct data_record *rec);
/* Makes the pushed records visible to queue_peek(). */
void queue_settle(struct queue *q);
/* Sorts all records; no push may follow. Returns 0 or -ENOMEM. */
int queue_sort(struct queue *q);
/* Returns the smallest record; NULL: the queue is empty. */
const struct queued *queue_peek(const struct queue *q);
/* Removes the smallest record. Its bytes stay until the next push. */
void queue_pop(struct queue *q);
/* Frees popped blocks if that is worth it. Returns 0 or -ENOMEM. */
int queue_compact(struct queue *q);
/* Empties the queue, keeping its memory. */
void queue_clear(struct queue *q);
/* Frees the memory. */
void queue_release(struct queue *q);

/* Returns the number of waiting records. */
static inline size_t queue_count(const struct queue *q)
{
	return q->nr - q->next;
}

/* Input of a k-way merge: @head is its smallest record; @next moves on (*@ret NULL: the end). */
struct merge_input {
	const struct queued *head;
	int (*next)(void *ctx, const struct queued **ret);
	void *ctx;
};

struct merger {
	struct merge_input *in;
	size_t nr, cap;
};

/* Removes all inputs, keeping memory. */
void merger_clear(struct merger *m);
/* Adds an input; ignores one with @head NULL. Returns 0 or -ENOMEM. */
int merger_add(struct merger *m, struct merge_input in);
/* Returns the smallest record of all inputs; NULL: all are at their end. */
const struct queued *merger_top(const struct merger *m);
/* Moves behind the smallest record. Returns 0 or the input's error. */
int merger_advance(struct merger *m);
/* Frees the memory; inputs are borrowed. */
void merger_release(struct merger *m);

/*
 * Sorted runs in an unlinked temporary file. Many runs of equal level are merged into one, so that
 * the number of runs, and the memory for reading them, stays small.
 */
struct order_run {
	struct spill *spill;
	uint64_t at, end; /* in the temporary file: the part not yet read into @buf */
	uint8_t *buf;	  /* allocated at the first read */
	size_t pos, len;
	unsigned int level; /* how often its records were merged */
};

struct spill {
	int fd; /* -1: none yet */
	uint64_t end;
	struct order_run *runs;
	size_t nr, cap;
	struct buf out; /* for writing a run */
};

/* Makes an empty spill; it has no file until the first run. */
void spill_init(struct spill *s);
/* Closes the file and frees the memory. */
void spill_release(struct spill *s);

/* Writes a sorted queue as one run, and clears it. 0, or a negative errno with @err filled. */
int spill_queue(struct spill *s, struct queue *q, struct error *err);

/* Adds every run with unread records to @m. Returns 0, -ENOMEM or -EIO. */
int spill_inputs(struct spill *s, struct merger *m);

#endif
