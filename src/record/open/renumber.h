/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces, in records, the ids of events that were opened again (record/open/revive.h).
 *
 * The ids of an output are fixed at its beginning, and readers fail on unknown ones. So an event
 * that was opened again keeps its old id: this module writes the old id over the new one in each
 * record, before anything else reads it.
 *
 * PERF_SAMPLE_IDENTIFIER is always set, so all records have the id at a fixed place: first in a
 * sample, last in all others. Ids in the counts of samples (PERF_SAMPLE_READ) are not replaced.
 *
 * Threads: see each function; a lock guards the table.
 */
#ifndef RINGTAIL_RECORD_OPEN_RENUMBER_H
#define RINGTAIL_RECORD_OPEN_RENUMBER_H

#include <stddef.h>
#include <stdint.h>

struct renumber;

struct renumber *renumber_new(void);	/* returns NULL when out of memory */
void renumber_free(struct renumber *r); /* accepts NULL */

/*
 * The main thread: from now on @from becomes @to. This is never undone, because an overwrite ring
 * may have records of any age. Returns 0 or -ENOMEM.
 */
int renumber_add(struct renumber *r, uint64_t from, uint64_t to);

/* Any thread: replaces the ids in the @len bytes of whole records at @p. */
void renumber_records(struct renumber *r, uint8_t *p, size_t len);

/* Any thread: returns the id that replaces @id, or @id itself. */
uint64_t renumber_id(struct renumber *r, uint64_t id);

#endif
