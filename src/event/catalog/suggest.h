/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nearest known names to one that is not known. Pure but for reading sysfs and tracefs.
 */
#ifndef RINGTAIL_EVENT_CATALOG_SUGGEST_H
#define RINGTAIL_EVENT_CATALOG_SUGGEST_H

#include <stddef.h>

#include "event/syntax/spec.h"

/*
 * Writes "; did you mean 'a', 'b' or 'c'?" with at most three names near to @name into @out, or an
 * empty string.
 */
void suggest_event(const struct event_env *env, const char *name, char *out, size_t size);

/* The same over the aliases of one PMU, for a term that is none. */
void suggest_alias(const struct event_env *env, const char *pmu, const char *name, char *out,
		   size_t size);

/* Writes where the names of events can be found that are like @name, which is none. */
void suggest_where(const struct event_env *env, const char *name, char *out, size_t size);

/*
 * Of an event that failed by @code: what is written so otherwise, to stand behind it in a sentence;
 * or NULL.
 */
const char *suggest_whose(const char *event, int rc);

#endif
