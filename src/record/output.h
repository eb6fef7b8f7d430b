/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output side of a recording: events and features of the header, the writer, and the chain of
 * sinks before it.
 *
 *   reader, synthesize ──► chain (tally ──► file) ──► writer
 *
 * One thread.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_H
#define RINGTAIL_RECORD_OUTPUT_H

#include "record/dsos.h"
#include "record/loss.h"
#include "record/open.h"
#include "record/sink.h"
#include "record/tally.h"

struct output {
	struct pd_evlist *list;
	struct writer *writer;
	struct sink *file, *chain;
	struct dso_names *dsos;
	struct loss lost_records; /* sums of LOST, by CPU */
	struct loss loss;	  /* complete after output_finish() */
};

/*
 * Creates the output of @opts for the events of @opened. Returns 0 or a negative errno with @err
 * filled; output_release() is due in both cases.
 */
int output_create(struct output *out, const struct record_opts *opts, const struct plan *plan,
		  const struct opened *opened, struct error *err);

/* Counts what was lost, writes it, and completes the file. Nothing may be written afterwards. */
int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err);

/*
 * In place of output_finish(), when the recording failed with @code: makes readable what the disk
 * still takes. Returns the samples that are in the output.
 */
uint64_t output_save(struct output *out, int code);

const struct tally *output_tally(const struct output *out);

void output_release(struct output *out);

#endif
