/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened recording with all that is needed to make sense of its samples: the file, who ran what
 * (state), symbols, tracepoint formats, and the counts of pass 1.
 *
 * trace_open() and trace_prepare() belong to one thread. After trace_prepare() everything here is
 * read-only but the resolver, the tables for unwinding and the notes of the file, which lock for
 * themselves, so that any number of threads may decode and resolve.
 */
#ifndef RINGTAIL_REPORT_TRACE_TRACE_H
#define RINGTAIL_REPORT_TRACE_TRACE_H

#include "base/error.h"
#include "data/file/file.h"
#include "data/file/findings.h"
#include "data/scan/sweep.h"
#include "data/tracing/tracing.h"
#include "perfdata/feature.h"
#include "report/trace/dso_alias.h"
#include "report/trace/counts.h"
#include "report/trace/digest.h"
#include "report/trace/snapshots.h"
#include "state/state.h"
#include "symbol/resolve/resolver.h"
#include "unwind/cfi.h"

struct trace_opts {
	const char *path;
	bool force;
	const char *symfs, *kallsyms, *vmlinux; /* as struct resolver_opts */
	bool no_demangle;
	uint64_t snapshot; /* samples of others do not count; 0: all do */
	/* Bytes for who ran what; 0: 256 MB, or 128 for each of the recording, or half of memory.
	 */
	size_t state_bytes;
	/* Called now and then (NULL: none); @pass is 1 or 2. In pass 2 from any worker's thread. */
	void (*progress)(unsigned int pass, uint64_t done, uint64_t total, void *arg);
	void *progress_arg;
};

/* A run of records that one worker takes in pass 2, and what it found odd there. */
struct trace_chunk {
	struct sweep_run run;
	struct digest digest;	   /* given up: the run has to be walked */
	struct findings *findings; /* NULL: nothing */
};

struct trace {
	struct trace_opts opts;
	struct data_file *df;
	struct pd_evlist *evlist;
	struct tracing *tracing; /* NULL: the recording has no tracepoint formats */
	struct state *state;
	unsigned int refused_segment; /* of the first record that found no room in it */
	uint64_t refused_at;	      /* 0: none */
	struct resolver *resolver;
	struct cfi_tables *cfi;		   /* NULL: the recording has no copies of user stacks */
	char *hostname, *osrelease, *arch; /* NULL: not recorded */
	struct trace_counts counts;
	struct snapshots snapshots; /* of pass 1 */
	struct trace_chunk *chunks;
	size_t nr_chunks, cap_chunks;
	size_t digest_entries; /* in all chunks */
	bool digest; /* set before trace_prepare(): pass 1 also makes digests of the samples */
	bool untimed_samples; /* some event's samples carry no time: pass 2 must keep file order */
	struct dso_alias *copies; /* set by trace_prepare() */
};

/* Opens file, formats and resolver. Returns 0 with *@ret to be given to trace_close(); -errno. */
int trace_open(const struct trace_opts *opts, struct trace **ret, struct error *err);

/*
 * Pass 1: builds state and counts. Once. Returns 0 or a negative errno, -ENOENT if there is no such
 * snapshot as asked for.
 */
int trace_prepare(struct trace *t, struct error *err);

void trace_close(struct trace *t); /* accepts NULL */

/* The string in a feature section; NULL if absent or unreadable. free() it. */
char *trace_feature_string(const struct trace *t, unsigned int feature);

/* Threads that a pass may use: one for each CPU that this process may run on, within reason. */
unsigned int trace_workers(void);

/* Whether any note says that something could not be read. */
bool trace_damaged(const struct trace *t);

/*
 * Percent of what was offered that @lost samples are. False: it is not known, since the file has
 * not all samples that the losses are beside.
 */
bool trace_loss_share(const struct trace *t, uint64_t lost, double *ret);

#endif
