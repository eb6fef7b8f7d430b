/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events at a place in a file (struct event_place), made ready for the kernel: uprobes that are to
 * be inherited, and breakpoints at addresses that each process has for itself.
 *
 * What the kernel is given then is not what the plan has: the attributes of the plan say in the
 * file what is meant, whoever reads it and wherever.
 */
#ifndef RINGTAIL_RECORD_PLAN_PROBE_TARGETS_H
#define RINGTAIL_RECORD_PLAN_PROBE_TARGETS_H

#include "record/plan/plan.h"

/*
 * Whether @event can be where @opts record. Returns 0, or -EINVAL with @err saying why not and what
 * can be done.
 */
int probe_targets_check(const struct event_spec *event, const struct target_opts *opts,
			struct error *err);

/*
 * Makes the probes that @plan needs and finds the addresses of its breakpoints in all of its tasks;
 * to be called again when it has more of these. A probe that cannot be inherited is not. Returns 0,
 * -ENOENT (a file is not mapped by a process), another negative errno, or -ENOMEM.
 */
int probe_targets_prepare(struct plan *plan, struct error *err);

/* All is open: says which probes are not inherited. */
void probe_targets_say(const struct plan *plan, const struct messages *messages);

/*
 * What the kernel is to be given for @event, and task number @task of the plan. Returns 0 with @ret
 * filled, whose pointer is valid as long as the plan; or -ESRCH if that task has ended.
 */
int probe_targets_attr(const struct plan_event *event, size_t task, struct pd_attr *ret);

/* The place of an event, which lives as long as the event does, or NULL if it has none. */
const struct event_place *probe_targets_of(const struct event_spec *event);

/* Whether the event is a probe of that kind. */
bool probe_targets_is_uprobe(const struct plan_event *event);
bool probe_targets_is_kprobe(const struct plan_event *event);

/*
 * Fills @err with why the kernel refuses a uprobe, a kprobe, or a breakpoint with -EINVAL. Returns
 * @code.
 */
int probe_targets_explain(const struct plan_event *event, int rc, struct error *err);

/* Releases what probe_targets_prepare() made; the event must be closed. */
void probe_targets_release(struct plan_event *event);

#endif
