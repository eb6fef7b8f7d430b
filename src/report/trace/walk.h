/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass 2: hands out the samples of a recording, decoded.
 *
 * Reports walk chunk by chunk; chunks may be walked in any order and by several threads. Scripts
 * walk all samples in time order in one thread.
 */
#ifndef RINGTAIL_REPORT_TRACE_WALK_H
#define RINGTAIL_REPORT_TRACE_WALK_H

#include "perfdata/sample.h"
#include "report/trace/trace.h"

struct itrace_sample;
struct wait_info;

/*
 * A decoded sample; valid during the call that receives it. @rec of one that was made has only its
 * moment and the offset in its ring.
 */
struct walk_sample {
	const struct data_record *rec;
	const struct pd_evsel *evsel; /* NULL: @made is an error in the trace */
	struct pd_sample s;
	const struct itrace_sample *made; /* of hardware trace; NULL: recorded */
	bool exec;  /* no sample: thread @s.tid executed a program, so its calls ended. @evsel is
		       NULL */
	bool other; /* no sample: @rec is a record of another type. @evsel is NULL */
	const char *text; /* of @made: what the decoder says; or NULL */
	size_t run;	  /* of @made: number of its run in the index of the trace */
	/*
	 * Of a digest: its copy of the stack. The frames of the copy are words behind the
	 * @s.callchain_nr of @s.callchain. NULL: @s has the copy, or there is none.
	 */
	const struct digest_stack *stack;
	const struct wait_info *wait; /* the sample is a wait (report/waits/waits.h); NULL: none */
};

/* Takes one sample, or an exec; a negative errno ends the walk. */
typedef int (*walk_fn)(const struct walk_sample *ws, void *arg);

struct itrace;
struct itrace_held;

#define WALK_SPAN_MAX 1024u

/* Up to WALK_SPAN_MAX samples of hardware trace that follow one another. */
struct walk_span {
	const struct itrace *itrace;
	struct itrace_held *held; /* valid during the call, unless itrace_hold() */
	size_t from, nr;
};

/* Takes a span. Returns as a walk_fn. */
typedef int (*walk_span_fn)(const struct walk_span *span, void *arg);

/* Calls @fn for each sample of @span. Returns 0 or the negative value of @fn. Any thread. */
int walk_span_each(const struct walk_span *span, walk_fn fn, void *arg);

/* What a thread reads chunks with. */
struct walker;

/* Returns 0 with *@ret for walker_free(), or -ENOMEM. */
int walker_new(struct trace *t, struct walker **ret);
void walker_free(struct walker *w); /* accepts NULL */

/*
 * Calls @fn for the samples of one chunk, in file order. Any thread may call; one thread walks a
 * chunk, with a walker of its own. A sample that does not decode becomes a finding of the chunk and
 * is skipped. Returns 0, the negative value of @fn, or a negative errno of the scan.
 */
int walk_chunk(struct walker *w, struct trace_chunk *chunk, walk_fn fn, void *arg);

/*
 * Decodes a chunk of hardware trace. *@ret is the digest of its samples; where that gave up, or
 * does not do, walk_decoded() calls @fn for each of them. Returns 0 or a negative errno.
 */
int walk_decode(struct walker *w, struct trace_chunk *chunk, struct digest *ret);
int walk_decoded(struct walker *w, walk_fn fn, void *arg);

/*
 * Calls @fn for the sample @rec, unless it is of another snapshot. If it does not decode, adds to
 * *@findings, which it makes if NULL. Returns 0, -ENOMEM or the value of @fn. Any thread.
 */
int walk_visit(const struct trace *t, struct findings **findings, const struct data_record *rec,
	       walk_fn fn, void *arg);
/* Says how far pass 2 is. Any thread. */
void walk_progress(const struct trace *t, uint64_t done, uint64_t total);

/* Moves the findings of all chunks to the file. Call it once, after all chunks are walked. */
void walk_hand_in_findings(struct trace *t);

/* Takes a record that is no sample, decoded; a negative errno ends the walk. */
typedef int (*walk_record_fn)(const struct data_record *rec, const struct pd_record *r, void *arg);

/* The functions that take what walk_ordered() finds. */
struct walk_takers {
	walk_fn sample;	       /* and, where hardware trace is decoded, each exec */
	walk_span_fn span;     /* samples of hardware trace; NULL: each goes to @sample */
	walk_record_fn record; /* records of other types; NULL: none are taken */
	void *arg;
};

/*
 * Gives all samples, and the records that @takers wants, in time order. Call it from one thread.
 * Returns 0, the negative value of a taker, or a negative errno with @err filled.
 */
int walk_ordered(struct trace *t, const struct walk_takers *takers, struct error *err);

#endif
