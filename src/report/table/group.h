/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group reads: one sample of a group's leader becomes a sample for each member.
 *
 * Such a sample carries the counts of all members so far. As in perf report, a member's period is
 * what it has counted since the sample before; so samples must come in time order. One thread uses
 * a table.
 */
#ifndef RINGTAIL_REPORT_TABLE_GROUP_H
#define RINGTAIL_REPORT_TABLE_GROUP_H

#include "report/trace/walk.h"

/* All zero is an empty table. Owns its slots. */
struct group_counts {
	struct group_count {
		uint64_t id; /* of a counter; 0: free slot */
		uint64_t value;
	} * slot; /* open addressing */
	size_t size, nr;
	uint64_t key; /* seed of the hash */
};

/* Frees the slots; accepts zeroes. */
void group_counts_release(struct group_counts *g);

/* Returns whether samples of @evsel carry the counts of a group. */
bool group_is_read(const struct pd_evsel *evsel);

/*
 * Calls @fn for each member that has counted something since the last sample with its counter: with
 * a sample of the member's event and that period. Returns 0, the negative value of @fn, or -ENOMEM.
 */
int group_split(struct group_counts *g, const struct trace *t, const struct walk_sample *ws,
		walk_fn fn, void *arg);

#endif
