/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions of call chains by a regular expression, for report --parent and --ignore-callees.
 *
 * The caller owns the expression. One thread uses a struct parent_match; it remembers symbols that
 * it has compared.
 */
#ifndef RINGTAIL_REPORT_TABLE_PARENT_H
#define RINGTAIL_REPORT_TABLE_PARENT_H

#include <regex.h>

#include "report/trace/frame.h"

#define PARENT_RECENT 1024

struct parent_match {
	const regex_t *regex; /* NULL: matches nothing */
	struct {
		const struct symbol *sym; /* NULL: empty */
		bool matches;
	} recent[PARENT_RECENT];
};

/* Returns the index of the innermost frame of @f whose symbol matches; SIZE_MAX: none. */
size_t parent_innermost(struct parent_match *m, const struct frames *f);

/* The same for the outermost frame. */
size_t parent_outermost(struct parent_match *m, const struct frames *f);

/* Drops the frames inside of the outermost match, which becomes the sampled function. */
void parent_drop_callees(struct parent_match *m, struct frames *f);

#endif
