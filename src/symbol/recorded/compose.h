/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composes the table of symbols that a recording carries (perfdata/symbols/symbols.h) of functions.
 *
 * Both the recorder and `ringtail pack` find the functions; this drops those that readers would
 * confuse and those beyond the budget, and encodes the rest. One thread.
 */
#ifndef RINGTAIL_SYMBOL_RECORDED_COMPOSE_H
#define RINGTAIL_SYMBOL_RECORDED_COMPOSE_H

#include <stdbool.h>

#include "base/buf.h"
#include "perfdata/symbols/symbols.h"

/* A function and the object that it is in. The caller owns names and build-ids. */
struct recorded_entry {
	struct pd_symbols_object object;
	struct pd_symbols_function function;
	uint64_t hits; /* with little room, the functions with more hits stay */
	bool doubtful; /* readers would take it for another; set by recorded_compose() */
};

struct recorded_entries {
	struct recorded_entry *entry; /* the order changes */
	size_t nr;
	/* Whether several files of the recording stand behind @object, which has no build-id. */
	bool (*several)(const struct pd_symbols_object *object, void *arg);
	/*
	 * Appends the lines of an object with functions (perfdata/symbols/symbol_lines.h), and adds
	 * to
	 * *@pieces of how many addresses or pieces of code. Returns 0 or -ENOMEM. NULL: the table
	 * has no lines.
	 */
	int (*lines)(const struct pd_symbols_object *object, struct buf *ret, uint64_t *pieces,
		     void *arg);
	void *arg;
};

struct compose_counts {
	uint64_t functions; /* in the table */
	uint64_t objects;   /* files, the kernel, processes with generated code; in the table */
	uint64_t left_out;  /* functions beyond the budget */
	uint64_t doubtful;  /* functions left out: their name or address stands for several */
	uint64_t lined;	    /* pieces of code with lines in the table */
	uint64_t unlined;   /* pieces of code whose lines are beyond the budget */
};

/*
 * Appends the table of @e to @table, of about @budget bytes at most. Entries may be equal. Names
 * come first; lines have the rest of the budget. Returns 0 or -ENOMEM; fills @ret.
 */
int recorded_compose(const struct recorded_entries *e, uint64_t budget, struct buf *table,
		     struct compose_counts *ret);

#endif
