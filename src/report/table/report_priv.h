/* SPDX-License-Identifier: Apache-2.0 */
/* Inner parts of reports: report_needs.c has what options need, report_worker.c counts samples, and
 * report.c runs the workers and puts their tables together. */
#ifndef RINGTAIL_REPORT_TABLE_REPORT_PRIV_H
#define RINGTAIL_REPORT_TABLE_REPORT_PRIV_H

#include "report/table/report.h"
#include "report/trace/itrace.h"
#include "report/trace/walk_group.h"

/* Shared by the workers: the next chunk, and whether all should stop. */
struct report_pool {
	atomic_size_t next;
	atomic_bool stop;
};

/* A worker's own tables. Workers write no shared memory. */
struct report_worker {
	struct trace *trace;
	const struct report_opts *opts;
	struct frames frames;
	struct group_counts groups;
	struct walker *walker;
	struct digest digest; /* of a chunk of hardware trace */
	struct report_tables tables;
	struct parent_match parent, ignore_callees;
	bool branches;	/* count these, not samples */
	bool parallel;	/* latencies count, or how many threads ran */
	uint64_t times; /* number of samples that the current sample stands for */
	struct report_pool *pool;
	struct error err; /* why rc is negative */
	int rc;
};

/* Returns whether rows count branches, not samples. */
bool report_counts_branches(const struct report_opts *opts);
/* Returns whether call chains are shown, or frames of them count; and whether they are needed. */
bool report_shows_chains(const struct report_opts *opts);
bool report_wants_chains(const struct report_opts *opts);
/* Returns whether some key is of types of data. */
bool report_shows_types(const struct report_opts *opts);
/* Returns whether some key is of instructions per cycle; and whether basic blocks are counted. */
bool report_shows_ipc(const struct report_opts *opts);
bool report_counts_blocks(const struct report_opts *opts);

enum callgraph_order report_order(const struct report_opts *opts);
enum frames_inlines report_inlines(const struct report_opts *opts);

/* Returns whether samples must come in order: of groups, without a time, or with a past. */
bool report_needs_order(const struct trace *t);
/* Returns the number of workers: one for each usable CPU, but no more than chunks. */
size_t report_workers(const struct trace *t, const struct report_opts *opts);

/* Returns 0 or -ENOMEM. The caller calls report_worker_release() also after failure. */
int report_worker_init(struct report_worker *w, struct trace *t, const struct report_opts *opts);
void report_worker_release(struct report_worker *w);
/* Walks chunks until none is left. @arg: a struct report_worker with its pool. Returns NULL. */
void *report_worker_run(void *arg);
/* A walk_fn, whose @arg is a struct report_worker. */
int report_take_sample(const struct walk_sample *ws, void *arg);

/* Frees what @t holds; accepts zeroes. */
void report_tables_release(struct report_tables *t);

#endif
