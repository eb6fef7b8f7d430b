/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as lines, in the format of perf script.
 *
 * A struct lines owns no memory. Any number of threads may use one, unless lines_in_sequence().
 */
#ifndef RINGTAIL_RENDER_LINES_H
#define RINGTAIL_RENDER_LINES_H

#include "base/outbuf.h"
#include "report/script/script.h"

/* Origin of the shown times. */
enum lines_since {
	LINES_BOOT,   /* the start of the recording's clock */
	LINES_FIRST,  /* the first line */
	LINES_BEFORE, /* the previous line */
};

struct lines_opts {
	bool ns; /* nine digits of time instead of six */
	enum lines_since since;
	int dso_width;	   /* of text_append(), for SCRIPT_CALLINDENT */
	bool short_task;   /* comms of 8 bytes, CPUs without brackets */
	bool mark_guesses; /* mark frames found without call frame information */
};

struct lines {
	struct lines_opts opts;
	int name_width; /* columns of the longest event name */
	int data_src_width, call_width;
	bool begun;
	uint64_t origin;  /* of times, ns; valid if begun */
	const char *arch; /* of the recorded machine; NULL: as this one */
	bool wall_known;
	uint64_t wall; /* ns of the wall clock at time 0 of the recording, if known */
};

/* Prepares @l for samples of @t. */
void lines_init(struct lines *l, const struct trace *t, const struct lines_opts *opts);

/* Returns whether a line depends on the ones before it: one thread must write all, in order. */
bool lines_in_sequence(const struct lines_opts *opts, const struct script_fields *fields,
		       const struct pd_evlist *evlist);

/* Writes a line for @s; a call chain adds a line for each frame and an empty line. */
void lines_put(struct lines *l, struct outbuf *out, const struct trace *t,
	       const struct script_sample *s);

#endif
