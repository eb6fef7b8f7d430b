/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairing: makes waits and runs of threads from switches and wakeups.
 *
 * The caller gives what happened in the order of time. A thread is on a CPU or off it; a wait is
 * the time between. It has two parts: until a wakeup the thread is blocked, and then it waits for a
 * CPU. A thread that was preempted waits for a CPU from the beginning.
 *
 * What is not known is counted (struct pairing_counts). A switch may come twice, from a tracepoint
 * and from a record; the second changes nothing. Memory grows by threads; ids beyond the kernel's
 * limit are ignored. Pure; one thread.
 */
#ifndef RINGTAIL_REPORT_WAITS_PAIRING_H
#define RINGTAIL_REPORT_WAITS_PAIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_table.h"

#define PAIRING_TID_MAX (1u << 22) /* PID_MAX_LIMIT of the kernel */
#define PAIRING_NONE	UINT32_MAX /* a CPU or thread that is not known */

/* Bits of prev_state in sched_switch (include/trace/events/sched.h). */
#define PAIRING_STATE_SLEEPS  0x01 /* TASK_INTERRUPTIBLE */
#define PAIRING_STATE_DISK    0x02 /* TASK_UNINTERRUPTIBLE */
#define PAIRING_STATE_STOPPED 0x0c /* by a signal, or a debugger */
#define PAIRING_STATE_DEAD    0x30 /* it never runs again */
#define PAIRING_STATE_BLOCKED 0xff /* without any of these it can run: it was preempted */

/* Who woke a thread. */
struct pairing_waker {
	uint32_t pid, tid; /* the thread that ran; PAIRING_NONE: nobody is known */
	bool interrupt;	   /* an interrupt woke it, whatever ran */
};

/* Valid during the call that receives it. */
struct wait {
	uint32_t number, tid;
	uint32_t cpu, end_cpu;	      /* where it left, and where it ran again; PAIRING_NONE */
	uint64_t since, woken, until; /* ns; @woken 0: no wakeup was seen */
	int64_t state;
	bool can_run; /* from the beginning: it was preempted, or has just begun */
	bool is_new;  /* the thread has not run before */
	bool partial; /* it began before the recording, and is known from its wakeup on */
	bool open;    /* it has not ended */
	bool unsure;  /* records were lost meanwhile: it may be several waits */
	struct pairing_waker waker;
};

struct pairing_run {
	uint32_t tid, cpu;
	uint64_t since, until;
	bool migrated; /* it ran on another CPU before */
	bool open;     /* it has not ended */
};

struct pairing_counts {
	uint64_t waits;		  /* all that were given */
	uint64_t open;		  /* that had not ended */
	uint64_t begun_before;	  /* threads that were off a CPU when the recording began */
	uint64_t begun_before_ns; /* until they ran */
	uint64_t unended;	  /* begins without an end, which was lost */
	uint64_t unbegun;	  /* ends without a begin, which was lost */
	uint64_t unsure, unsure_ns;
	uint64_t losses; /* reports of lost records */
};

/* A negative errno ends the pairing. */
struct pairing_takers {
	int (*wait)(const struct wait *w, void *arg);
	int (*run)(const struct pairing_run *run, void *arg); /* NULL: nobody wants runs */
	void *arg;
};

struct pairing_thread;

/* All zero but @takers: nothing happened. */
struct pairing {
	struct pairing_takers takers; /* set by the owner */
	struct id_table numbers;
	struct pairing_thread *threads;
	size_t cap;
	uint32_t *on_cpu; /* numbers of the threads that run, by CPU; PAIRING_NONE */
	size_t nr_cpus, cap_cpus;
	uint64_t first_time;
	struct pairing_counts counts;
};

/*
 * Thread @tid leaves @cpu in @state. *@ret: its number, from 0 on without gaps; PAIRING_NONE: it
 * does not wait. These functions return 0, -ENOMEM, or a negative value of a taker.
 */
int pairing_out(struct pairing *p, uint32_t tid, uint32_t cpu, uint64_t time, int64_t state,
		uint32_t *ret);
/* The same by a record, which says less: a thread that is off a CPU stays as it is. */
int pairing_out_record(struct pairing *p, uint32_t tid, uint32_t cpu, uint64_t time, bool preempted,
		       uint32_t *ret);
/* Thread @tid runs on @cpu. */
int pairing_in(struct pairing *p, uint32_t tid, uint32_t cpu, uint64_t time);
/* Thread @tid can run. *@ret: its number, if this wakeup counts; else PAIRING_NONE. */
int pairing_wake(struct pairing *p, uint32_t tid, uint64_t time, struct pairing_waker waker,
		 uint32_t *ret);
/* Thread @tid begins; its id may have been another's. */
int pairing_born(struct pairing *p, uint32_t tid, uint64_t time);
/* Thread @tid ends. */
int pairing_exit(struct pairing *p, uint32_t tid, uint64_t time);
/* Records were lost. */
void pairing_lost(struct pairing *p);
/* All records were, from @time on: nobody knows how long threads ran that were on CPUs then. */
int pairing_gap(struct pairing *p, uint64_t time);
/* Nothing follows: threads that wait have waited until @time. */
int pairing_end(struct pairing *p, uint64_t time);

/* Frees the memory; the counts stay. */
void pairing_release(struct pairing *p);

#endif
