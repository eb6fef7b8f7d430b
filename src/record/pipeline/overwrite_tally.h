/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that counts, by event, the samples out of rings that are overwritten; records pass
 * through unchanged. What was overwritten is then known (record/overwritten.h).
 */
#ifndef RINGTAIL_RECORD_PIPELINE_OVERWRITE_TALLY_H
#define RINGTAIL_RECORD_PIPELINE_OVERWRITE_TALLY_H

#include "record/open/open.h"
#include "record/pipeline/sink.h"

/*
 * A stage before @next for the rings and events of @opened, both of which remain the caller's.
 * Returns NULL when out of memory.
 */
struct sink *overwrite_tally_new(const struct opened *opened, struct sink *next);

/* Adds the counts of a sink made by overwrite_tally_new() to @sums, which has one for each event.
 */
void overwrite_tally_add(const struct sink *s, uint64_t *sums);

#endif
