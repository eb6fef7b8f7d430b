/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Early: finds the callers in copies of user stacks in pass 1, so that pass 2 need not read them.
 *
 * Copies of stacks are most of a recording, and reading them is most of a report. Which maps a
 * process had is certain only after pass 1, but mostly no record of a later part of the file
 * changes what the earlier ones said. So pass 1 unwinds by a state of its own: that of the records
 * which its threads have met so far. struct unwind_uses notes what the walks relied on. Where the
 * whole state gives other answers, or the early one none, pass 2 reads the part again. So this
 * changes how long a report takes, not what it shows.
 */
#ifndef RINGTAIL_REPORT_TRACE_DIGEST_EARLY_H
#define RINGTAIL_REPORT_TRACE_DIGEST_EARLY_H

#include <stdbool.h>

#include "report/trace/digest.h"
#include "unwind/uses.h"

struct trace;
struct early;

/*
 * Returns 0 with *@ret for early_free(), NULL if the recording is too short for it to be of use; or
 * -ENOMEM. @state_bytes: as for state_limit(). @t is borrowed.
 */
int early_new(const struct trace *t, size_t state_bytes, struct early **ret);
void early_free(struct early *e); /* accepts NULL */

/* Takes a record that is no sample, in about the order of the file. Any thread. */
void early_note(struct early *e, const struct data_record *rec);

/* What one thread unwinds with. */
struct early_walk;

/* Returns that of this thread, which @e owns; NULL when memory is short. Any thread. */
struct early_walk *early_walk_mine(struct early *e);

/* Counts a part whose digest was @kept, or gave up. Any thread. */
void early_count(struct early *e, bool kept);
/* Returns whether too many digests gave up: the maps change all the time. Any thread. */
bool early_is_vain(struct early *e);

/*
 * Adds a sample to @d, with the callers in its copy of the stack, and notes in @uses what they rely
 * on. Makes @d give up if no record has named the process yet. One thread uses @w, @d and @uses.
 */
void early_add(struct early_walk *w, const struct data_record *rec, struct digest *d,
	       struct unwind_uses *uses);

#endif
