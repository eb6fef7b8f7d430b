/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes records from a set of rings and hands them to a sink.
 *
 * A ring is held as short as possible: the run is copied to chunks and the ring released before
 * anybody looks at a record. The chunks go to the sink after all rings of the pass had their turn,
 * or at once when the pool is empty. (Writing small runs from the ring itself would spare a copy of
 * 0.02 µs a sample, but the sinks count and parse, and a write may block: the ring would be held
 * for all of it.)
 *
 * Rounds: reader_pass() over all rings ends with a FINISHED_ROUND record (if wanted). Whatever a
 * CPU had completed when the pass came to its ring is then in the output, so a record older than
 * the newest one before the *previous* mark cannot come any more: it was complete when that one
 * was taken, and each ring was visited since. A pass over some rings makes no mark.
 *
 * One thread uses a reader, its pool and its sink.
 */
#ifndef RINGTAIL_RECORD_READER_H
#define RINGTAIL_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/sink.h"

struct reader;

struct reader_source {
	void *memory;	  /* header page and data; stays the caller's */
	size_t page_size; /* of the header page, bytes */
	size_t data_size; /* bytes, a power of two */
	unsigned int ring;
	int cpu;
	const int *fds; /* events that write to this ring; stays the caller's. May be empty */
	size_t nr_fds;
};

/* @pool and @sink remain the caller's. Returns 0, -ENOMEM or another negative errno. */
int reader_new(struct chunk_pool *pool, struct sink *sink, bool rounds, struct reader **ret,
	       struct error *err);
/* Goes over to another sink. */
void reader_set_sink(struct reader *r, struct sink *sink);

void reader_free(struct reader *r); /* accepts NULL */

int reader_add(struct reader *r, const struct reader_source *source, struct error *err);

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
 * Takes what those rings hold that reader_wait() found ready. Returns 0 or the sink's error.
 * *@ret_bytes (may be NULL) is what was taken.
 */
int reader_pass_ready(struct reader *r, uint64_t *ret_bytes, struct error *err);

/* Takes what all rings hold now; with rounds, a mark follows if there was anything since the last.
 */
int reader_pass_all(struct reader *r, uint64_t *ret_bytes, struct error *err);

/* All rings have come to their end: each of the events that write to them has lost its tasks. */
bool reader_hung_up(const struct reader *r);

/*
 * How full the fullest ring is now, in percent. @reader is a struct reader; from its own thread,
 * also while it hands records to its sink (see compress_watch()).
 */
unsigned int reader_fullness(void *reader);

struct reader_stats {
	uint64_t bytes;	     /* taken from rings */
	uint64_t chunks;     /* filled */
	uint64_t pool_empty;	 /* times that no chunk was free */
	uint64_t passes, rounds;
};
const struct reader_stats *reader_stats(const struct reader *r);

#endif
