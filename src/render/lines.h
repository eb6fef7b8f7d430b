/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as lines, in the format of perf script.
 */
#ifndef RINGTAIL_RENDER_LINES_H
#define RINGTAIL_RENDER_LINES_H

#include <stdio.h>

#include "report/trace/script.h"

/* What times are counted from. */
enum lines_since {
	LINES_BOOT, /* the clock's own start */
	LINES_FIRST,
	LINES_BEFORE, /* the line before */
};

struct lines_opts {
	bool ns; /* nine digits of time instead of six */
	enum lines_since since;
	bool mark_guesses; /* frames that no call frame information led to */
};

struct lines {
	FILE *out;
	struct lines_opts opts;
	int name_width; /* columns of the longest event name; set by lines_init() */
	int data_src_width;
	bool begun;
	uint64_t origin; /* of times, if begun */
};

/* Begins output to @out. The columns are as wide as the events of @t need. */
void lines_init(struct lines *l, FILE *out, const struct trace *t, const struct lines_opts *opts);

/* A line for @s, with a line a frame and an empty one behind it where there is a call chain. */
void lines_put(struct lines *l, const struct trace *t, const struct script_sample *s);

#endif
