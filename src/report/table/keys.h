/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort keys: by what samples are told apart, and how that reads in a table.
 *
 * A cell is the value of one key for one row, as two words that are equal if and only if the
 * values are. Cells hold ids and pointers, no text, so that the hot path neither copies nor
 * compares strings.
 */
#ifndef RINGTAIL_REPORT_TABLE_KEYS_H
#define RINGTAIL_REPORT_TABLE_KEYS_H

#include "base/buf.h"
#include "base/strpool.h"
#include "report/trace/frame.h"

struct hist_cell {
	uint64_t a, b;
};

/* Strings that cells point to; all zero but @pool is empty. */
struct hist_names {
	struct strpool *pool;
	/* The state's name of a comm is the same pointer each time: its string here, by that. */
	struct {
		const char *name, *interned;
	} recent[64];
};

/* What a key may look at. */
struct key_source {
	const struct trace *trace;
	const struct walk_sample *ws;
	const struct frame *frame;
	const char *comm;	  /* of the thread at that moment; NULL: unknown */
	struct hist_names *names; /* of the histogram; owns what cells point to */
};

struct sort_key {
	const char *name;   /* as in --sort */
	const char *alias;  /* another name, or NULL */
	const char *header; /* of the column */
	bool right;	    /* numbers: aligned to the right */
	bool of_frame;	    /* the frames of a sample differ in it */
	uint64_t needs;	    /* PERF_SAMPLE_* without which it says nothing; 0 */
	bool is_string;	    /* a is an interned string: merging histograms interns it anew */
	/* Returns 0 or -ENOMEM. */
	int (*cell)(const struct key_source *src, struct hist_cell *ret);
	/* Appends the text of a cell, unescaped. Returns 0 or -ENOMEM. */
	int (*text)(const struct trace *t, struct hist_cell cell, struct buf *out);
	int (*compare)(const struct trace *t, struct hist_cell a, struct hist_cell b);
};

#define SORT_KEYS_MAX 8

/*
 * Whether any event of @list has samples that carry what the keys show; a list without events has.
 * Returns 0, or -EINVAL with @err naming the key.
 */
int sort_keys_check(const struct sort_key *const *keys, size_t nr, const struct pd_evlist *list,
		    struct error *err);

/* The key of that name, or NULL. */
const struct sort_key *sort_key_find(const char *name, size_t len);

/* All keys, for help and messages: NULL after the last. */
const struct sort_key *sort_key_at(size_t index);

/*
 * Parses "comm,dso,sym" into @ret (SORT_KEYS_MAX of them). A plus before the first name adds to the
 * @nr that are there. Returns their number, or -EINVAL with @err naming the wrong one and what
 * there is.
 */
int sort_keys_parse(const char *list, const struct sort_key **ret, size_t nr, struct error *err);

#endif
