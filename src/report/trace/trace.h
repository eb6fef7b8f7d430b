/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened recording, ready for samples to be decoded and resolved.
 *
 * It joins the file, its state (threads, comms, maps), symbols, tracepoint formats and the counts
 * of pass 1. trace_open() and trace_prepare() belong to one thread. Afterwards any number of
 * threads may decode and resolve: everything is read-only except the resolver, the unwind tables
 * and the file's findings, which lock themselves.
 */
#ifndef RINGTAIL_REPORT_TRACE_TRACE_H
#define RINGTAIL_REPORT_TRACE_TRACE_H

#include <stdatomic.h>

#include "base/error.h"
#include "data/file/file.h"
#include "data/file/findings.h"
#include "data/scan/sweep.h"
#include "data/tracing/tracing.h"
#include "perfdata/feature.h"
#include "perfdata/sample.h"
#include "report/trace/dso_alias.h"
#include "report/trace/counts.h"
#include "report/trace/digest.h"
#include "symbol/lines/inlines.h"
#include "report/trace/snapshots.h"
#include "state/parallelism.h"
#include "state/state.h"
#include "symbol/resolve/resolver.h"
#include "unwind/cfi.h"
#include "unwind/uses.h"

struct trace_opts {
	const char *path;
	bool force;
	const char *symfs, *kallsyms, *vmlinux;		      /* as in struct resolver_opts */
	bool no_demangle, no_demangle_kernel, ignore_vmlinux; /* as there */
	bool full_paths;		  /* source lines have the path of their file */
	bool raw_tracing;		  /* fields of tracepoints without their formats */
	bool nanoseconds;		  /* the sort key time has nine digits */
	bool always_early;		  /* unwind in pass 1, however short the recording is */
	struct resolver_pool *pool;	  /* as in struct resolver_opts */
	const struct itrace_opts *itrace; /* samples to make of hardware trace; NULL: none */
	bool itrace_asked;		  /* trace that cannot be decoded is an error */
	uint64_t time_quantum;		  /* of the sort key time, ns; 0: 100 ms */
	unsigned int workers;		  /* threads; 0: trace_workers() decides */
	/* Count only samples of these snapshots, from @snapshot to @snapshot_last (0: this one
	 * alone);
	 * @snapshot 0: all samples. */
	uint64_t snapshot, snapshot_last;
	/* Bytes, 0: no limit. It bounds the number of workers and what is sorted and kept, not what
	 * the caller makes of samples. */
	size_t max_memory;
	/* Limit for the state, bytes; 0: half of @max_memory, or 128 for each byte of the
	 * recording, at least 256 MB, at most half of memory. */
	size_t state_bytes;
	/* Called now and then; may be NULL. @pass is 1 or 2. Pass 2 calls it from any worker. */
	void (*progress)(unsigned int pass, uint64_t done, uint64_t total, void *arg);
	void *progress_arg;
	const atomic_bool *stop; /* set by another thread: ends pass 1 with -ECANCELED; NULL: none
				  */
};

struct data_types;
struct early;
struct itrace;
struct jit_maps;

/* Records that one worker walks in pass 2, and the findings there. */
struct trace_chunk {
	struct sweep_run run;
	bool is_itrace;			/* hardware trace: run.from is the number of its chunk */
	uint64_t sample_bytes;		/* of the samples' records */
	uint64_t first_time, last_time; /* of samples, ns; 0: none has a time */
	struct digest digest;		/* if given_up, pass 2 must walk the run */
	struct unwind_uses *uses;  /* owned; of the stacks in @digest, during pass 1; or NULL */
	struct findings *findings; /* NULL: none */
};

