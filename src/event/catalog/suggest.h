/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of events, and advice for an unknown one: the nearest names, and where to find more.
 *
 * Reads sysfs and tracefs; keeps no state. One thread.
 */
#ifndef RINGTAIL_EVENT_CATALOG_SUGGEST_H
#define RINGTAIL_EVENT_CATALOG_SUGGEST_H

#include <stddef.h>

#include "event/syntax/spec.h"

/*
 * Writes "; did you mean 'a', 'b' or 'c'?" with at most three names similar to @name into @out, or
 * an empty string.
 */
void suggest_event(const struct event_env *env, const char *name, char *out, size_t size);

/*
 * Calls @fn with the name of each event of this machine: the generic ones, those of PMUs, and
 * tracepoints, as far as the caller may read them. A name may come twice.
 */
void suggest_each(const struct event_env *env, void (*fn)(void *arg, const char *name), void *arg);

/* As suggest_event(), with the aliases of one PMU, for an unknown term. */
void suggest_alias(const struct event_env *env, const char *pmu, const char *name, char *out,
		   size_t size);

/* Writes where users can find the names of events like @name, which is unknown. */
void suggest_where(const struct event_env *env, const char *name, char *out, size_t size);

/*
 * Returns a static clause to print after the name of an @event that failed with @rc, if the name
 * belongs to something else (a --trigger, or a probe that does not exist yet); otherwise NULL.
 */
const char *suggest_whose(const char *event, int rc);

#endif
