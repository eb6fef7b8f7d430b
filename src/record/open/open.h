/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a plan: the descriptors of its events and the rings that they write to.
 *
 * Events of one CPU (or, with plan->task_rings, of one task) and one kind share a ring. The kinds
 * are events whose samples are kept, events in overwrite rings, and the dummy.
 *
 * The dummy runs, with its rings mapped, before any other event is opened, and is disabled last. So
 * the recording has FORK, COMM and maps of every task with samples, also of children that start
 * meanwhile.
 *
 * When the kernel refuses an event, the plan changes (record/open/fallback.h), with a message.
 *
 * Ownership: the caller owns a struct opened; the plan must outlive its use here. Threads: the main
 * thread's, but for throttle stats and buildid_reader, which have locks.
 */
#ifndef RINGTAIL_RECORD_OPEN_OPEN_H
#define RINGTAIL_RECORD_OPEN_OPEN_H

#include "base/id_table.h"
#include "record/plan/plan.h"
#include "record/open/throttle_stats.h"

struct open_count {
	uint64_t value; /* of the counter */
	uint64_t lost;	/* records that found their ring full or paused */
};

struct open_fd {
	int fd;
	uint64_t id;   /* in the output */
	uint64_t live; /* in the kernel: differs after the event was opened again (revive.h) */
	struct open_count before; /* the count of the event before that */
	unsigned int event;	  /* index in the plan */
	unsigned int ring;
	int cpu;    /* -1: any */
	pid_t task; /* -1: any */
};

struct open_ring {
	enum ring_kind kind;
	size_t data_size; /* bytes */
	void *memory;	  /* header page and data; NULL: not mapped, no event writes here */
	int cpu;	  /* -1: the ring of a task */
	int *fds;	  /* the events that write here; the ring was mapped by the first */
	size_t nr_fds;
	size_t nr_lasting; /* the last of them: of whole CPUs, so they outlive the tasks */
	void *aux;	   /* RING_AUX: the AUX area; else NULL */
	size_t aux_size;   /* bytes */
};

struct buildid_reader;

struct opened {
	struct open_fd *fds; /* in the order of opening: the dummy's, then by event, ring, task */
	size_t nr_fds;
	struct open_ring *rings; /* by kind, then by place */
	size_t nr_rings;
	size_t nr_places; /* plan_places() */
	size_t nr_tasks;  /* of the plan; 1 without tasks */
	int *cells;	  /* descriptors by event, place and task; negative where there is none */
	int *cgroups;	  /* directories, by event; -1: the event is not of a cgroup */
	size_t nr_cgroups;
	struct throttle_stats *throttles;      /* of the events; has a lock of its own */
	struct buildid_reader *buildid_reader; /* the session's, for any thread; or NULL */
};

/*
 * Maps the ids of @fds, as the output has them, to indices in @fds. Modules keep their own data of
 * each descriptor in an array with these indices. Returns 0 with *@ret to be released, or -ENOMEM.
 */
int open_fds_by_id(const struct open_fd *fds, size_t nr, struct id_table *ret);

/*
 * Opens and maps all of @plan. Only a dummy runs afterwards. Adds threads that the processes of
 * @plan have started meanwhile to its tasks, and opens them, too. Returns 0 with *@ret, to be
 * closed with opened_close(), or a negative errno with @err filled: it says what the user can do.
 */
int open_plan(struct plan *plan, const struct limits *limits, const struct messages *messages,
	      struct opened **ret, struct error *err);
void opened_close(struct opened *o); /* accepts NULL */

/*
 * Starts all events that the workload's exec does not start. Returns 0 or a negative errno with
 * @err filled.
 */
int opened_enable(const struct opened *o, const struct plan *plan, struct error *err);

/* Stops all events, the dummy last. */
void opened_disable(const struct opened *o);

/*
 * Starts or stops event @index of the plan and the group that it leads. Returns 0 or a negative
 * errno with @err filled.
 */
int opened_switch(const struct opened *o, const struct plan *plan, unsigned int index, bool on,
		  struct error *err);

/* Whether any ring is an overwrite ring. */
bool opened_overwrites(const struct opened *o);

/*
 * Reads the count of @fd's event, inherited ones included, into *@ret. Returns 0, or -ENOTSUP if
 * the kernel does not count losses by event (before 6.0).
 */
int opened_count(const struct open_fd *fd, const struct plan *plan, struct open_count *ret);

/* Reads what all events have lost into *@ret. Returns as opened_count() does. */
int opened_lost(const struct opened *o, const struct plan *plan, uint64_t *ret);

#endif
