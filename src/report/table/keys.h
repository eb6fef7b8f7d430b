/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort keys: what makes rows distinct, and how each value reads in a table.
 *
 * A cell is a row's value for one key: two words, equal if and only if the values are. Cells hold
 * ids and pointers, no text, so that the hot path neither copies nor compares strings.
 *
 * Keys are constant. One thread uses a struct hist_names, which owns the strings of its cells.
 */
#ifndef RINGTAIL_REPORT_TABLE_KEYS_H
#define RINGTAIL_REPORT_TABLE_KEYS_H

#include "base/buf.h"
#include "base/strpool.h"
#include "report/trace/frame.h"

struct hist_cell {
	uint64_t a, b;
};

/* The strings that cells point to. An empty struct is all zero but for @pool. */
struct hist_names {
	struct strpool *pool;
	/* Cache of comms: @name is the state's pointer, @interned the same text in @pool. */
	struct {
		const char *name, *interned;
	} recent[64];
};

/* Input of a key: one frame of a sample. All borrowed. */
struct key_source {
	const struct trace *trace;
	const struct walk_sample *ws;
	const struct frame *frame;
	const char *comm;	     /* of the thread at that moment; NULL: unknown */
	struct hist_names *names;    /* of the histogram; owns the cells' strings */
	struct frames *frames;	     /* of the thread, to resolve further addresses */
	uint64_t latency;	     /* of the sample; 0: not counted */
	const struct symbol *parent; /* of the sample, for the key parent; NULL: none */
	/* Of a branch, which went from @from to @frame; NULL if the report counts samples. */
	const struct pd_branch *branch;
	const struct frame *from;
	const struct trace_field *field; /* of the key, as in struct sort_key */
	int wait_kind;			 /* enum wait_kind, if @ws is a wait */
};

struct sort_key {
	const char *name;   /* as in --sort */
	const char *alias;  /* another name, or NULL */
	const char *header; /* of the column */
	bool right;	    /* align right, as numbers */
	bool of_frame;	    /* the frames of a sample have different values */
	uint64_t needs;	    /* a value needs one of these PERF_SAMPLE_* bits; 0: none */
	bool is_string;	    /* a is an interned string: merging histograms interns it anew */
	/* Returns 0 or -ENOMEM. */
	int (*cell)(const struct key_source *src, struct hist_cell *ret);
	/* Appends the text of a cell, unescaped. Returns 0 or -ENOMEM. */
	int (*text)(const struct trace *t, struct hist_cell cell, struct buf *out);
	/* Orders two values: negative, 0 or positive. */
	int (*compare)(const struct trace *t, struct hist_cell a, struct hist_cell b);
	bool whole;			 /* cell() reads more of a sample than a digest keeps */
	bool alone;			 /* one thread at a time may call cell() */
	bool of_line;			 /* values need the lines of the frame */
	bool of_place;			 /* of an address, which a function has many of */
	bool of_data;			 /* needs trace.types */
	bool of_branch;			 /* of a branch in the sample's branch stack */
	bool of_blocks;			 /* keys_ipc_fill() makes the values at the end */
	bool of_parent;			 /* needs key_source.parent */
	bool of_switches;		 /* needs trace.parallelism */
	bool of_namespace;		 /* needs trace.namespaces */
	bool of_wait;			 /* of waits, and of samples beside them */
	const struct trace_field *field; /* of tracepoints, which the key shows; else NULL */
};

/* Returns whether the texts of a key are names of code: symbols, lines. */
bool sort_key_is_name(const struct sort_key *key);

/* Returns as @key->cell(). */
static inline int sort_key_cell(const struct sort_key *key, const struct key_source *src,
				struct hist_cell *ret)
{
	struct key_source own;

	if (!key->field)
		return key->cell(src, ret);
	own = *src;
	own.field = key->field;
	return key->cell(&own, ret);
}

#define SORT_KEYS_MAX 1000 /* all fields of all system calls are 350 */

/*
 * As @key->text(), but the text means the same in other recordings: an address without symbol is
 * "[unknown]". Returns 0 or -ENOMEM.
 */
int sort_key_common_text(const struct sort_key *key, const struct trace *t, struct hist_cell cell,
			 struct buf *out);

/*
 * Returns the symbol of a cell of the key sym, NULL for an address without symbol or another key;
 * the cpumode in *@ret_mode, and without symbol the address in *@ret_addr.
 */
const struct symbol *sort_key_symbol(const struct sort_key *key, struct hist_cell cell,
				     uint8_t *ret_mode, uint64_t *ret_addr);

/*
 * Checks that for each key some event of @list records its value. A list without events passes.
 * Returns 0, or -EINVAL with @err naming the key.
 */
int sort_keys_check(const struct sort_key *const *keys, size_t nr, const struct pd_evlist *list,
		    struct error *err);

/* Returns the key of that name or alias, or NULL. */
const struct sort_key *sort_key_find(const char *name, size_t len);

/* Returns why ringtail lacks this key of perf; NULL: perf has no such key, or ringtail has it. */
const char *sort_key_refused(const char *name, size_t len);

/*
 * Fills @err for @name, which is no key: the reason, the nearest names, or the most used keys and
 * behind them @more, which ends with NULL; NULL: rows have no fields of tracepoints. @what: "sort
 * key" or "field". Returns -EINVAL.
 */
int sort_key_unknown(const char *what, const char *name, size_t len, const char *const *more,
		     struct error *err);

/* Returns key number @index, for help and messages; NULL after the last. */
const struct sort_key *sort_key_at(size_t index);

/*
 * Parses "comm,dso,sym" into @ret, which has SORT_KEYS_MAX places. With a plus before the first
 * name it adds to the @there keys that @ret has. Returns the number of keys, or -EINVAL with @err
 * as of sort_key_unknown().
 */
int sort_keys_parse(const char *list, const struct sort_key **ret, size_t there, struct error *err);

#endif
