/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples to look at. Strings are borrowed; a filter of zeroes lets everything through.
 *
 * Samples that filter_sample() refuses are left out altogether; rows that filter_row() refuses are
 * not shown but still count in the totals, so that percentages keep their meaning (as in perf).
 */
#ifndef RINGTAIL_REPORT_TRACE_FILTER_H
#define RINGTAIL_REPORT_TRACE_FILTER_H

#include "report/trace/frame.h"

struct filter_range {
	uint64_t first, last; /* inclusive */
};

struct filter_ranges {
	struct filter_range *r;
	size_t nr, cap;
};

struct filter {
	const char *comms, *dsos, *symbols; /* comma lists of names; NULL: any */
	const char *symbol_part;	    /* in the name of the symbol; NULL: any */
	bool resolved;			    /* samples in functions that are known alone */
	struct filter_ranges pids, tids, cpus;
	uint64_t start, stop; /* ns, inclusive; stop 0: no end */
};

/* Parses "1,3-5". Returns 0, -EINVAL or -ENOMEM. */
int filter_ranges_parse(const char *list, struct filter_ranges *ret);

/*
 * Whether any event of @list has samples that carry what @f looks at; a list without events has.
 * Returns 0, or -EINVAL with @err saying which option asks for what.
 */
int filter_check(const struct filter *f, const struct pd_evlist *list, struct error *err);

/* Parses perf's "start,stop" in seconds with a fraction; either may be empty. 0 or -EINVAL. */
int filter_time_parse(const char *s, struct filter *ret);

void filter_release(struct filter *f); /* the ranges */

bool filter_sample(const struct filter *f, const struct pd_sample *s);

/* The rest of filter_sample(), where the sample lies. */
bool filter_place(const struct filter *f, const struct frame *frame);
bool filter_row(const struct filter *f, const char *comm, const struct frame *frame);

/* The two parts of filter_row(). */
bool filter_comm(const struct filter *f, const char *comm);
bool filter_frame(const struct filter *f, const struct frame *frame);

#endif
