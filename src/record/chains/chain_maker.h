/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes call chains of the user stacks of samples while they are recorded (--call-graph
 * dwarf,online).
 *
 *   sideband of all rings ──► task_spaces ──┐
 *                                           ├──► chain_walker ──► sample with a chain
 *                image_loader ──► tables ───┘
 *
 * A chain maker is shared by all writers; each has a walker of its own. A sample keeps its stack
 * where a reporter may find more callers than the walk did (enum chain_kept). A chain that ends
 * because the copy of the stack does is complete in this sense, and is counted.
 *
 * Callers are stored as a reporter finds them in a stack: the return address less one, so that it
 * is in the call instruction.
 *
 * Memory: the history of maps (record/chains/task_spaces.h), tables of call frame information up to
 * 64 MB, and rows and a run for each walker.
 *
 * Threads: any may call; one uses a walker.
 */
#ifndef RINGTAIL_RECORD_CHAINS_CHAIN_MAKER_H
#define RINGTAIL_RECORD_CHAINS_CHAIN_MAKER_H

#include "perfdata/sample.h"
#include "record/plan/messages.h"

struct chain_maker;
struct chain_walker;

/*
 * Starts the thread that reads files. @attr describes the trailer of sideband. Returns 0 with *@ret
 * for chain_maker_free(), or a negative errno.
 */
int chain_maker_new(const struct pd_attr *attr, struct chain_maker **ret);
void chain_maker_free(struct chain_maker *m); /* accepts NULL; after all walkers */

/*
 * While no thread uses it: has @gather called with @arg before chains are made. It adds all
 * sideband that the kernel has written so far (record/pipeline/sideband_taps.h).
 */
void chain_maker_gather_by(struct chain_maker *m, void (*gather)(void *arg), void *arg);

/*
 * Takes a record of sideband, a record_emit_fn; @maker: a struct chain_maker. It copies
 * under a lock and may allocate. Returns 0.
 */
int chain_maker_add(const struct perf_event_header *hdr, void *maker);

/* For a writer's run without chains: takes what was written, so that it does not pile up. */
void chain_maker_settle(struct chain_maker *m);

/* Why a sample has kept its stack. */
enum chain_kept {
	CHAIN_MADE,	 /* it has not */
	CHAIN_BEHIND,	 /* unwinding took too long, and records waited */
	CHAIN_WAITED,	 /* its files were not read in time */
	CHAIN_NO_CODE,	 /* code that no file has call frame information for, or nothing mapped */
	CHAIN_GUESSED,	 /* a frame was found by the frame pointer alone */
	CHAIN_EARLY,	 /* it is older than the maps that are known */
	CHAIN_LONG,	 /* the chain is not smaller than the stack */
	CHAIN_MANY_MAPS, /* the maps of what lives take too much memory, to the end */
	CHAIN_FAILED,	 /* no memory */
	CHAIN_REASONS,
};

struct chain_stats {
	uint64_t samples[CHAIN_REASONS]; /* with a stack; [CHAIN_MADE]: those that got a chain */
	uint64_t cut;			 /* of those: the copy of the stack ends before the chain */
	uint64_t frames;		 /* in user space, of those */
	uint64_t in, out;		 /* bytes of all samples with a stack, before and after */
	uint64_t nsec;			 /* CPU time of unwinding */
	uint64_t hung;			 /* files that were given up; of chain_maker_stats() */
	const char *hung_name;		 /* of the first: the maker's, or NULL */
};

/* Adds to @ret what no walker counts. */
void chain_maker_stats(struct chain_maker *m, struct chain_stats *ret);

/* Adds @from to @to. */
void chain_stats_add(struct chain_stats *to, const struct chain_stats *from);

/* Prints how many samples have chains, why others have stacks, and which file hung. */
void chain_stats_say(const struct chain_stats *stats, const struct messages *messages);

/* Returns a walker, or NULL when out of memory. */
struct chain_walker *chain_walker_new(struct chain_maker *m);
void chain_walker_free(struct chain_walker *w); /* accepts NULL */

/*
 * Between these, the walker holds what is known of maps; other walkers do not wait, but those that
 * bring sideband do. Returns false if maps cannot be known: out of memory, or too many.
 */
bool chain_walker_begin(struct chain_walker *w);
void chain_walker_end(struct chain_walker *w);

/*
 * Between begin and end: writes the sample @hdr of @evsel to @out, which has hdr->size bytes, with
 * a chain in place of its stack, or as it is. With @keep_regs it keeps its registers. @deadline:
 * until when it may wait for files, ms as now_ms(), 0 for not at all; it lets go of the maps
 * meanwhile. Returns the bytes written, and counts.
 */
size_t chain_walker_put(struct chain_walker *w, const struct perf_event_header *hdr,
			const struct pd_evsel *evsel, bool keep_regs, uint64_t deadline,
			uint8_t *out);

/* Counts a sample that is passed on as it is, if it has a stack, as CHAIN_BEHIND. */
void chain_walker_skip(struct chain_walker *w, const struct perf_event_header *hdr,
		       const struct pd_evsel *evsel);

/* Returns the counts, which remain the walker's. */
const struct chain_stats *chain_walker_stats(const struct chain_walker *w);

#endif
