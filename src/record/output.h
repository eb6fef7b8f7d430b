/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output side of a recording: events and features of the header, the writer, and the chain of
 * sinks before it.
 *
 *   reader, synthesize ──► chain (tally ──► [compress] ──► file) ──► writer
 *
 * One thread.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_H
#define RINGTAIL_RECORD_OUTPUT_H

#include "record/compress.h"
#include "record/dsos.h"
#include "record/loss.h"
#include "record/open.h"
#include "record/sink.h"
#include "record/tally.h"

struct output {
	struct pd_evlist *list;
	struct writer *writer;
	struct sink *file, *chain;
	struct sink *compress; /* NULL: records are not compressed */
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

const struct tally *output_tally(const struct output *out);

void output_release(struct output *out);

#endif
