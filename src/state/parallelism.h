/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads of the recording ran at a moment, from SWITCH, SWITCH_CPU_WIDE and EXIT records.
 *
 * A recording of threads has a switch to each thread and away from it, but none to a thread that
 * ran when its event began, and none away from one that exits. A recording of CPUs has all switches
 * of the CPU; the idle thread (0) does not count there. A CPU runs one thread, so a lost record has
 * no effect beyond the next one of that CPU, if records name CPUs.
 *
 * Changes may come in any order; parallelism_freeze() sorts them. One thread fills a struct
 * parallelism. Once frozen, any number of threads may read it.
 */
#ifndef RINGTAIL_STATE_PARALLELISM_H
#define RINGTAIL_STATE_PARALLELISM_H

#include "base/id_table.h"
#include "perfdata/record.h"
#include "state/change_list.h"

/* All zero: empty. */
struct parallelism {
	struct change_list changes; /* of places and what happens there; frozen: of levels */
	struct id_table places;	    /* numbers by CPU and thread */
	bool wide;		    /* a recording of CPUs */
	uint32_t initial;	    /* frozen: threads that ran before the first change */
	uint32_t cpus;		    /* frozen: CPUs that records name */
};

/* Takes a record; ignores those of other types, and all without a time. Returns 0 or -ENOMEM. */
int parallelism_take(struct parallelism *p, const struct pd_record *rec, uint64_t time);

/* Takes a sample: a thread that never switches is known from its samples. Returns 0 or -ENOMEM. */
int parallelism_take_sample(struct parallelism *p, uint32_t cpu, uint32_t tid);

/* Adds what @from, which is not frozen, has taken. Returns 0 or -ENOMEM. */
int parallelism_merge(struct parallelism *p, const struct parallelism *from);

/* Sorts the changes. Call it once. Returns 0 or -ENOMEM. */
int parallelism_freeze(struct parallelism *p);

/* Returns how many threads ran at @time, in frozen @p; 0: none, or none is known. */
uint32_t parallelism_at(const struct parallelism *p, uint64_t time);

/* Returns the bytes that @p holds, and those that freezing it would take. */
size_t parallelism_memory(const struct parallelism *p);
void parallelism_release(struct parallelism *p); /* accepts zeroes */

#endif
