/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for hardware traces: groups of AUX events, and combinations that Ringtail refuses.
 *
 * For an event outside the group that an AUX event leads, the kernel refuses trace in its samples,
 * its records in the trace (aux-output), and its pauses of the trace (aux-action). Pure functions:
 * any thread.
 */
#ifndef RINGTAIL_RECORD_PLAN_AUX_RULES_H
#define RINGTAIL_RECORD_PLAN_AUX_RULES_H

#include "record/plan/options.h"

/*
 * Adds ungrouped events behind an AUX event to its group: with --aux-sample all of them, else those
 * up to the last one with a term that needs the group. Sets the members' sizes of trace in samples.
 */
void aux_rules_group(struct event_list *events, const struct aux_opts *opts);

/*
 * Checks options after aux_rules_group(). @memory: the recording has -M, which may have set
 * opts->aux.snapshot. Returns 0, or -EINVAL with @err filled: the option at fault, the reason, and
 * what helps.
 */
int aux_rules_check(const struct plan_opts *opts, bool memory, struct error *err);

#endif
