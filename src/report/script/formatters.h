/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that turn samples into text, which comes out in the order of the samples.
 *
 * The owner's thread gives samples and writes texts. It copies samples into batches; each thread
 * turns one batch at a time into text. At most two batches a thread, and two more, are held. Or it
 * gives numbers of pieces of the recording, whose samples the threads find themselves; then a text
 * a thread, and one more, are held. Where no thread can be made, the owner's thread does the work.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_FORMATTERS_H
#define RINGTAIL_REPORT_SCRIPT_FORMATTERS_H

#include <stdio.h>

#include "base/outbuf.h"
#include "report/trace/walk.h"

/* A stream of texts. */
struct format_out {
	FILE *file;
	uint64_t bytes; /* written so far */
};

/* Writes the text of @ws to @out, a buffer for each stream; a negative errno ends everything. */
typedef int (*format_fn)(const struct walk_sample *ws, struct outbuf *out, void *worker);

struct formatters;

/*
 * @worker is the argument of @nr threads, one each; the first is that of the owner's thread, too,
 * which uses it where there are no threads. With @nr 0, the text of each sample is written before
 * the next is taken. @outs are the @nr_outs streams; they must outlive it.
 * Returns 0 with *@ret for formatters_free(), or -ENOMEM.
 */
int formatters_new(format_fn fn, void *const *worker, size_t nr, struct format_out *outs,
		   size_t nr_outs, struct formatters **ret);

/* Writes the text of piece @number, as a format_fn. */
typedef int (*format_piece_fn)(size_t number, struct outbuf *out, void *worker);

/* As formatters_new(), for formatters_put_piece(). */
int formatters_new_pieces(format_piece_fn fn, void *const *worker, size_t nr,
			  struct format_out *outs, size_t nr_outs, struct formatters **ret);

/* Gives the next piece. Returns as formatters_put(). */
int formatters_put_piece(struct formatters *f, size_t number);

/* A walk_fn; @formatters is the argument. Returns 0, the errno of a stream that failed, or of @fn.
 */
int formatters_put(const struct walk_sample *ws, void *formatters);

/* As formatters_put(); a walk_span_fn. */
int formatters_put_span(const struct walk_span *span, void *formatters);

/* Waits for all texts, and writes them. Returns as formatters_put(). */
int formatters_end(struct formatters *f);

/* Ends the threads; what is not written yet is lost. Accepts NULL. */
void formatters_free(struct formatters *f);

#endif
