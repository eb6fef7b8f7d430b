/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PMUs that write a trace into an AUX area: defaults, checks and trace sinks, as in perf 6.1.
 *
 * For pmu-apply.c. It knows these PMUs by name, because sysfs does not show whether a PMU has an
 * AUX area. Any thread. Source: tools/perf/arch/{x86,arm,arm64}/util (6.1) for the defaults;
 * Documentation/trace/coresight/coresight.rst (6.1) for trace sinks.
 */
#ifndef RINGTAIL_EVENT_CATALOG_PMU_AUX_H
#define RINGTAIL_EVENT_CATALOG_PMU_AUX_H

#include "event/catalog/pmu.h"

/*
 * Whether an event of @pmu with @config writes a trace into an AUX area: by the name of the PMU, or
 * for an unknown one by @env->has_aux.
 */
bool pmu_has_aux(const struct event_env *env, const struct pmu *pmu, uint64_t config);

/* Whether @pmu has defaults, which the user's terms replace in their bits. */
bool pmu_aux_has_defaults(const struct pmu *pmu);

/* Whether @pmu, which has only some CPUs, also follows tasks while they run there. */
bool pmu_aux_follows_tasks(const struct pmu *pmu);

/* Sets the defaults of @pmu, before the user's terms. */
void pmu_aux_defaults(const struct event_env *env, const struct pmu *pmu, struct event_spec *spec);

/*
 * Applies the term "@NAME", which chooses a trace sink. Returns 0, -ENOENT (no such sink) or
 * -ENOMEM.
 */
int pmu_aux_sink(const struct event_env *env, const struct pmu *pmu, const struct term *term,
		 struct event_spec *spec, struct error *err);

/*
 * Completes an event with an AUX area after the user's @terms: sets what depends on them, and
 * checks the values that the kernel would refuse without a reason. Returns 0, -EINVAL or -ENOMEM.
 */
int pmu_aux_finish(const struct event_env *env, const struct pmu *pmu,
		   const struct term_list *terms, struct event_spec *spec, struct error *err);

#endif
