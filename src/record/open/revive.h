/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the events of a CPU again that was offline, because the kernel does not restore them.
 *
 * The new events write to the rings that are mapped already, and take the numbers of the old
 * descriptors (dup3()). So code that reads, polls, pauses or counts by these descriptors needs no
 * change. The mappings keep the rings alive. Counts continue from those of the old events.
 *
 * Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_OPEN_REVIVE_H
#define RINGTAIL_RECORD_OPEN_REVIVE_H

#include "record/open/open.h"
#include "record/open/renumber.h"

/*
 * Opens the events of @o again that are of the whole of @cpu. Only a dummy runs at once, the others
 * after revive_enable(). Adds the new ids to @ids (may be NULL) before any record
 * can have them. Returns 0; -ENOTSUP for events whose samples carry the counts and ids of others;
 * -ENOENT if nothing was open on @cpu; -ENOMEM; or the kernel's error. On an error @o is unchanged,
 * unless dup3() failed: then the events before it have been replaced.
 */
int revive_cpu(struct opened *o, const struct plan *plan, int cpu, struct renumber *ids);

/* Enables the events of @cpu that are in @running (by index in the plan; NULL: all). */
void revive_enable(const struct opened *o, const struct plan *plan, int cpu, const bool *running);

#endif
