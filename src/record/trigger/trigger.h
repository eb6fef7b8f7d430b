/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are waited for and not recorded (--switch-output-event, --trigger): each time one
 * happens, something is to be done.
 *
 * They are opened like those of a recording, for its CPUs or tasks. For one who wants to know that
 * they happen, rings are a page, and each event wakes: one that overruns tells how many it had no
 * room for. That costs who runs there an interrupt for each event; so after one the rings may be
 * paused for a while. For one who wants them all, rings are larger and wake when a quarter of them
 * is full, and who waits looks by itself now and then.
 *
 * Who waits polls the rings itself, with poll(2) and beside whatever else it waits for. Their
 * descriptors must not be polled by anybody else, nor by way of an epoll descriptor: the kernel
 * clears the mark of a wakeup when it is asked.
 *
 * One thread.
 */
#ifndef RINGTAIL_RECORD_TRIGGER_TRIGGER_H
#define RINGTAIL_RECORD_TRIGGER_TRIGGER_H

#include <poll.h>

#include "record/plan/plan.h"

struct trigger;

/* Where a trigger is opened; all of it outlives the trigger. */
struct trigger_place {
	const struct plan *recording; /* that is going to be */
	const struct record_opts *opts;
	const struct limits *limits;
	const struct notes *notes;
	size_t descriptors; /* that other triggers have open */
};

/*
 * Opens @events, which must outlive the trigger; they do not run yet. @ring_size 0: rings of a
 * page, where each event wakes; else their size in bytes, a power of two of pages. Returns 0 with
 * *@ret to be given to trigger_free(), or a negative errno with @err filled.
 */
int trigger_new(const struct event_list *events, const struct trigger_place *place,
		size_t ring_size, struct trigger **ret, struct error *err);
void trigger_free(struct trigger *t); /* accepts NULL */

/*
 * What process @pid does is not told, and pauses nothing; nor is what is lost while a ring has
 * nothing else.
 */
void trigger_leave_out(struct trigger *t, uint32_t pid);

/* From now on; of a command, from its exec on. Returns 0 or a negative errno with @err filled. */
int trigger_enable(const struct trigger *t, struct error *err);

/*
 * The kernel has taken the events of @cpu away: opens them again, and lets them run. Returns as
 * revive_cpu().
 */
int trigger_revive(struct trigger *t, int cpu);

/* How many descriptors are to be polled; trigger_watch() fills as many entries. NULL: none. */
size_t trigger_descriptors(const struct trigger *t);
void trigger_watch(const struct trigger *t, struct pollfd *ret);

/* How many descriptors it has open, polled or not. NULL: none. */
size_t trigger_open_descriptors(const struct trigger *t);

enum trigger_what {
	TRIGGER_HAPPENED,
	TRIGGER_LOST, /* so many times, for which there was no room; nothing else is known */
	TRIGGER_FULL, /* the ring has been full by now: what comes next may be lost */
};

struct trigger_hit {
	enum trigger_what what;
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

typedef void (*trigger_fn)(const struct trigger_hit *hit, void *arg);

/*
 * Calls @hit for what has happened since, ring by ring, by the revents in @polled, which
 * trigger_watch() filled and which is brought up to date where tasks have ended.
 */
void trigger_ask(struct trigger *t, struct pollfd *polled, trigger_fn hit, void *arg);

/* The same of all rings, whatever poll(2) has said of them. */
void trigger_ask_all(struct trigger *t, struct pollfd *polled, trigger_fn hit, void *arg);

/*
 * Pauses the rings that had something to tell since they were paused last; what happens there
 * counts as lost. Returns whether there are any. trigger_go_on() ends the pause of all, and returns
 * how often it happened meanwhile, which is told by that; 0 where the kernel does not count it
 * (before 6.0): the next record tells.
 */
bool trigger_pause(struct trigger *t);
uint64_t trigger_go_on(struct trigger *t);

/*
 * How many were lost and not told of, since no other came behind them. 0 where the kernel does not
 * count them (before 6.0). @take: they are told now.
 */
uint64_t trigger_untold(struct trigger *t, bool take);

/* Whether either of them could not read a count: there may be more. */
bool trigger_uncounted(const struct trigger *t);

/* What a trigger's event is called; NULL for TRIGGER_SOME_EVENT. */
const char *trigger_event_name(const struct trigger *t, size_t event);

struct trigger_news {
	uint64_t fired;		/* times, of all events */
	struct trigger_hit hit; /* the newest; meaningless if only the number is known */
	bool known;
};

/* As trigger_fn: adds to the struct trigger_news at @arg. */
void trigger_count(const struct trigger_hit *hit, void *arg);

#endif
