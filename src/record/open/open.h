/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan opened: descriptors of its events and the rings that they write to.
 *
 * Events of one CPU (or, with plan->task_rings, of one task) and one kind share a ring: those whose
 * samples are kept, those whose samples are overwritten, and the dummy.
 * The dummy is opened and running, with its rings mapped, before any other event is opened, and is
 * the last to be disabled: of no task that has samples, a child born meanwhile included, are FORK,
 * COMM and maps missed.
 * What the kernel refuses and what can be had otherwise changes the plan (record/fallback.h), each
 * change with a note.
 */
#ifndef RINGTAIL_RECORD_OPEN_OPEN_H
#define RINGTAIL_RECORD_OPEN_OPEN_H

#include "base/id_table.h"
#include "record/plan/plan.h"
#include "record/open/throttle_stats.h"

struct open_count {
	uint64_t value; /* of the counter */
	uint64_t lost;	/* records that found no room in their ring, or found it paused */
};

struct open_fd {
	int fd;
	uint64_t id;   /* as the output has it */
	uint64_t live; /* as the kernel has it: another one if it was opened again (revive.h) */
	struct open_count before; /* what was counted before that */
	unsigned int event;	  /* index in the plan */
	unsigned int ring;
	int cpu;    /* -1: any */
	pid_t task; /* -1: any */
};

struct open_ring {
	enum ring_kind kind;
	size_t data_size; /* bytes */
	void *memory;	  /* header page and data; NULL: not mapped, nothing writes here */
	int cpu;	  /* -1: a task's */
	int *fds;	  /* of the events that write here, the owner of the mapping first */
	size_t nr_fds;
};

struct id_reader;

struct opened {
	struct open_fd *fds; /* in the order of opening: the dummy's, then by event, ring, task */
	size_t nr_fds;
	struct open_ring *rings; /* by kind, then by place */
	size_t nr_rings;
	size_t nr_places; /* plan_places() */
	size_t nr_tasks;  /* of the plan; 1 without tasks */
	int *cells;	  /* descriptors by event, place and task; negative where there is none */
	struct throttle_stats *throttles; /* of the events; has a lock of its own */
	struct id_reader *id_reader; /* the session's: any thread may ask it; NULL: nobody may */
};

/*
 * Maps the ids of @fds, as the output has them, to indices in @fds. Modules keep what they know of
 * each descriptor in an array beside. Returns 0 with *@ret to be released, or -ENOMEM.
 */
int open_fds_by_id(const struct open_fd *fds, size_t nr, struct id_table *ret);

/*
 * Opens and maps all of @plan. Events are not running afterwards, but for a dummy. Threads that the
 * processes of @plan have started meanwhile are added to its tasks and opened, too. Returns 0 with
 * *@ret to be closed with opened_close(), or a negative errno with @err saying what to do.
 */
int open_plan(struct plan *plan, const struct limits *limits, const struct messages *messages,
	      struct opened **ret, struct error *err);
void opened_close(struct opened *o); /* accepts NULL */

/* Starts and stops all events that are not started by their command. 0 or a negative errno. */
int opened_enable(const struct opened *o, const struct plan *plan, struct error *err);
void opened_disable(const struct opened *o);

/* Starts or stops event @index of the plan, and with it those of the group that it leads. */
int opened_switch(const struct opened *o, const struct plan *plan, unsigned int index, bool on,
		  struct error *err);

/* Whether any ring is overwritten. */
bool opened_overwrites(const struct opened *o);

/*
 * What this descriptor's event counted, with those that inherited it. Returns 0, or -ENOTSUP when
 * the kernel does not count what was lost (before 6.0).
 */
int opened_count(const struct open_fd *fd, const struct plan *plan, struct open_count *ret);

/* What all of them have lost. Returns as opened_count() does. */
int opened_lost(const struct opened *o, const struct plan *plan, uint64_t *ret);

#endif
