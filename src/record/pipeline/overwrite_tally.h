/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that counts the samples drained from overwrite rings, by event. Records pass unchanged.
 *
 * overwrite_count_read() (record/open/overwrite_count.h) needs these counts.
 *
 * Threads: the writer's; overwrite_tally_add() when the writer has ended.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_OVERWRITE_TALLY_H
#define RINGTAIL_RECORD_PIPELINE_OVERWRITE_TALLY_H

#include "record/open/open.h"
#include "record/pipeline/sink.h"

/*
 * Returns a stage before @next for the rings and events of @opened, or NULL when out of memory.
 * Both remain the caller's and must outlive the stage.
 */
struct sink *overwrite_tally_new(const struct opened *opened, struct sink *next);

/* Adds the counts of @s, a sink of overwrite_tally_new(), to @sums, indexed by the plan's events.
 */
void overwrite_tally_add(const struct sink *s, uint64_t *sums);

#endif
