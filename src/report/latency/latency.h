/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the calls of a function took, by calls and returns in the hardware trace.
 *
 * Branches are decoded by several threads and taken in the order of time, so the result does not
 * depend on their number. Times are ns of the recording's clock. A time in the trace is that of the
 * newest packet with one, so lengths are known only to the steps between such packets.
 *
 * Memory: the distributions, the slowest calls, and the trees of calls that have not ended, at most
 * LATENCY_NODES nodes of these. One thread.
 */
#ifndef RINGTAIL_REPORT_LATENCY_LATENCY_H
#define RINGTAIL_REPORT_LATENCY_LATENCY_H

#include "base/error.h"
#include "report/latency/distribution.h"
#include "report/latency/functions.h"
#include "report/latency/slowest.h"
#include "report/trace/filter.h"

#define LATENCY_NODES ((size_t)1 << 20)

struct latency_opts {
	const char *function; /* its name; parameters may be left out */
	size_t slowest;	      /* calls to show */
	struct filter filter; /* of calls, by where they begin */
};

/* A function of the wanted name. */
struct latency_function {
	const char *name;
	const struct dso *dso;
	struct distribution ns;	    /* of calls from beginning to end */
	uint64_t outer, outer_self; /* ns in calls that are not recursive, and outside of callees */
	uint64_t recursive;	    /* of these: within another wanted call */
	uint64_t skipped; /* of these: ended by a return to a caller further out, as by longjmp() */
	uint64_t below;	  /* of these: shorter than a step of the trace's times */
	/* Others, that are not in the distribution. */
	uint64_t begun_before; /* returns of calls whose beginning was not seen */
	uint64_t lost;	       /* trace is missing before their end */
	uint64_t unended;      /* when the trace ended */
	uint64_t untimed;
	struct slowest slowest; /* without recursive ones */
};

struct call_latency {
	struct latency_function *wanted; /* in the order of their first calls */
	size_t nr_wanted, cap_wanted;
	struct function_list functions;
	struct distribution steps;  /* between different times of one CPU's trace */
	struct distribution pauses; /* the same where it was off in between */
	uint64_t step; /* the median of these, without pauses if possible; 0: unknown */
};

/*
 * Walks the trace of @t, which has been prepared with itrace_opts.branches. Returns 0 with *@ret
 * for call_latency_free(), or a negative errno with @err filled: -ENOENT where no such function was
 * called.
 */
int call_latency_run(struct trace *t, const struct latency_opts *opts, struct call_latency **ret,
		     struct error *err);
void call_latency_free(struct call_latency *l); /* accepts NULL */

#endif
