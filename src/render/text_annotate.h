/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated functions as text, in the manner of perf annotate --stdio.
 *
 * One thread writes.
 */
#ifndef RINGTAIL_RENDER_TEXT_ANNOTATE_H
#define RINGTAIL_RENDER_TEXT_ANNOTATE_H

#include <stdio.h>

#include "report/annotate/annotate.h"
#include "report/annotate/listing.h"
#include "report/annotate/source.h"

struct annotate_opts {
	bool show_samples; /* a column with the number of samples */
	bool show_period;  /* a column with the sum of periods */
	bool show_bytes;   /* the code beside its text */
	bool hits;	   /* percentages of samples, not of periods */
	bool global;	   /* percentages of the event, not of the function */
	bool print_line;   /* file and line before each source line, and a summary of the lines */
	bool full_paths;   /* of source files */
	bool colors;	   /* of percentages, by escape sequences */
	bool quiet;	   /* no comment lines */
};

/* A function to show. All borrowed. */
struct annotate_view {
	const struct annotate *annotate;
	const struct annotate_function *function;
	const size_t *events; /* evsel indices: a column for each; of JSON only the first */
	size_t nr_events;
	struct listing *listing;     /* NULL: there is no code, see @why */
	struct source_files *source; /* begun for the function's dso; NULL: no source lines */
	const char *why;
	const struct annotate_opts *opts;
};

/* Returns the share of @part, percent, as @opts ask: of periods or of samples. */
double annotate_percent(const struct annotate_weight *part, const struct annotate_weight *all,
			const struct annotate_opts *opts);

/* Returns the name of a source file as @opts ask: its path, or without its folders. */
const char *annotate_file_name(const char *path, const struct annotate_opts *opts);

/* Writes a function with code. Returns 0 or -ENOMEM. */
int annotate_render(FILE *out, const struct annotate_view *v);

#endif
