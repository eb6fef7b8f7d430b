/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are watched and not recorded (--switch-output-event, --trigger).
 *
 * They are opened like those of a recording, on its CPUs or for its tasks. A user who wants to know
 * only that they happen gets rings of a page. Each event wakes, and an overrun ring counts what it
 * had no room for. Each wakeup interrupts the CPU of the event, so the user may pause the rings for
 * a while. A user who wants every event gets larger rings. They wake when a quarter is full, so the
 * user also reads them from time to time.
 *
 * The user polls the rings itself, with poll(2). Nobody else may poll their descriptors, nor may an
 * epoll descriptor: the kernel clears the mark of a wakeup when it is asked.
 *
 * One thread.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_EVENT_WATCH_H
#define RINGTAIL_RECORD_TRIGGER_EVENT_WATCH_H

#include <poll.h>

#include "record/plan/plan.h"

struct event_watch;

/* Where a trigger is opened; all of it outlives the trigger. */
struct trigger_place {
	const struct plan *recording; /* that is going to be */
	const struct limits *limits;
	const struct messages *messages;
	size_t descriptors; /* that other triggers have open */
};

/*
 * Opens @events, which must outlive the trigger; they do not run yet. @ring_size 0: rings of a
 * page, where each event wakes; else their size in bytes, a power of two of pages. Returns 0 with
 * *@ret to be given to event_watch_free(), or a negative errno with @err filled.
 */
int event_watch_new(const struct event_list *events, const struct trigger_place *place,
		    size_t ring_size, struct event_watch **ret, struct error *err);
void event_watch_free(struct event_watch *t); /* accepts NULL */

/*
 * Events of process @pid are not reported, and pause nothing; nor are losses of a ring that has
 * nothing else.
 */
void event_watch_leave_out(struct event_watch *t, uint32_t pid);

/* Enables the events; those of a command start at its exec. Returns 0 or a negative errno with @err
 * filled. */
int event_watch_enable(const struct event_watch *t, struct error *err);

/*
 * The kernel has taken the events of @cpu away: opens them again, and lets them run. Returns as
 * revive_cpu().
 */
int event_watch_revive(struct event_watch *t, int cpu);

/* How many descriptors are to be polled; event_watch_watch() fills as many entries. NULL: none. */
size_t event_watch_descriptors(const struct event_watch *t);
void event_watch_watch(const struct event_watch *t, struct pollfd *ret);

/* How many descriptors it has open, polled or not. NULL: none. */
size_t event_watch_open_descriptors(const struct event_watch *t);

enum event_watch_what {
	TRIGGER_HAPPENED,
	TRIGGER_LOST, /* so many times, for which there was no room; nothing else is known */
	TRIGGER_FULL, /* the ring has been full by now: what comes next may be lost */
};

struct event_watch_hit {
	enum event_watch_what what;
	uint64_t times;		/* 1 if it happened, and 0 if the ring is full */
	uint64_t time;		/* by the clock of the recording, ns */
	uint32_t cpu, pid, tid; /* full: only the ring's CPU, UINT32_MAX for a task's */
	size_t event;		/* index in the list; or TRIGGER_SOME_EVENT */
};

/*
 * One of those in the list. The kernel (seen in 6.18) gives samples of a software event that
 * several have open the id of whichever was first to take it.
 */
#define TRIGGER_SOME_EVENT SIZE_MAX

typedef void (*event_watch_fn)(const struct event_watch_hit *hit, void *arg);

/*
 * Calls @hit for what has happened since, ring by ring, by the revents in @polled, which
 * event_watch_watch() filled and which is brought up to date where tasks have ended.
 */
void event_watch_ask(struct event_watch *t, struct pollfd *polled, event_watch_fn hit, void *arg);

/* The same of all rings, whatever poll(2) has said of them. */
void event_watch_ask_all(struct event_watch *t, struct pollfd *polled, event_watch_fn hit,
			 void *arg);

/*
 * Pauses the rings that had something to tell since they were paused last; what happens there
 * counts as lost. Returns whether there are any. event_watch_go_on() ends the pause of all, and
 * returns how often it happened meanwhile, which counts as reported then; 0 where the kernel does
 * not count it (before 6.0): the next record tells.
 */
bool event_watch_pause(struct event_watch *t);
uint64_t event_watch_go_on(struct event_watch *t);

/*
 * How many were lost and not reported, because no record came behind them. 0 if the kernel does not
 * count them (before 6.0). @take: they count as reported now.
 */
uint64_t event_watch_unreported(struct event_watch *t, bool take);

/* Whether either of them could not read a count, so that there may be more. */
bool event_watch_uncounted(const struct event_watch *t);

/* The name of an event; NULL for TRIGGER_SOME_EVENT. */
const char *event_watch_event_name(const struct event_watch *t, size_t event);

struct event_watch_news {
	uint64_t fired;		    /* times, of all events */
	struct event_watch_hit hit; /* the newest; meaningless if only the number is known */
	bool known;
};

/* As event_watch_fn: adds to the struct event_watch_news at @arg. */
void event_watch_count(const struct event_watch_hit *hit, void *arg);

#endif
