/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group reads: one sample of a group's leader becomes a sample for each member.
 *
 * Such a sample carries the counts of all members so far. As in perf, a member's period is
 * what it has counted since the sample before; so samples must come in time order. One thread uses
 * a table.
 */
#ifndef RINGTAIL_REPORT_TRACE_WALK_GROUP_H
#define RINGTAIL_REPORT_TRACE_WALK_GROUP_H

#include "base/hash_table.h"
#include "report/trace/walk.h"

struct group_counter {
	uint64_t id;
	uint32_t tid; /* threads that inherit a counter have its id in common; else 0 */
	uint64_t value;
};

/* All zero is an empty table. Owns what it points to. */
struct group_counts {
	struct hash_table table;
	struct group_counter *counters;
	size_t cap;
};

/* Frees what @g owns; accepts zeroes. */
void group_counts_release(struct group_counts *g);

/* Returns whether samples of @evsel carry the counts of a group, which may be of one event. */
bool group_is_read(const struct pd_evsel *evsel);

/* Returns whether samples of some event do. */
bool group_any_read(const struct pd_evlist *list);

/*
 * Calls @fn for each member that has counted something since the last sample with its counter: with
 * a sample of the member's event and that period. Returns 0, the negative value of @fn, or -ENOMEM.
 */
int group_split(struct group_counts *g, const struct trace *t, const struct walk_sample *ws,
		walk_fn fn, void *arg);

#endif
