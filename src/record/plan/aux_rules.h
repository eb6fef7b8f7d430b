/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of recordings of hardware traces: groups of AUX events, and combinations that cannot be.
 *
 * An AUX event is an event whose PMU writes a trace into an AUX area. The kernel takes samples with
 * trace, records in the trace (aux-output), and pauses of the trace (aux-action) only of events in
 * a group that the AUX event leads. Pure functions: any thread.
 */
#ifndef RINGTAIL_RECORD_PLAN_AUX_RULES_H
#define RINGTAIL_RECORD_PLAN_AUX_RULES_H

#include "record/plan/options.h"

/*
 * Adds events that stand behind an AUX event, without a group, to its group: all if samples shall
 * have trace (--aux-sample), else those up to the last with a term that needs the group. Gives the
 * members the sizes of trace in samples.
 */
void aux_rules_group(struct event_list *events, const struct aux_opts *opts);

/*
 * Checks options after aux_rules_group(). @memory: the recording stays in memory (-M), which is why
 * opts->aux.snapshot may be set. Returns 0, or -EINVAL with @err filled: the option at fault, the
 * reason, and what helps.
 */
int aux_rules_check(const struct plan_opts *opts, bool memory, struct error *err);

#endif
