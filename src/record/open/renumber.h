/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of events that were opened again (record/revive.h), in the records that carry them.
 *
 * An output says at its beginning which ids there are, and readers stop at others. So what was
 * opened again keeps the id of what it takes the place of: it is written over the new one in each
 * record before anything else looks at it.
 *
 * All records have the id in a fixed place, since there is always PERF_SAMPLE_IDENTIFIER: first in
 * a sample, last in all others. Counts that samples carry (PERF_SAMPLE_READ) are not looked at.
 */
#ifndef RINGTAIL_RECORD_OPEN_RENUMBER_H
#define RINGTAIL_RECORD_OPEN_RENUMBER_H

#include <stddef.h>
#include <stdint.h>

struct renumber;

struct renumber *renumber_new(void);	/* NULL when out of memory */
void renumber_free(struct renumber *r); /* accepts NULL */

/*
 * The main thread's: @from is to become @to from now on, for good: a ring that is overwritten may
 * have records of any age. Returns 0 or -ENOMEM.
 */
int renumber_add(struct renumber *r, uint64_t from, uint64_t to);

/* Any thread: in the whole records at @p. @renumber: a struct renumber. */
void renumber_records(void *renumber, uint8_t *p, size_t len);

/* Any thread: what @id is to become; itself if it is none of them. */
uint64_t renumber_id(struct renumber *r, uint64_t id);

#endif
