/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshots that a recording is made of (record -M): what its log says of them, and which one a
 * record belongs to.
 *
 * Filled by pass 1, in any order. After snapshots_finish() read-only: any number of threads.
 */
#ifndef RINGTAIL_REPORT_TRACE_SNAPSHOTS_H
#define RINGTAIL_REPORT_TRACE_SNAPSHOTS_H

#include "base/buf.h"
#include "data/scan/scan.h"
#include "data/scan/sweep.h"
#include "perfdata/snapshot_log.h"

struct snapshot_mark;

/* A record of the log. */
struct snapshot_entry {
	uint64_t number;
	enum pd_snapshot_kind kind;
	size_t at; /* in the records */
};

/* All zero: there are none. */
struct snapshots {
	struct snapshot_mark *marks; /* by place, when finished */
	size_t nr, cap;
	struct snapshot_entry *entries; /* by number, when finished */
	size_t nr_records, cap_records;
	struct buf records;
};

/* Whether the recording begins with a log: else there is none. */
bool snapshots_are_in(struct data_file *df);

/* Takes a record that decodes; others than those of the log are none of it. 0 or -ENOMEM. */
int snapshots_add(struct snapshots *s, const struct data_record *rec);
void snapshots_finish(struct snapshots *s);
void snapshots_release(struct snapshots *s);

/* Which one a record belongs to; 0: to none. */
uint64_t snapshots_of(const struct snapshots *s, const struct data_record *rec);

/* Whether anything of snapshot @number may lie in @run. */
bool snapshots_reach(const struct snapshots *s, uint64_t number, const struct sweep_run *run);

bool snapshots_have(const struct snapshots *s, uint64_t number);

/* Record @i of the log: of one number after the other, requests before the end. */
void snapshots_read(const struct snapshots *s, size_t i, struct pd_snapshot_log *ret);

/* How many different numbers there are, and the smallest and the largest. */
size_t snapshots_count(const struct snapshots *s, uint64_t *ret_first, uint64_t *ret_last);

#endif
