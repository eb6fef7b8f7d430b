/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses of a recording: sums by cause, and which of them overlap.
 *
 * A recording has three kinds of records about losses; record/loss/ writes them.
 * - LOST: the kernel found no room in a ring. It carries the id of a later event.
 * - LOST_SAMPLES without a time: the recorder read PERF_FORMAT_LOST at the end. It counts the same
 *   failures, exactly by event, and also those after the last record.
 * - LOST_SAMPLES with a time: a PMU dropped samples before the kernel made records of them.
 * PD_MISC_LOST_RECORDS marks LOST_SAMPLES without a time of an event that writes a trace: LOST
 * counts its records, too, but they are no samples. PD_MISC_LOST_POOL and PD_MISC_LOST_OUTPUT mark
 * LOST_SAMPLES of a recorder that dropped samples itself, or whose output failed.
 *
 * A struct owns no memory. One thread uses a struct.
 */
#ifndef RINGTAIL_REPORT_TRACE_LOSS_H
#define RINGTAIL_REPORT_TRACE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata/record.h"

struct trace_loss {
	uint64_t reported;	/* sum of LOST */
	uint64_t counted;	/* sum of LOST_SAMPLES without a time */
	uint64_t records;	/* sum of those that are no samples; not in @counted */
	uint64_t pmu;		/* sum of LOST_SAMPLES with a time */
	uint64_t pool;		/* sum of LOST_SAMPLES of a recorder that dropped samples itself */
	uint64_t output;	/* sum of LOST_SAMPLES of a recorder whose output failed */
	uint64_t throttled;	/* number of THROTTLE records */
	uint64_t unthrottled;	/* number of UNTHROTTLE records */
	uint64_t throttle_time; /* ns, modulo 2^64: sum of UNTHROTTLE's times less THROTTLE's */
	bool all_counted; /* @counted includes all of @reported, as the recorder's log states */
};

/*
 * Adds a LOST, LOST_SAMPLES, THROTTLE or UNTHROTTLE record; sums stop at UINT64_MAX. Ignores other
 * types.
 */
void trace_loss_add(struct trace_loss *l, const struct pd_record *rec);

/* Adds @from, the losses of another part of the recording. */
void trace_loss_merge(struct trace_loss *l, const struct trace_loss *from);

/*
 * Returns how many samples found no room in a ring. @all is the loss of the whole recording, @part
 * that of an event or a CPU, or @all itself. A LOST record names the wrong event, so for a part
 * only the exact counts are used once @all has any.
 */
uint64_t trace_loss_rings(const struct trace_loss *part, const struct trace_loss *all);

/*
 * Returns for how long, in ns, events of @l were throttled. A throttled event that the recording
 * leaves so was it until @last, and one that it finds so was it from @first, the times of the first
 * and last sample.
 */
uint64_t trace_loss_throttled(const struct trace_loss *l, uint64_t first, uint64_t last);

/* Returns all losses: in rings, in the PMU, in the recorder and in its output. Arguments as above.
 */
uint64_t trace_loss_total(const struct trace_loss *part, const struct trace_loss *all);

#endif
