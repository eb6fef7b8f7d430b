/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a CPU that went offline and is online again: the kernel does not give them back, so
 * they are opened once more.
 *
 * The new ones write to the rings that are mapped already, and get the descriptors' numbers (by
 * dup3()), so that whoever reads, polls, pauses or counts by them goes on without knowing. The
 * rings live on: their maps hold them. Counts go on from those of the old ones.
 */
#ifndef RINGTAIL_RECORD_OPEN_REVIVE_H
#define RINGTAIL_RECORD_OPEN_REVIVE_H

#include "record/open/open.h"
#include "record/open/renumber.h"

/*
 * Opens again what @o has on @cpu, of events of TARGET_CPUS; they run when revive_enable() says so,
 * but for a dummy, which does at once. @ids, which learns of the new ids first, may be NULL. The
 * main thread's, as @o. Returns 0; -ENOTSUP for events whose samples carry counts of others, by
 * their ids; -ENOENT if nothing was open there; or what the kernel says, with @o as it was, unless
 * it was a dup3() that failed: then those before it have been taken over.
 */
int revive_cpu(struct opened *o, const struct plan *plan, int cpu, struct renumber *ids);

/* Lets those of @cpu run, of the events in @running (by index in the plan; NULL: all). */
void revive_enable(const struct opened *o, const struct plan *plan, int cpu, const bool *running);

#endif
