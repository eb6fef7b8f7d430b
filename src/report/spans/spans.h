/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans: how long threads took from one event to another, and what the slowest of them did
 * meanwhile.
 *
 * A span begins with a sample of the first event and ends with one of the second, in the same
 * thread, as with the trigger latency:START..END of a recording. The recording is read twice: for
 * the durations, and for what lies in the slowest spans: waits, by the scheduler's events, and
 * samples. Memory grows by threads, and by the stacks of the slowest spans. One thread.
 */
#ifndef RINGTAIL_REPORT_SPANS_SPANS_H
#define RINGTAIL_REPORT_SPANS_SPANS_H

#include "report/latency/distribution.h"
#include "report/table/callgraph.h"
#include "report/trace/filter.h"
#include "report/waits/waits.h"

struct spans_opts {
	const char *start, *end; /* names of events in the recording; borrowed */
	size_t slowest;		 /* most spans that are kept */
	size_t max_stack;
	bool inlined;
	struct filter filter; /* of the ends of spans */
};

struct span {
	uint64_t time, ns;
	uint32_t pid, tid, cpu, end_cpu; /* UINT32_MAX: unknown */
	const char *comm;		 /* NULL: unknown */
	bool unsure;			 /* records were lost meanwhile */
	uint64_t waited[WAIT_KINDS];	 /* ns */
	uint64_t samples;		 /* that were taken while it ran */
	/*
	 * What it did, from the outermost caller on: ns of waits, with a frame for the kind, and
	 * periods of samples, which are ns if spans.timed.
	 */
	struct callgraph graph;
	uint32_t root; /* CALLGRAPH_NONE: nothing is known */
};

struct spans {
	struct distribution ns;
	uint64_t begun_before; /* ends without a start */
	uint64_t unended;      /* starts without an end */
	uint64_t restarted;    /* starts within a span, whose end was lost */
	uint64_t unsure;       /* records were lost meanwhile */
	struct span *slowest;  /* the slowest first */
	size_t nr_slowest;
	bool waits; /* the recording says when threads waited */
	bool timed; /* periods are of a clock, or scaled to the time that threads ran */
};

/*
 * Reads @t, which is prepared. Returns 0 with *@ret for spans_free(), or a negative errno with @err
 * filled; -ENOENT: the recording has no such event.
 */
int spans_run(struct trace *t, const struct spans_opts *opts, struct spans **ret,
	      struct error *err);
void spans_free(struct spans *s); /* accepts NULL */

/* Returns the time that a span was not waiting. */
uint64_t span_ran(const struct span *s);

#endif
