/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of one planned event, from the options of the recording: what each sample
 * carries, how often, and which other records come along. Pure functions.
 */
#ifndef RINGTAIL_RECORD_PLAN_ATTRIBUTES_H
#define RINGTAIL_RECORD_PLAN_ATTRIBUTES_H

#include "record/plan/plan.h"

/* What all events of a recording have in common. */
struct attributes_common {
	const struct plan_opts *opts;
	const struct limits *limits;
	uint64_t frequency; /* Hz, within the kernel's bound */
	bool cpu_wanted;    /* samples carry their CPU */
	bool inherit;
	enum plan_target target;
	bool delayed;
	bool data_maps; /* for the dummy: sideband tells of maps without PROT_EXEC too */
};

/*
 * Completes the attribute of @event, which holds what the event parser made of it.
 * Returns 0, or -ENOTSUP with @err when this architecture has no user stack dump.
 */
int attributes_complete(struct plan_event *event, const struct event_spec *spec,
			const struct attributes_common *common, struct error *err);

/*
 * Makes @event a dummy that carries all sideband that is useful here, and nothing else; it is not
 * disabled. Returns 0 or -ENOMEM.
 */
int attributes_dummy(struct plan_event *event, const struct attributes_common *common);

/* Mask of user registers for DWARF unwinding on this architecture; 0: unknown. */
uint64_t attributes_user_regs(void);

#endif
