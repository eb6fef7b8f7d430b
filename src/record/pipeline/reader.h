/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drains a set of rings into the fifo of a writer.
 *
 * The reader copies records to the fifo and releases them piece by piece, without parsing them, so
 * that it holds a ring as short as possible. (Writing from the ring itself takes a fifth less CPU,
 * but a write may wait for the disk and holds the ring meanwhile: a storm of 20 s then lost 0.7 %,
 * with the copy 0.02 %. docs/PERFORMANCE.md has the figures.)
 *
 * Rings take turns, a piece each; sideband rings go first. A reader never waits for its fifo while
 * rings fill:
 *  - when a ring is half full at its turn, or the fifo nearly full, it truncates user stacks;
 *  - when the fifo is full but for the part kept for other records, samples stay in their ring up
 *    to half of it, and the reader drops those beyond (record/pipeline/shed.h). A pass over all
 *    rings drops all that find no room;
 *  - when not even the other records of a ring find room, it leaves the ring as it is, and the
 *    kernel counts the records that it loses.
 *
 * Rounds: a pass over all rings ends with a FINISHED_ROUND record, if wanted. The output then has
 * every record that was complete when the pass reached its ring. So no record after this mark is
 * older than the newest record before the *previous* mark: it was complete when that newest record
 * was drained, and each ring was visited since. A pass over some rings writes no mark.
 *
 * AUX areas of a full trace are drained after the rings, into AUXTRACE records. What finds no room
 * in the fifo stays in its area; the kernel stops a trace that finds no room there, and reports it.
 *
 * Ownership: memory and descriptors of a source remain the caller's and must outlive the reader.
 *
 * Threads: one uses a reader, and is its fifo's producer.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_READER_H
#define RINGTAIL_RECORD_PIPELINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/aux/area.h"
#include "record/pipeline/fifo.h"
#include "record/pipeline/shed.h"
#include "record/pipeline/sideband_taps.h"
#include "sys/kernel/cpus.h"

struct reader;

struct reader_source {
	void *memory;	  /* header page and data; stays the caller's */
	size_t page_size; /* of the header page, bytes */
	size_t data_size; /* bytes, a power of two */
	unsigned int ring;
	int cpu;
	/*
	 * Events that write to this ring; stays the caller's. Of none there is no wakeup for it:
	 * only passes over all rings drain it.
	 */
	const int *fds;
	size_t nr_fds;
	bool sideband;		   /* its records are never dropped */
	const struct cpus *run_on; /* CPUs to drain the ring on, at least one; NULL: any */
	struct aux_area *aux;	   /* beside the ring; or NULL */
	struct sideband_tap *tap;  /* keeps records before they are drained; or NULL */
	bool overwritten;	   /* an overwrite ring, for record/pipeline/overwrite_drain.h */
};

/*
 * Makes a reader into @fifo. @fifo and @shed (NULL: never drops or truncates) remain the caller's.
 * With @rounds it writes FINISHED_ROUND records. Returns 0 with *@ret, to be freed with
 * reader_free(), or a negative errno with @err filled.
 */
int reader_new(struct fifo *fifo, struct shed *shed, bool rounds, struct reader **ret,
	       struct error *err);

void reader_free(struct reader *r); /* accepts NULL */

/* Adds a ring that is no overwrite ring. Returns 0 or a negative errno with @err filled. */
int reader_add(struct reader *r, const struct reader_source *source, struct error *err);

/*
 * Leaves a ring alone while it holds less than @bytes and less than a quarter of its size, except
 * in reader_pass_all(), and after its tasks have ended.
 */
void reader_set_least(struct reader *r, uint64_t bytes);

/*
 * Makes reader_wait() also return when @fd is readable (a signalfd, a timer, a pidfd). Returns 0 or
 * a negative errno with @err filled.
 */
int reader_watch(struct reader *r, int fd, struct error *err);

/*
 * Waits until a ring reaches its watermark or hangs up, or a watched descriptor is readable. Stores
 * at most @max readable descriptors in @fds. Returns their number, 0 also after a signal, or a
 * negative errno with @err filled.
 *
 * The reader has an epoll set of its own because the kernel reports a ring only once: polling it
 * (perf_poll(), also through an epoll descriptor in another epoll set) clears the report.
 */
int reader_wait(struct reader *r, int *fds, size_t max, struct error *err);

/*
 * Drains the rings that reader_wait() found ready, those that wait for room, and all sideband
 * rings. *@ret_bytes: bytes drained. Returns 0 or a negative errno with @err filled.
 */
int reader_pass_ready(struct reader *r, uint64_t *ret_bytes, struct error *err);

/*
 * Drains all rings; with rounds, writes a mark if anything was drained since the last one. Drops
 * samples that find no room; @patient: waits for room instead. Returns the bytes drained.
 */
uint64_t reader_pass_all(struct reader *r, bool patient);

/*
 * As reader_pass_all(), but leaves rings alone that hold too little (reader_set_least()), and
 * samples that find no room in their ring, up to half of it.
 */
uint64_t reader_pass_round(struct reader *r);

/*
 * Whether records stay in a ring because the fifo is full. Each reader_pass_ready() tries again;
 * the caller has to wake the reader when there is room (fifo_want_room()).
 */
bool reader_waits(const struct reader *r);

/* Whether all rings have hung up: no event that writes to them has a task any more. */
bool reader_hung_up(const struct reader *r);

struct reader_stats {
	uint64_t bytes;	 /* drained */
	uint64_t pieces; /* committed to the fifo */
	uint64_t full;	 /* times that the fifo had no room for a piece */
	uint64_t passes, rounds;
	uint64_t moves; /* of the thread, to the CPUs of a ring (run_on) */
};

/* Returns the counts, which remain the reader's. */
const struct reader_stats *reader_stats(const struct reader *r);

#endif
