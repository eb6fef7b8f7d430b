/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that counts: samples, their first and last time, and what LOST and LOST_SAMPLES records
 * say. It looks at the 8 bytes of each record's header and, where it needs it, at a few words
 * more; the records pass through unchanged.
 */
#ifndef RINGTAIL_RECORD_TALLY_H
#define RINGTAIL_RECORD_TALLY_H

#include "record/sink.h"

struct tally_opts {
	unsigned int time_at; /* offset of TIME in every sample, bytes; 0: samples have none */
	/*
	 * Called with each whole MMAP and MMAP2 record, 8-byte aligned (NULL: nobody asks); these
	 * are rare. A non-zero return ends the recording.
	 */
	int (*map)(const struct perf_event_header *hdr, void *arg);
	/* Called with each whole record of LOST or LOST_SAMPLES and the CPU of its ring. As map().
	 */
	int (*lost)(const struct perf_event_header *hdr, int cpu, void *arg);
	void *arg;
};

struct tally {
	uint64_t records, samples;
	uint64_t passed;  /* of the samples: with all that the next stage has taken */
	uint64_t flushed; /* and flushed. Neither is right any more after an error is passed over */
	uint64_t first, last; /* times of samples, ns; 0: no sample had one */
	uint64_t odd;	      /* runs that did not end with a whole record */
};

/* A stage before @next, which remains the caller's. NULL when out of memory. */
struct sink *tally_new(struct sink *next, const struct tally_opts *opts);

/* The counts so far of a sink made by tally_new(). */
const struct tally *tally_get(const struct sink *s);

#endif
