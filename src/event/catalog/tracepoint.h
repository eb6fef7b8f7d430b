/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads names and numbers of tracepoints from tracefs. No state; one thread.
 *
 * Source: Documentation/trace/events.rst (6.1).
 */
#ifndef RINGTAIL_EVENT_CATALOG_TRACEPOINT_H
#define RINGTAIL_EVENT_CATALOG_TRACEPOINT_H

#include <stdint.h>

#include "event/syntax/spec.h"
#include "event/catalog/pmu.h"

struct tracepoint {
	char *name; /* "sys:name" */
	uint64_t id;
};

struct tracepoint_list {
	struct tracepoint *items;
	size_t count, cap;
};

/* Returns the directory of tracefs, a static string or one of @env; NULL if it is not mounted. */
const char *tracepoint_root(const struct event_env *env);

/*
 * Appends the tracepoints that match @sys and @name, plain names or fnmatch(3) patterns; those of a
 * pattern sorted by name. Returns 0 with at least one more, -ENOENT (no match), -ENXIO (no
 * tracefs), -EACCES (this user may not read it), -EBADMSG or -ENOMEM. The texts of all but -ENOMEM
 * contain advice.
 */
int tracepoint_find(const struct event_env *env, const char *sys, const char *name,
		    struct tracepoint_list *ret, struct error *err);

/* Frees the tracepoints and empties the list. */
void tracepoint_list_release(struct tracepoint_list *list);

/* Appends the names ("sys:name") of all readable tracepoints. Returns 0 or -ENOMEM. */
int tracepoint_names(const struct event_env *env, struct name_list *ret);

#endif
