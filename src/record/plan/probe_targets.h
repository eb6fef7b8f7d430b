/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares events at a place in a file (struct event_place): uprobes and breakpoints.
 *
 * A uprobe that children inherit becomes a tracefs probe; a breakpoint gets the address that the
 * place has in each process. The kernel then gets other attributes than the plan has. The plan's
 * attributes go into the output and describe the place, valid in any process.
 *
 * Ownership: the plan's events own the probes and the addresses. Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_PLAN_PROBE_TARGETS_H
#define RINGTAIL_RECORD_PLAN_PROBE_TARGETS_H

#include "record/plan/plan.h"

/*
 * Checks that @event can work with the targets of @opts. Returns 0, or -EINVAL with the reason and
 * a remedy in @err.
 */
int probe_targets_check(const struct event_spec *event, const struct target_opts *opts,
			struct error *err);

/*
 * Makes the probes of @plan, and finds the addresses of its breakpoints in all its tasks. Call it
 * again after tasks were added. If a probe cannot be inheritable, it makes one that is not. Returns
 * 0, -ENOENT (a process has not mapped the file), or another negative errno, with @err filled.
 */
int probe_targets_prepare(struct plan *plan, struct error *err);

/* After opening: sends a message about probes that are not inherited. */
void probe_targets_say(const struct plan *plan, const struct messages *messages);

/*
 * Fills *@ret with the attribute to open for @event and task number @task of the plan; its pointers
 * are valid as long as the plan. Returns 0, or -ESRCH if that task has ended.
 */
int probe_targets_attr(const struct plan_event *event, size_t task, struct pd_attr *ret);

/* Returns the place of @event, owned by @event, or NULL if it has none. */
const struct event_place *probe_targets_of(const struct event_spec *event);

/* Whether @event is a uprobe, or a kprobe. */
bool probe_targets_is_uprobe(const struct plan_event *event);
bool probe_targets_is_kprobe(const struct plan_event *event);

/*
 * Fills @err with the reason why the kernel refused a uprobe, a kprobe, or (with -EINVAL) a
 * breakpoint. Returns @rc.
 */
int probe_targets_explain(const struct plan_event *event, int rc, struct error *err);

/* Frees what probe_targets_prepare() made, after the event was closed. */
void probe_targets_release(struct plan_event *event);

#endif
