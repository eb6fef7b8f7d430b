/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as lines, in the format of perf script.
 */
#ifndef RINGTAIL_RENDER_LINES_H
#define RINGTAIL_RENDER_LINES_H

#include <stdio.h>

#include "report/script.h"

struct lines {
	FILE *out;
	bool ns;	/* nine digits of time instead of six */
	int name_width; /* columns of the longest event name; set by lines_init() */
};

void lines_init(struct lines *l, FILE *out, const struct trace *t, bool ns);

/* A line for @s, with a line a frame and an empty one behind it where there is a call chain. */
void lines_put(const struct lines *l, const struct trace *t, const struct script_sample *s);

#endif
