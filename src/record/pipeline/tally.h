/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that counts records and samples, and calls functions for maps, losses and sideband.
 *
 * It reads each record's 8-byte header, and the time of the first and the last sample of a run.
 * With tally_opts.hits it also gathers the addresses in samples. Records pass unchanged.
 *
 * Threads: one, the writer's, uses a stage and runs the functions.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_TALLY_H
#define RINGTAIL_RECORD_PIPELINE_TALLY_H

#include "record/hits/hits.h"
#include "record/pipeline/sink.h"

struct tally_opts {
	unsigned int time_at; /* offset of TIME in every sample, bytes; 0: samples have none */
	/*
	 * Called with each whole MMAP and MMAP2 record, 8-byte aligned (NULL: not called). A
	 * non-zero return, a negative errno, ends the recording.
	 */
	int (*map)(const struct perf_event_header *hdr, void *arg);
	/*
	 * Called with each whole LOST, LOST_SAMPLES, THROTTLE and UNTHROTTLE record and its run.
	 * As map().
	 */
	int (*lost)(const struct perf_event_header *hdr, const struct run *run, void *arg);
	/* Called with each whole record that task_table_wants(). As map(). */
	int (*sideband)(const struct perf_event_header *hdr, void *arg);
	void *arg;
	struct hits *hits; /* gets all samples; the caller's; or NULL */
};

struct tally {
	uint64_t records, samples;
	uint64_t trace; /* bytes of AUX areas, padding included */
	/* Both are wrong once an error of the next stage was ignored. */
	uint64_t passed;       /* samples that the next stage has taken */
	uint64_t flushed;      /* samples that it has flushed */
	uint64_t passed_trace; /* as @passed, of @trace */
	uint64_t first, last;  /* times of samples, ns; 0: no sample had one */
	uint64_t odd;	       /* runs that did not end with a whole record */
};

/* Whether tally_opts.lost is called with records of @type: losses and throttling. */
bool tally_is_loss(uint32_t type);

/* Returns a stage before @next, which remains the caller's, or NULL when out of memory. */
struct sink *tally_new(struct sink *next, const struct tally_opts *opts);

/* Returns the counts so far of @s, a sink of tally_new(), which owns them. */
const struct tally *tally_get(const struct sink *s);

/*
 * Adds @more, the counts of records that went to the next stage without this one; the next stage
 * returned @rc. Returns @rc.
 */
int tally_passed_by(struct sink *s, const struct tally *more, int rc);

/* Sets the counts back to @counts, after the output was rolled back to where it was then. */
void tally_restore(struct sink *s, const struct tally *counts);

/* Counts a run that is not passed on, because the next stage has failed. */
void tally_discard(struct sink *s, const struct run *run);

/* Adds the counts @from, another stage's, to @to; not passed and flushed. */
void tally_add(struct tally *to, const struct tally *from);

#endif
