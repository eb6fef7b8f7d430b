/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AUX areas of a recording: which events write to each, whether they run, and their stays.
 *
 * Full trace: the reader of the area's ring drains it (record/pipeline/reader.h), and restarts the
 * events when the kernel has stopped them for lack of room. Snapshots: the main thread reads the
 * area (record/aux/window.h). The records in its ring report stops. The reader reads them before it
 * releases them, and the main thread before it takes a snapshot.
 *
 * Ownership: the areas refer to the rings and descriptors of struct opened, which outlives them.
 * Threads: aux_area_look(), _full() and _restart() are the reader's, the others the main thread's.
 * A lock, held briefly, guards what both use.
 */
#ifndef RINGTAIL_RECORD_AUX_AREA_H
#define RINGTAIL_RECORD_AUX_AREA_H

#include <pthread.h>

#include "record/open/open.h"
#include "ring/aux.h"
#include "ring/aux_stays.h"
#include "ring/ring.h"

struct aux_area {
	struct aux_ring ring;
	enum aux_mode mode;
	unsigned int index; /* of the ring in struct opened, and of its AUXTRACE records */
	unsigned int event; /* in the plan */
	int cpu;	    /* -1: any */
	pid_t task;	    /* -1: any, or several */
	bool by_tsc;	    /* decoders want the time stamp counter in AUXTRACE records */
	const int *fds;	    /* of the events that write here */
	size_t nr_fds;

	struct pd_evsel layout; /* of the records in the ring */

	pthread_mutex_t lock; /* guards what follows */
	bool on;	      /* the events are enabled */
	struct ring records;  /* the ring of the records; the tail ends those read here */
	struct aux_stays stays;
	uint64_t begun; /* the event runs since this time; 0: unknown */
	bool runs;	/* it may run */
	bool left;	/* its task was scheduled out since then */
	bool broken;	/* records were lost since the last stay */
	bool held;	/* the main thread has stopped it, and makes it go on */
	bool copied;	/* and reads @stays and the overwritten ring without the lock */

	/* Sums over the recording. */
	uint64_t truncated; /* AUX records with that flag */
	uint64_t partial, collisions;
	uint64_t restarts; /* times that the reader disabled and enabled the events */
	/* Full trace: stops that no record reports, and gaps in the records, which may have. */
	uint64_t unreported;
	uint64_t lost_records; /* that LOST records in the ring count */
	uint64_t bytes;	       /* full trace: drained */
	bool stopped;	       /* the kernel has stopped an event, or may have */
};

struct aux_areas {
	struct aux_area *areas;
	size_t nr;
	int *of_ring;	  /* by ring of struct opened: index of its area, or -1 */
	uint64_t resumed; /* all events were enabled again then: by a snapshot, a command; 0: never
			   */
};

/*
 * Lists the AUX areas of @opened. Call it before an event runs. Returns 0 or -ENOMEM;
 * aux_areas_release() is due in both cases.
 */
int aux_areas_init(struct aux_areas *a, const struct plan *plan, const struct opened *opened);
void aux_areas_release(struct aux_areas *a); /* accepts an all-zero struct */

/* Returns the area of @ring, or NULL. */
struct aux_area *aux_areas_of(const struct aux_areas *a, size_t ring);

/*
 * Returns the reference of an AUXTRACE record that is written now, at @time in ns: for intel_pt and
 * intel_bts the time stamp counter, whose top byte completes time stamps in the trace, else @time.
 */
uint64_t aux_area_reference(const struct aux_area *area, uint64_t time);

/* The session has enabled or disabled @event of the plan, or all events (@event negative). */
void aux_areas_switch(struct aux_areas *a, int event, bool on);

/*
 * Disables the events of the area, so that their trace is published, and enables them again.
 * Neither does anything while the session has them disabled.
 */
void aux_area_stop(struct aux_area *area);
void aux_area_go(struct aux_area *area);

/* Reads the records in the area's ring that no call has read yet. */
void aux_area_look(struct aux_area *area);

/* As aux_area_look(), when the events are disabled. A stop without a record ended at @now. */
void aux_area_look_stopped(struct aux_area *area, uint64_t now);

/*
 * Full trace: the area is so full that the kernel may have stopped its events. If no record in the
 * ring says so, its record was lost, or there is none.
 */
void aux_area_full(struct aux_area *area);

/*
 * Full trace, when the area was drained: disables and enables events that the kernel has stopped.
 * ENABLE alone does nothing for an event that a kernel before 6.16 has stopped and left active.
 */
void aux_area_restart(struct aux_area *area);

#endif
