/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of records, samples and losses, made in pass 1.
 *
 * One thread counts a part of the file into its own struct; counts_merge() adds up the parts.
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

/* Losses of one CPU; cpu is UINT32_MAX for records that name none. */
struct trace_cpu_loss {
	uint32_t cpu;
	struct trace_loss loss;
};

struct trace_counts {
	uint64_t records;
	uint64_t by_type[TRACE_TYPES];
	struct trace_event_counts *by_event; /* owned; nr_events of them, by evsel index */
	size_t nr_events;
	struct trace_cpu_loss *by_cpu; /* owned; only CPUs with losses or throttling; ascending */
	size_t nr_cpus, cap_cpus;
	uint64_t samples, unknown_samples; /* unknown: no event has the sample's id */
	uint64_t sample_bytes;		   /* of their records */
	uint64_t untimed;		   /* samples without a time */
	struct trace_loss loss;
	/* With -M: all samples that the recorder took. The file holds only some of them. */
	uint64_t taken;
	bool taken_known;		/* the log has a totals record */
	uint64_t first_time, last_time; /* of samples, ns; 0: none had a time */
};

/*
 * Zeroes @c for @nr_events events. Returns 0 or -ENOMEM. The caller calls counts_release() also
 * after failure.
 */
int counts_init(struct trace_counts *c, size_t nr_events);

/* Frees the tables in @c; accepts zeroes. */
void counts_release(struct trace_counts *c);

/* Counts a sample. Inline, as it is called for nearly all records. */
static inline void counts_add_sample(struct trace_counts *c, const struct data_record *rec)
{
	c->records++;
	c->by_type[PERF_RECORD_SAMPLE]++;
	c->samples++;
	c->sample_bytes += rec->hdr->size;
	if (rec->evsel && rec->evsel->index < c->nr_events)
		c->by_event[rec->evsel->index].samples++;
	else
		c->unknown_samples++;
	if (!rec->time) {
		c->untimed++;
		return;
	}
	if (!c->first_time || rec->time < c->first_time)
		c->first_time = rec->time;
	if (rec->time > c->last_time)
		c->last_time = rec->time;
}

/*
 * Counts a record of another type; the events of the recording are @list. Returns 0 or -ENOMEM.
 */
int counts_add_other(struct trace_counts *c, const struct data_record *rec,
		     const struct pd_evlist *list);

/* Adds @from, the counts of another part of the same recording. Returns 0 or -ENOMEM. */
int counts_merge(struct trace_counts *c, const struct trace_counts *from);

#endif
