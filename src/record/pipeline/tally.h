/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that counts: samples, their first and last time, and what records of losses say. It looks
 * at the 8 bytes of each record's header and, where it needs it, at a few words more; the records
 * pass through unchanged.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_TALLY_H
#define RINGTAIL_RECORD_PIPELINE_TALLY_H

#include "record/pipeline/sink.h"

struct tally_opts {
	unsigned int time_at; /* offset of TIME in every sample, bytes; 0: samples have none */
	/*
	 * Called with each whole MMAP and MMAP2 record, 8-byte aligned (NULL: nobody asks); these
	 * are rare. A non-zero return ends the recording.
	 */
	int (*map)(const struct perf_event_header *hdr, void *arg);
	/*
	 * Called with each whole record of LOST, LOST_SAMPLES, THROTTLE or UNTHROTTLE and the run
	 * that it is in. As map().
	 */
	int (*lost)(const struct perf_event_header *hdr, const struct run *run, void *arg);
	/* Called with each whole record that task_table_wants() (record/live.h). As map(). */
	int (*sideband)(const struct perf_event_header *hdr, void *arg);
	void *arg;
};

struct tally {
	uint64_t records, samples;
	uint64_t passed;  /* of the samples: with all that the next stage has taken */
	uint64_t flushed; /* and flushed. Neither is right any more after an error is passed over */
	uint64_t first, last; /* times of samples, ns; 0: no sample had one */
	uint64_t odd;	      /* runs that did not end with a whole record */
};

/* Whether records of @type say that something was not recorded: those of tally_opts.lost. */
bool tally_tells_lost(uint32_t type);

/* A stage before @next, which remains the caller's. NULL when out of memory. */
struct sink *tally_new(struct sink *next, const struct tally_opts *opts);

/* The counts so far of a sink made by tally_new(). */
const struct tally *tally_get(const struct sink *s);

/*
 * Counts @more, which has passed by this stage, and which the next one has answered @code to.
 * Returns @code.
 */
int tally_passed_by(struct sink *s, const struct tally *more, int rc);

/* What was counted since @counts were those so far has been taken back. */
void tally_restore(struct sink *s, const struct tally *counts);

/* Counts what will not be passed on, the next stage having failed. */
void tally_discard(struct sink *s, const struct run *run);

/* Adds the counts of another sink. */
void tally_add(struct tally *to, const struct tally *from);

#endif
