/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a recording (record -M): their log, and the snapshot of each record.
 *
 * Pass 1 adds records in any order, in one thread. After snapshots_finish() all is
 * read-only, and any number of threads may ask. Owns its memory; snapshots_release() frees it.
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
	size_t at; /* offset in @records */
};

/* All zero: the recording has no snapshots. */
struct snapshots {
	struct snapshot_mark *marks; /* by place, when finished */
	size_t nr, cap;
	struct snapshot_entry *entries; /* by number, when finished */
	size_t nr_records, cap_records;
	struct buf records;
	bool traces; /* they have the trace of AUX areas */
};

/* Returns whether the recording begins with a log; if not, it has no snapshots of -M. */
bool snapshots_are_in(struct data_file *df);

/* Whether the recording says at its beginning that it has hardware trace. */
bool trace_info_is_in(struct data_file *df);

/* Whether pass 1 may find snapshots: those of AUX areas (-S) are amid the records. */
bool snapshots_may_be_in(struct data_file *df);

/* Takes a record that decodes; ignores other records than the log's. Returns 0 or -ENOMEM. */
int snapshots_add(struct snapshots *s, const struct data_record *rec);
/* Sorts what was added. Call it once, after the last record. */
void snapshots_finish(struct snapshots *s);
/* Frees the memory; accepts zeroes. */
void snapshots_release(struct snapshots *s);

/* Returns the number of the snapshot that a record belongs to; 0: none. */
uint64_t snapshots_of(const struct snapshots *s, const struct data_record *rec);

/*
 * Returns whether records are missing before @rec, in the order of time: it is of a later snapshot
 * than those before. *@newest: 0 at first, then the caller's between two calls.
 */
bool snapshots_gap(const struct snapshots *s, const struct data_record *rec, uint64_t *newest);

/* Returns whether @run may hold records of snapshots @first to @last. */
bool snapshots_reach(const struct snapshots *s, uint64_t first, uint64_t last,
		     const struct sweep_run *run);

/* Returns whether the log has any of the snapshots @first to @last. */
bool snapshots_have(const struct snapshots *s, uint64_t first, uint64_t last);

/* Decodes record @i of the log. Records are ordered by number; requests precede the end. */
void snapshots_read(const struct snapshots *s, size_t i, struct pd_snapshot_log *ret);

/* Returns the number of snapshots, with the smallest and the largest number. */
size_t snapshots_count(const struct snapshots *s, uint64_t *ret_first, uint64_t *ret_last);

#endif
