/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group reads: samples of a group's leader that carry the counts of all its members so far.
 *
 * What a member counted since the sample before is its period at this one, as perf report has it;
 * so samples must come in time order. One thread uses a table.
 */
#ifndef RINGTAIL_REPORT_TABLE_GROUP_H
#define RINGTAIL_REPORT_TABLE_GROUP_H

#include "report/trace/walk.h"

struct group_counts {
	struct group_count {
		uint64_t id; /* of a counter; 0: free slot */
		uint64_t value;
	} * slot; /* open addressing */
	size_t size, nr;
	uint64_t key; /* of hashes */
};

void group_counts_release(struct group_counts *g);

/* Whether samples of @evsel are such. */
bool group_is_read(const struct pd_evsel *evsel);

/*
 * Calls @fn for each member that counted something since the last sample of its counter, as for a
 * sample of that event with that period. Returns 0, what @fn returned, or -ENOMEM.
 */
int group_split(struct group_counts *g, const struct trace *t, const struct walk_sample *ws,
		walk_fn fn, void *arg);

#endif
