/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording says was lost, and how it adds up.
 *
 * Three kinds of statement overlap (record/loss.h says where they come from). LOST is the kernel's
 * word in the stream for records that found no room in a ring, under the id of a later event.
 * LOST_SAMPLES without a time is what the recorder read from PERF_FORMAT_LOST at the end: the same
 * failures, exact by event, and those behind the last record too. LOST_SAMPLES with a time is the
 * kernel's word for samples that a PMU dropped before there was a record. So marked, it is that of
 * a recorder about samples that it dropped, or that its output did not take.
 */
#ifndef RINGTAIL_REPORT_TRACE_LOSS_H
#define RINGTAIL_REPORT_TRACE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata/record.h"

struct trace_loss {
	uint64_t told;	    /* sum of LOST */
	uint64_t counted;   /* sum of LOST_SAMPLES without a time */
	uint64_t pmu;	    /* sum of LOST_SAMPLES with a time */
	uint64_t pool;	    /* sum of LOST_SAMPLES of a recorder whose output was too slow */
	uint64_t output;    /* the same of one whose output failed */
	uint64_t throttled; /* times */
	bool all_counted;   /* the recorder says that @counted has all that @told has */
};

/* Adds what a LOST, LOST_SAMPLES or THROTTLE record says; sums stop at UINT64_MAX. */
void trace_loss_add(struct trace_loss *l, const struct pd_record *rec);

/* Adds the same of another part of the recording. */
void trace_loss_merge(struct trace_loss *l, const struct trace_loss *from);

/*
 * Events that found no room in a ring. @all is the whole recording's loss: once anything was
 * counted by event there, what LOST says of single events is of the wrong ones.
 */
uint64_t trace_loss_rings(const struct trace_loss *part, const struct trace_loss *all);

/* All that was lost: in rings, in the PMU, by the recorder and its output. */
uint64_t trace_loss_total(const struct trace_loss *part, const struct trace_loss *all);

#endif
