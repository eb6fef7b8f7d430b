/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples that --itrace makes of a recording's hardware trace.
 *
 * They have events of their own, behind the recorded ones. Chunks of the trace are decoded in any
 * order and by any threads (itrace_decode_chunk()), or by threads of their own in the order of time
 * (itrace_stream.h). What cannot be decoded is a sample of the kind ITRACE_ERRORS, without event.
 */
#ifndef RINGTAIL_REPORT_TRACE_ITRACE_H
#define RINGTAIL_REPORT_TRACE_ITRACE_H

#include <pthread.h>

#include "auxtrace/code/code.h"
#include "auxtrace/itrace/past.h"
#include "auxtrace/itrace/samples.h"
#include "auxtrace/recording/index.h"
#include "auxtrace/recording/loader.h"
#include "report/trace/digest.h"
#include "report/trace/walk.h"

struct itrace {
	struct itrace_opts opts;	  /* with errors, which are always counted */
	bool show_errors;		  /* the user asked for them */
	uint64_t snapshot, snapshot_last; /* decode the trace of these alone; @snapshot 0: all */
	struct aux_index index;
	const struct aux_decoder_ops *ops;
	struct code_files *code;
	const struct state *state;	      /* after itrace_prepare() */
	struct pd_evsel *evsel[ITRACE_KINDS]; /* NULL: not wanted */
	pthread_mutex_t lock;		      /* guards all below */
	struct itrace_held *spare;	      /* lists without holders */
	unsigned int nr_spare;
	uint64_t errors;       /* places that could not be decoded */
	uint64_t damage;       /* those of them where the trace is damaged */
	uint64_t first_chunk;  /* with an error, and */
	char first_error[160]; /* the text of its first one */
};

/* What a thread needs for decoding. All zero: nothing yet. It must not move. */
struct itrace_worker {
	struct aux_loader *loader;
	const struct aux_decoder_ops *ops; /* of the decoder */
	struct aux_setup setup;		   /* of the newest chunk, whose number is: */
	uint64_t chunk;
	struct itrace_decoding decoding;
	struct itrace_list list;
	struct findings *findings; /* of the newest chunk; NULL: not yet made */
};

void itrace_worker_release(struct itrace_worker *w); /* accepts zeroes */

/*
 * Reads the index of the trace and adds events to @t->evlist, before anything counts them. Returns
 * 0 with *@ret for itrace_free(), NULL where the recording has no trace, or none that can be
 * decoded and the user did not ask; or a negative errno with
 * @err filled.
 */
int itrace_open(struct trace *t, const struct itrace_opts *opts, struct itrace **ret,
		struct error *err);
/*
 * After pass 1: the code that the recording executed, with that of its BPF programs. Returns 0 with
 * *@ret for code_files_free(), or -ENOMEM.
 */
int itrace_code_new(const struct trace *t, struct code_files **ret);
/* After pass 1: makes the state serve as the source of code. Returns 0 or -ENOMEM. */
int itrace_prepare(struct itrace *i, const struct trace *t);
void itrace_free(struct itrace *i); /* accepts NULL */

/*
 * Decodes what the chunk with that number has of the wanted snapshot, and counts its errors;
 * w->list has its samples, or the first of them if w->decoding.more. Any thread. Returns 0 or
 * -ENOMEM.
 */
int itrace_decode_chunk(struct itrace *i, struct itrace_worker *w, uint64_t chunk);
/* If w->decoding.more: w->list gets the chunk's next samples. Returns 0 or -ENOMEM. */
int itrace_decode_rest(struct itrace *i, struct itrace_worker *w);

/*
 * Returns whether trace is missing between the newest sample of a ring and one of @run, which
 * becomes the newest. @newest has a number for each ring, at first 0.
 */
bool itrace_starts_run(const struct itrace *i, size_t *newest, size_t run);

/* Takes the findings of the chunk, for findings_free(); NULL: there are none. */
struct findings *itrace_take_findings(struct itrace_worker *w);

/* Returns whether samples must be made in the order of time; @i may be NULL. */
bool itrace_in_order(const struct itrace *i);

/*
 * Calls @fn for a sample of @list, except for one that nobody asked for. @past has the branches
 * before it, or is NULL.
 */
int itrace_visit(const struct itrace *i, const struct itrace_list *list,
		 const struct itrace_sample *sample, struct itrace_past *past, walk_fn fn,
		 void *arg);

/* Adds the past of its thread to a sample, recorded or made, whose event asks for it. */
void itrace_add_past(struct itrace_past *past, struct walk_sample *ws);

/* Calls @fn for @nr samples of @list, without past. Returns 0 or what @fn returned. Any thread. */
int itrace_visit_part(const struct itrace *i, const struct itrace_list *list, size_t from,
		      size_t nr, walk_fn fn, void *arg);

/* Calls @fn for all samples of @list. Returns 0 or what @fn returned. Any thread. */
int itrace_visit_all(const struct itrace *i, const struct itrace_list *list, walk_fn fn, void *arg);

/* Makes *@ret the digest of @list, without errors; it may give up. Any thread. */
void itrace_digest(const struct itrace *i, const struct itrace_list *list, struct digest *ret);

#endif
