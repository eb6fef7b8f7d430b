/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of recordings as text: tables, or folded stacks. One thread writes. */
#ifndef RINGTAIL_RENDER_TABLE_DIFF_H
#define RINGTAIL_RENDER_TABLE_DIFF_H

#include <stdio.h>

#include "report/diff/diff.h"
#include "report/diff/stacks.h"

struct diff_table_opts {
	bool show_samples;    /* columns with the numbers of samples */
	bool show_period;     /* columns with the sums of periods */
	bool show_rate;	      /* columns with periods per second */
	bool show_p;	      /* a column with the corrected p-value */
	bool baseline;	      /* only rows that the baseline has */
	bool changed;	      /* only rows with a change beyond sampling error */
	double percent_limit; /* omit rows below this share in all recordings */
	unsigned int width;   /* of the terminal, columns; 0: lines of any length */
	bool quiet;	      /* no comment lines */
	char separator;	      /* between columns, which then are not aligned; 0: none */
};

/* Returns whether the row is to be shown. */
bool diff_row_shown(const struct diff *d, const struct diff_event *e, uint32_t row,
		    const struct diff_table_opts *opts);

/* Writes the names of the recordings, then a table for each event of several. Returns 0 or -ENOMEM.
 */
int diff_render(FILE *out, const struct diff *d, const struct diff_table_opts *opts);

/*
 * Writes a line for each stack, "a;b;c 12 34", with its samples in each of @nr_files recordings.
 * Names are escaped; a semicolon within one becomes a colon. Returns 0 or -ENOMEM.
 */
int stacks_render(FILE *out, struct stacks *s, size_t nr_files);

#endif
