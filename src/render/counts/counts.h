/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of counts as text, as separated values and as JSON, in the forms of perf stat.
 *
 * Separated values, one line a count: [TIME] [ROW [CPUS]] COUNT UNIT EVENT [ERROR%] RUN-TIME
 * RUNNING% FIGURE FIGURE-UNIT. RUN-TIME is in ns. JSON: one object a line, with perf's keys.
 * Source: perf-stat(1), "CSV FORMAT" and "JSON FORMAT". One thread.
 */
#ifndef RINGTAIL_RENDER_COUNTS_COUNTS_H
#define RINGTAIL_RENDER_COUNTS_COUNTS_H

#include <stdio.h>

#include "count/table.h"

struct counts_view {
	const struct count_table *table;
	bool repeated;	    /* -r: each count has its error */
	bool interval;	    /* -I: each line begins with @time */
	double time;	    /* s since the start */
	bool plain_numbers; /* no separators of thousands */
};

/* The lines around the counts of a whole run, as text. */
struct counts_frame {
	const char *title;   /* what was counted: "'sleep 1'", "system wide" */
	unsigned int runs;   /* 1 or more */
	bool command;	     /* @user and @system are of a command */
	double user, system; /* s, of the last run */
};

/* Writes the title of a whole run, or the head of intervals. */
void counts_text_begin(FILE *out, const struct counts_view *view, const struct counts_frame *frame);
/* Writes a line for each count. */
void counts_text(FILE *out, const struct counts_view *view);
/* Writes the times of a whole run; nothing behind an interval. */
void counts_text_end(FILE *out, const struct counts_view *view, const struct counts_frame *frame);

/* Writes lines of values separated by @separator. */
void counts_separated(FILE *out, const struct counts_view *view, const char *separator);

/* Returns 0 or -ENOMEM. */
int counts_json(FILE *out, const struct counts_view *view);

#endif
