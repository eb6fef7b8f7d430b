/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes records from a set of rings and hands them to a writer's thread.
 *
 * A ring is held as short as possible: what is there is copied to the fifo and released, piece by
 * piece, before anybody looks at a record. (Writing from the ring itself takes a fifth less
 * CPU, but a write may wait for the disk, and the ring is held for all of it: 0.7 % of a storm of
 * 20 s was lost so, 0.02 % with the copy. docs/PERFORMANCE.md has the figures.)
 *
 * Rings take turns, a piece each, those of sideband before the others. A reader never waits for
 * its fifo while rings fill. When a ring is half full at its turn, or the fifo nearly full, user
 * stacks are cut. When the fifo is full, but for what is kept for other records, samples stay in
 * their ring up to half of it, and what is beyond is dropped (record/shed.h); a pass over all rings
 * drops all of them. Of a ring whose other records find no room, either, nothing is taken: the
 * kernel counts what it then cannot put there.
 *
 * Rounds: reader_pass() over all rings ends with a FINISHED_ROUND record (if wanted). Whatever a
 * CPU had completed when the pass came to its ring is then in the output, so a record older than
 * the newest one before the *previous* mark cannot come any more: it was complete when that one
 * was taken, and each ring was visited since. A pass over some rings makes no mark.
 *
 * One thread uses a reader, and is its fifo's producer.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_READER_H
#define RINGTAIL_RECORD_PIPELINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/pipeline/fifo.h"
#include "record/pipeline/shed.h"
#include "sys/kernel/cpus.h"

struct reader;

struct reader_source {
	void *memory;	  /* header page and data; stays the caller's */
	size_t page_size; /* of the header page, bytes */
	size_t data_size; /* bytes, a power of two */
	unsigned int ring;
	int cpu;
	const int *fds; /* events that write to this ring; stays the caller's. May be empty */
	size_t nr_fds;
	bool sideband;		   /* its records are never given up */
	const struct cpus *run_on; /* where the ring is to be emptied, not empty; NULL: anywhere */
	bool overwritten;	   /* it is for record/dump.h, not for a reader */
};

/*
 * @fifo and @shed (NULL: nothing is ever given up) remain the caller's. Returns 0, -ENOMEM or
 * another negative errno.
 */
int reader_new(struct fifo *fifo, struct shed *shed, bool rounds, struct reader **ret,
	       struct error *err);

void reader_free(struct reader *r); /* accepts NULL */

/* Adds a ring, whose memory must outlive @r. Returns 0 or a negative errno with @err filled. */
int reader_add(struct reader *r, const struct reader_source *source, struct error *err);

/*
 * Of a ring with less than @bytes, or than a quarter of what it holds, nothing is taken but by
 * reader_pass_all(), and when its tasks have ended.
 */
void reader_set_least(struct reader *r, uint64_t bytes);

/* reader_wait() shall also return when @fd is readable (a signalfd, a timer, a pidfd). */
int reader_watch(struct reader *r, int fd, struct error *err);

/*
 * Waits until a ring has reached its watermark or come to its end, or a watched descriptor is
 * readable: of those at most @max are stored in @fds. Returns their number, or a negative errno.
 *
 * The wait is the reader's own since the kernel reports a ring once: asking it (perf_poll(), also
 * from an epoll descriptor in another one's set) clears the mark.
 */
int reader_wait(struct reader *r, int *fds, size_t max, struct error *err);

/*
 * Takes what those rings hold that reader_wait() found ready, or that wait for room; *@ret_bytes is
 * how much. Returns 0 or a negative errno.
 */
int reader_pass_ready(struct reader *r, uint64_t *ret_bytes, struct error *err);

/*
 * Takes what all rings hold now; with rounds, a mark follows if there was anything since the last.
 * What has no room is given up, @patient: it waits for room, as long as that takes. Returns the
 * number of bytes taken.
 */
uint64_t reader_pass_all(struct reader *r, bool patient);

/* The same, but rings with too little are left as they are, and samples in half a ring may be. */
uint64_t reader_pass_round(struct reader *r);

/*
 * Something had to stay in a ring since the fifo was full. Each reader_pass_ready() tries again,
 * whichever ring was ready; somebody should wake the reader when there is room.
 */
bool reader_waits(const struct reader *r);

/* All rings have come to their end: each of the events that write to them has lost its tasks. */
bool reader_hung_up(const struct reader *r);

struct reader_stats {
	uint64_t bytes;	 /* taken from rings */
	uint64_t pieces; /* of the fifo, filled */
	uint64_t full;	 /* times that a piece found no room in it */
	uint64_t passes, rounds;
	uint64_t moves; /* from CPU to CPU, to where a ring is to be emptied */
};
/* Counts so far; for the thread of the reader, or after it. */
const struct reader_stats *reader_stats(const struct reader *r);

#endif
