/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The past of each thread, by the branches in its trace: branch stacks and call chains of samples.
 *
 * Branches come in the order of time, so one thread uses it. Memory: 24 bytes for each last branch
 * of each traced thread, and what auxtrace/itrace/callstack.h says.
 */
#ifndef RINGTAIL_AUXTRACE_ITRACE_PAST_H
#define RINGTAIL_AUXTRACE_ITRACE_PAST_H

#include "auxtrace/itrace/callstack.h"
#include "auxtrace/itrace/samples.h"
#include "base/id_table.h"
#include "perfdata/sample.h"

struct past_thread;

/* All zero: nothing is kept. */
struct itrace_past {
	size_t max;	       /* branches of a thread */
	struct id_table table; /* of threads */
	struct past_thread *threads;
	size_t cap;
	uint64_t gaps;
	struct pd_branch *branches; /* what itrace_past_branches() found */
	struct callstacks calls;
	size_t chain_max;
	uint64_t *chain; /* what itrace_past_chain() found */
};

/* Prepares @p for what @o asks. Returns 0 or -ENOMEM. */
int itrace_past_init(struct itrace_past *p, const struct itrace_opts *o);
void itrace_past_release(struct itrace_past *p);

/* Takes a sample of ITRACE_BRANCHES. Returns 0 or -ENOMEM. */
int itrace_past_take(struct itrace_past *p, const struct itrace_sample *s);

/*
 * Trace is missing in the ring of @cpu or @tid (the other may be UINT32_MAX). Last branches of all
 * threads begin anew, and call chains of those that may have run. Returns 0 or -ENOMEM.
 */
int itrace_past_gap(struct itrace_past *p, uint32_t tid, uint32_t cpu);

/* The thread executed a program: its call chain begins anew. Returns 0 or -ENOMEM. */
int itrace_past_exec(struct itrace_past *p, uint32_t tid);

/*
 * Returns the number of the last branches of a thread, and them in *@ret, the newest first. A
 * thread whose number is 0 or unknown is that of its CPU. They are valid until the next call.
 */
size_t itrace_past_branches(struct itrace_past *p, uint32_t tid, uint32_t cpu,
			    const struct pd_branch **ret);

/*
 * Returns the length of the call chain of a thread at @ip, with PERF_CONTEXT_* markers, and it in
 * *@ret, valid until the next call. With @recorded @ip is of a sample that the trace did not make:
 * the kernel, which took it, does not call user code.
 */
size_t itrace_past_chain(struct itrace_past *p, uint32_t tid, uint32_t cpu, uint64_t ip,
			 bool recorded, const uint64_t **ret);

#endif
