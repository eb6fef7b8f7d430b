/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits: the time that threads are off CPUs, as samples.
 *
 * A wait is given as the sample of the switch that began it, with the waited time as its period, in
 * nanoseconds. So tables, call graphs and exports take waits as they take samples. A wait has up to
 * two parts: blocked until its wakeup, and then on a run queue. They are given when the wait is
 * over, and have that moment as their time; waits that have not ended, at the end of the recording.
 *
 * A recording of whole CPUs has both ends of a wait in samples of sched_switch. In one of tasks
 * these have only the begins; the ends are in SWITCH records. Memory grows by threads: each keeps
 * the sample of its newest switch, as long as there is room for it: 256 MB, or an eighth of
 * trace_opts.max_memory. Waits without it have no stack. One thread.
 */
#ifndef RINGTAIL_REPORT_WAITS_WAITS_H
#define RINGTAIL_REPORT_WAITS_WAITS_H

#include "report/trace/frame.h"
#include "report/waits/pairing.h"

struct waits_opts {
	/*
	 * With the samples of a clock, or of another event whose periods are scaled to the time
	 * that threads ran: all time of all threads. All samples are then of that event.
	 */
	bool wall;
	bool waker_stacks; /* keep the samples of wakeups: struct wait_info.wakeup */
	/* NULL: nobody wants them. As in struct pairing_takers, before their samples. */
	int (*wait)(const struct wait *w, void *arg);
	int (*run)(const struct pairing_run *run, void *arg);
	/* Likewise: all samples and records as they are recorded, as in struct walk_takers. */
	walk_fn sample;
	walk_record_fn record;
	void *arg;
};

/* Part of a wait; valid as long as the walk_sample. */
struct wait_info {
	uint64_t since, ns;
	int64_t state; /* as in struct wait */
	bool on_queue; /* it could run */
	bool open;     /* it has not ended */
	struct pairing_waker waker;
	const char *waker_comm; /* NULL: unknown */
	/* Of the wakeup, with its call chain; NULL: none was recorded, or nobody wants it. */
	const struct walk_sample *wakeup;
};

struct waits_counts {
	struct pairing_counts pairing;
	bool wakeups;		      /* the recording has them: parts of waits are told apart */
	double scale;		      /* of the periods of @event, with wall */
	const struct pd_evsel *event; /* that all samples are of; with wall, not of waits alone */
	uint64_t ran_ns;
	uint64_t unkept; /* samples of switches and wakeups for which there was no room */
};

/*
 * Checks that the recording has switches from and to threads; call it after trace_prepare().
 * Returns 0, or -ENOENT with @err saying how to record them.
 */
int waits_check(const struct trace *t, struct error *err);

/*
 * Gives waits, and with wall other samples, in the order of time. @fn gets walk_sample.wait for
 * waits, NULL for samples; may be NULL. Returns 0 with *@ret, the negative value of a taker, or a
 * negative errno with @err filled.
 */
int waits_walk(struct trace *t, const struct waits_opts *opts, walk_fn fn, void *arg,
	       struct waits_counts *ret, struct error *err);

/* Returns whether @e is a clock: its periods are nanoseconds. */
bool waits_clock(const struct pd_evsel *e);

/* What a thread waits for. */
enum wait_kind {
	WAIT_RUN_QUEUE, /* a CPU */
	WAIT_SLEEP,	/* a time */
	WAIT_IO,	/* a disk, or another device */
	WAIT_FUTEX,	/* a lock or a condition of programs */
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_POLL,  /* one of several: poll, select, epoll */
	WAIT_CHILD, /* a process */
	WAIT_LOCK,  /* a lock of the kernel */
	WAIT_PAGE_FAULT,
	WAIT_STOPPED,	 /* by a signal, or a debugger */
	WAIT_OTHER,	 /* interruptible, and nothing more is known */
	WAIT_DISK_STATE, /* uninterruptible, and nothing more is known */
	WAIT_KINDS,
};

/*
 * Returns the kind of a wait whose frames are in @f, innermost first: by its state and by the names
 * of the kernel's functions.
 */
enum wait_kind wait_kind_of(const struct wait_info *w, const struct frame *frame, size_t nr);

/* Returns its name, as in tables: "futex", "run queue", … */
const char *wait_kind_name(enum wait_kind kind);

/* Removes the scheduler's own frames from the inner end of a wait's chain. */
void wait_trim(struct frames *f);

/* As wait_trim(), and adds an innermost frame that names the kind: "[futex]". Returns 0 or -ENOMEM.
 */
int wait_mark(const struct wait_info *w, struct frames *f);

#endif
