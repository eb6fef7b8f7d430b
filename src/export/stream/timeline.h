/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeline: what a recording says of moments, beside its samples. Switches and wakeups of threads,
 * steps of counters, and marks: losses, throttling, snapshots and their triggers, exec.
 *
 * Switches come from SWITCH records or from samples of sched:sched_switch, and each is given once
 * if a recording has both. Wakeups come from sched:sched_waking, sched_wakeup and sched_wakeup_new.
 * Counters come from the values that samples have read (PERF_SAMPLE_READ). Memory grows by CPUs
 * and counters. One thread.
 */
#ifndef RINGTAIL_EXPORT_STREAM_TIMELINE_H
#define RINGTAIL_EXPORT_STREAM_TIMELINE_H

#include "export/wire/intern.h"
#include "report/trace/walk.h"

#define TIMELINE_NONE UINT32_MAX /* a CPU or thread that is not known */

enum timeline_kind {
	TIMELINE_SWITCH,
	TIMELINE_WAKEUP,
	TIMELINE_COUNTER,
	TIMELINE_MARK,
};

struct timeline_task {
	uint32_t pid, tid; /* TIMELINE_NONE: no thread */
	const char *comm;  /* NULL: unknown */
	int32_t prio;	   /* of the kernel; 0: not recorded */
};

/* Valid during the call that receives it. */
struct timeline_event {
	enum timeline_kind kind;
	uint64_t time; /* ns of the recording's clock */
	uint32_t cpu;
	/* SWITCH: it leaves the CPU. WAKEUP: it ran when the other was woken. */
	struct timeline_task task;
	struct timeline_task other; /* SWITCH: it arrives. WAKEUP: it is woken */
	uint64_t since;		    /* SWITCH: when @task arrived; 0: not known */
	int64_t state;		    /* SWITCH: prev_state of the tracepoint; 0: can still run */
	uint32_t target_cpu;	    /* WAKEUP */
	const char *name; /* WAKEUP: of the tracepoint. COUNTER: of its event. MARK: what it is */
	const char *text; /* MARK: more about it; may be "" */
	/* COUNTER: events since the reading before. MARK: samples or records that it says are lost
	 */
	uint64_t value;
};

/* Takes an event. Returns 0 or a negative errno, which ends the export. */
typedef int (*timeline_fn)(const struct timeline_event *e, void *arg);

struct timeline_cpu;

/* All zero but what the owner sets: empty. */
struct timeline {
	const struct trace *trace; /* set by the owner, as the next two */
	timeline_fn fn;
	void *arg;
	struct timeline_cpu *cpus;
	size_t nr_cpus, cap_cpus;
	struct intern counters;
	uint64_t *values; /* last readings, by counter */
	size_t cap_values;
	struct buf text;
	char comm[2][64];
};

/* Gives what a sample says of moments. Returns 0 or a negative errno, also of @t->fn. */
int timeline_sample(struct timeline *t, const struct walk_sample *ws);
/* Gives what a record of another type says. Returns likewise. */
int timeline_record(struct timeline *t, const struct data_record *rec, const struct pd_record *r);
/*
 * Returns the kernel's letter for a state, as in ps: 'R' can run, 'S' sleeps, 'D', and so on.
 */
char timeline_state_letter(int64_t state);

/* Frees the memory. */
void timeline_release(struct timeline *t);

#endif
