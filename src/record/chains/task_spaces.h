/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address spaces of all tasks as of any recent time, while sideband comes in.
 *
 * A sample may be written before or after younger sideband of its task. So sideband is sorted by
 * time as it comes, and a look-up names its time. The history of maps is kept in a struct state,
 * which grows: beyond a bound it is made again from the live tasks and maps alone (struct
 * task_table). Samples from before that time (task_spaces_view.since) have no maps.
 *
 * A record that comes after a younger one was applied counts as of the younger one's time. A sample
 * between the two then finds nothing at its address, or what was there before. So all sideband that
 * was written before is gathered (task_spaces_gather_by()) before any is applied.
 *
 * Memory: that of the state, and of what was added and is not applied yet: 1 MB, and what is
 * gathered at once.
 *
 * Threads: any may call. A lock guards the state; it is shared while it is read. Times are in ns.
 */
#ifndef RINGTAIL_RECORD_CHAINS_TASK_SPACES_H
#define RINGTAIL_RECORD_CHAINS_TASK_SPACES_H

#include "perfdata/attr.h"
#include "state/state.h"

struct task_spaces;

/*
 * @attr describes the trailer of records. @forgotten is called with @arg, while nobody reads, when
 * the state is made again: addresses and numbers of its dsos change. Returns NULL when out of
 * memory.
 */
struct task_spaces *task_spaces_new(const struct pd_attr *attr, void (*forgotten)(void *arg),
				    void *arg);
void task_spaces_free(struct task_spaces *s); /* accepts NULL */

/*
 * For tests, before the first record: makes the state again beyond @least bytes, or twice what
 * lives; what lives may take half of @most bytes.
 */
void task_spaces_limit(struct task_spaces *s, size_t least, size_t most);

/*
 * While no thread uses it: has @gather called with @arg before records are applied. It adds all
 * that the kernel has written so far, so that few older records come later.
 */
void task_spaces_gather_by(struct task_spaces *s, void (*gather)(void *arg), void *arg);

/*
 * Copies a record; ignores those that change no address space. It holds a lock for as long
 * as that. Returns 0 or -ENOMEM.
 */
int task_spaces_add(struct task_spaces *s, const struct perf_event_header *hdr);

/*
 * Gathers, and applies what was added if it takes more than 1 MB. For a writer that needs no view
 * now. Returns as task_spaces_acquire().
 */
int task_spaces_settle(struct task_spaces *s);

struct task_spaces_view {
	const struct state *state; /* valid until task_spaces_release() */
	uint64_t since;		   /* maps of earlier samples are not known */
	uint64_t number;	   /* of the state: changes when it is made again */
};

/*
 * Gathers and applies what was added, and takes the state for reading. Returns 0; or -ENOMEM, or
 * -E2BIG if what lives takes more than half of 256 MB: then the spaces are of no use any more, and
 * there is nothing to release.
 */
int task_spaces_acquire(struct task_spaces *s, struct task_spaces_view *ret);
void task_spaces_release(struct task_spaces *s);

/* Returns the bytes of memory held. */
size_t task_spaces_memory(struct task_spaces *s);

#endif
