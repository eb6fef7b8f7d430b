/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that puts call chains in the place of user stacks (--call-graph dwarf,online).
 *
 *   fifo ──► chain stage ──► tally ──► [compress] ──► file
 *                   └──────► history (-M)
 *
 * It is the first stage behind a fifo, so that all others see small samples. The writer's thread
 * unwinds; a reader never waits for it. Sideband passes unchanged: the chain maker has had it since
 * before it left its ring (record/pipeline/sideband_taps.h).
 *
 * It may wait for files' call frame information for 100 ms in each run, when they are first met
 * and the fifo is nearly empty; for 500 ms in all runs until a flush that was asked for is done.
 * When the fifo is half full, and unwinding took more than half of the writer's time lately,
 * samples are passed on with their stacks, and counted (CHAIN_BEHIND): a writer that is late
 * because of its output goes on to unwind, because stacks would make it later. So the stage takes
 * at most the CPU time of its writer.
 *
 * Ownership: the chain maker and the next sink remain the caller's. Threads: the writer's.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_CHAIN_STAGE_H
#define RINGTAIL_RECORD_PIPELINE_CHAIN_STAGE_H

#include "record/chains/chain_maker.h"
#include "record/open/open.h"
#include "record/pipeline/fifo.h"
#include "record/pipeline/sink.h"

/* Returns a stage for the events of @opened, or NULL when out of memory. All outlive it. */
struct sink *chain_stage_new(struct chain_maker *maker, const struct plan *plan,
			     const struct opened *opened, struct sink *next);

/* While no thread uses the stage: sets the next sink. */
void chain_stage_retarget(struct sink *s, struct sink *next);

/* Lets the stage know how much waits in @fifo. Without this call nothing is late. */
void chain_stage_watch(struct sink *s, struct fifo *fifo);

/* For tests: @full percent of the fifo, and @share percent of the time, from which it is behind. */
void chain_stage_limits(struct sink *s, unsigned int full, unsigned int share);

/* Fills *@ret with the counts. */
void chain_stage_stats(const struct sink *s, struct chain_stats *ret);

#endif
