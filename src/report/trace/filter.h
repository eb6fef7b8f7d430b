/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filter: which samples a report counts, and which rows it shows.
 *
 * A report leaves out samples that filter_sample() or filter_place() refuses. It does not show rows
 * that filter_row() refuses, but counts them in the totals, so that percentages keep their meaning
 * (as in perf).
 *
 * A filter of zeroes accepts everything. Strings are borrowed; the ranges are owned. Any number of
 * threads may use a filter that nobody changes.
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
	bool resolved;			    /* only samples with a symbol */
	struct filter_ranges pids, tids, cpus;
	struct filter_ranges addresses;	  /* of code */
	struct filter_ranges parallelism; /* threads that ran; needs trace.parallelism */
	uint64_t start, stop;		  /* ns, inclusive; stop 0: no end */
	/* Parts of the recording's time, from 0 to 1; filter_place_parts() makes @times of them. */
	struct filter_part {
		double first, last;
	} * parts;
	size_t nr_parts, cap_parts;
	struct filter_ranges times; /* ns; of @parts, of several spans, or of switches */
};

/*
 * Parses "1,3-5" and adds it to @ret. Returns 0, -EINVAL or -ENOMEM; free @ret with
 * filter_release() also after failure.
 */
int filter_ranges_parse(const char *list, struct filter_ranges *ret);

/* Returns whether @v is in the ranges; everything is in none. */
bool filter_ranges_have(const struct filter_ranges *ranges, uint64_t v);

/*
 * Checks that some event of @list records the fields that @f needs. A list without events passes.
 * Returns 0, or -EINVAL with @err naming the option and the field.
 */
int filter_check(const struct filter *f, const struct pd_evlist *list, struct error *err);

/*
 * Parses perf's "start,stop", seconds with a fraction; either may be empty. Several such spans have
 * spaces between. Or parts of the
 * recording: "10%/2" (the second tenth), "50%" (the first half), "0%-10%,30%-40%". Returns 0,
 * -EINVAL or -ENOMEM; free @ret with filter_release() also after failure.
 */
int filter_time_parse(const char *s, struct filter *ret);

/*
 * Sets the times of the parts for a recording with samples from @first to @last, ns, as perf does.
 * Returns 0 or -ENOMEM.
 */
int filter_place_parts(struct filter *f, uint64_t first, uint64_t last);

/* Frees the ranges; accepts zeroes. */
void filter_release(struct filter *f);

/* Returns whether @f looks at the times of samples. */
static inline bool filter_needs_time(const struct filter *f)
{
	return f->start || f->stop || f->nr_parts || f->times.nr;
}

/* Returns whether pid, tid, CPU and time of the sample pass. */
bool filter_sample(const struct filter *f, const struct pd_sample *s);

/* Returns whether the sample's own @frame passes: only @f->resolved refuses one. */
bool filter_place(const struct filter *f, const struct frame *frame);
/* Returns whether a row passes: filter_comm() and filter_frame(). @comm may be NULL. */
bool filter_row(const struct filter *f, const char *comm, const struct frame *frame);

/* Returns whether samples pass while @level threads run. */
static inline bool filter_parallelism(const struct filter *f, uint32_t level)
{
	return filter_ranges_have(&f->parallelism, level);
}

/* Returns whether the comm passes. */
bool filter_comm(const struct filter *f, const char *comm);
/* Returns whether filter_frame() looks at the frame at all; if not, it need not be resolved. */
bool filter_needs_frame(const struct filter *f);
/* Returns whether dso and symbol of the frame pass. */
bool filter_frame(const struct filter *f, const struct frame *frame);

#endif