struct trace {
	struct trace_opts opts;
	struct data_file *df;
	struct pd_evlist *evlist;
	struct tracing *tracing; /* NULL: the recording has no tracepoint formats */
	struct state *state;
	unsigned int refused_segment; /* place of the first record that state had no memory for */
	uint64_t refused_at;	      /* 0: none */
	struct recorded_symbols *symbols; /* that the recording carries; NULL: none */
	struct resolver *resolver;
	struct jit_maps *jit;	  /* code of JITs; only during trace_prepare() */
	struct inlines *inlines;  /* NULL: neither lines nor inlined functions are wanted */
	struct data_types *types; /* NULL: types of data are not wanted */
	struct itrace *itrace;	  /* NULL: no hardware trace is decoded */
	struct cfi_tables *cfi;	  /* NULL: the recording has no copies of user stacks */
	struct early *early;	  /* unwinds in pass 1, and only then; or NULL */
	char *hostname, *osrelease, *arch; /* NULL: not recorded */
	struct origin origin;		   /* where it comes from, if it is cut */
	struct pd_cpu_topology topology;   /* zeroes: not recorded */
	char *kcore, *kallsyms;		   /* files of the recording's kernel; NULL: none */
	struct trace_counts counts;
	struct snapshots snapshots; /* of pass 1 */
	struct trace_chunk *chunks; /* of the file, then of hardware trace */
	size_t nr_chunks, cap_chunks;
	atomic_size_t digest_bytes; /* in all chunks */
	uint32_t nr_cpus;	    /* available when it was recorded; 0: not recorded */
	bool namespaces;	    /* set before trace_prepare(): for state_cgroup_namespace() */
	bool parallelism;	    /* set before trace_prepare(): for trace_parallelism() */
	enum digest_kind digest; /* set before trace_prepare(): pass 1 makes such of the samples */
	bool by_time;	      /* set before trace_prepare(): chunks are short, for slices of time */
	bool untimed_samples; /* some event's samples have no time: pass 2 must keep file order */
	struct dso_alias *aliases; /* set by trace_prepare() */
};

/*
 * Opens the file, its formats and the resolver. @opts' strings must outlive the trace. Returns 0
 * with *@ret for trace_close(), or a negative errno with @err filled.
 */
int trace_open(const struct trace_opts *opts, struct trace **ret, struct error *err);

/*
 * Runs pass 1: builds state and counts. Call it once. Returns 0, or a negative errno with @err
 * filled; -ENOENT: the recording lacks the wanted snapshot.
 */
int trace_prepare(struct trace *t, struct error *err);

/* Makes @t->inlines, before any struct frames. Returns 0 or -ENOMEM. */
int trace_want_lines(struct trace *t);

/* Makes @t->types, behind trace_prepare(). Returns 0 or -ENOMEM. */
int trace_want_types(struct trace *t);

/* Closes and frees all of it; accepts NULL. */
void trace_close(struct trace *t);

/* Makes another resolver like @t->resolver. Returns as resolver_new() does. */
int trace_new_resolver(const struct trace *t, struct resolver **ret, struct error *err);

/* Gives @s the build-ids of the header. Returns as state_set_build_id() does. */
int trace_take_build_ids(const struct trace *t, struct state *s);

/* Returns the string of a feature section, for free(); NULL if it is absent or unreadable. */
char *trace_feature_string(const struct trace *t, unsigned int feature);

/* Returns whether the wanted snapshots have number @number; all have it, if none is wanted. */
bool trace_wants_snapshot(const struct trace_opts *opts, uint64_t number);
/* Returns the last of the wanted snapshots. */
uint64_t trace_last_snapshot(const struct trace_opts *opts);

/* Returns the socket of a CPU; -1: not recorded. */
int trace_socket(const struct trace *t, uint32_t cpu);

/* Returns whether some event of the recording asked for the switches of its threads or CPUs. */
bool trace_has_switches(const struct trace *t);

/*
 * Returns how many threads ran at the time of a sample; its own is one of them, so at least 1. For
 * a sample of the idle thread of a CPU it may be 0.
 */
uint32_t trace_parallelism(const struct trace *t, const struct pd_sample *s);

#define TRACE_LATENCY_UNIT 1000u

/*
 * Returns the share of @s in the time that passed: its period by trace_parallelism(), times
 * TRACE_LATENCY_UNIT. The idle thread has a share only where all CPUs idle, each the same.
 */
uint64_t trace_latency(const struct trace *t, const struct pd_sample *s);

/*
 * Returns the number of threads for a pass: as asked, or one for each CPU that this process may
 * use; within limits.
 */
unsigned int trace_workers(const struct trace *t);

/* Returns whether a finding says that something could not be read. */
bool trace_damaged(const struct trace *t);

/*
 * Computes which percentage @lost is of all samples, lost ones included. Returns false if the total
 * is unknown, because the file holds only some of the samples (-M) and no total.
 */
bool trace_loss_share(const struct trace *t, uint64_t lost, double *ret);

#endif
