/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pass 1 counts. Parts of a file are counted by themselves, each by one thread, and added up.
 */
#ifndef RINGTAIL_REPORT_TRACE_COUNTS_H
#define RINGTAIL_REPORT_TRACE_COUNTS_H

#include "data/scan/scan.h"
#include "report/trace/loss.h"

#define TRACE_TYPES 128 /* record types counted one by one; others share the last slot */

struct trace_event_counts {
	uint64_t samples;
	struct trace_loss loss;
};

/* The same loss by CPU; cpu UINT32_MAX: the recording does not say. */
struct trace_cpu_loss {
	uint32_t cpu;
	struct trace_loss loss;
};

struct trace_counts {
	uint64_t records;
	uint64_t by_type[TRACE_TYPES];
	struct trace_event_counts *by_event; /* nr_events, by evsel index */
	size_t nr_events;
	struct trace_cpu_loss *by_cpu; /* only CPUs that lost or throttled; ascending */
	size_t nr_cpus, cap_cpus;
	uint64_t samples, unknown_samples; /* unknown: of an id that no event has */
	struct trace_loss loss;
	uint64_t taken;	    /* samples that the losses are beside, with -M; the file has some */
	bool taken_is_told; /* else nothing is known of that */
	uint64_t first_time, last_time; /* of samples, ns; 0: none had a time */
};

/* Zero for @nr_events events. 0 or -ENOMEM. counts_release() in either case. */
int counts_init(struct trace_counts *c, size_t nr_events);
void counts_release(struct trace_counts *c);

/* Counts a record. 0 or -ENOMEM. */
int counts_add(struct trace_counts *c, const struct data_record *rec, const struct pd_evlist *list);

/* Adds the counts of a part of the same recording. 0 or -ENOMEM. */
int counts_merge(struct trace_counts *c, const struct trace_counts *from);

#endif
