/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes the perf_event_attr of each planned event from the recording's options.
 *
 * The attribute decides what a sample carries, how often it is taken, and which sideband comes with
 * it. Pure functions: any thread may call them.
 */
#ifndef RINGTAIL_RECORD_PLAN_ATTRIBUTES_H
#define RINGTAIL_RECORD_PLAN_ATTRIBUTES_H

#include "record/plan/plan.h"

/* Inputs shared by all events of a recording; the caller's. */
struct attributes_common {
	const struct plan_opts *opts;
	const struct limits *limits;
	uint64_t frequency; /* Hz, within the kernel's bound */
	bool cpu_wanted;    /* samples carry their CPU */
	bool inherit;
	enum plan_target target;
	bool delayed;
	bool by_cpu;	  /* rings are by CPU, not by task */
	bool aux_samples; /* samples have trace */
	bool data_maps;	  /* for the dummy: sideband has maps without PROT_EXEC, too */
};

/*
 * Completes the attribute of @event, which the event parser began from @spec. Returns 0, or
 * -ENOTSUP with @err filled if DWARF call graphs are asked for and not supported on this
 * architecture.
 */
int attributes_complete(struct plan_event *event, const struct event_spec *spec,
			const struct attributes_common *common, struct error *err);

/* Takes the branch stack from @event, which is complete: it is a tracepoint, which has none. */
void attributes_without_branches(struct plan_event *event);

/* Makes @event, which is complete, one of whole CPUs in a plan of tasks. */
void attributes_of_all_tasks(struct plan_event *event, const struct attributes_common *common);

/*
 * Makes @event a dummy that carries all sideband this user may have, and no samples. It is not
 * disabled. Returns 0 or -ENOMEM; the plan owns its name.
 */
int attributes_dummy(struct plan_event *event, const struct attributes_common *common);

#endif
