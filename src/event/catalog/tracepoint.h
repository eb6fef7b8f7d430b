/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoints: finds their names and ids in tracefs (Documentation/trace/events.rst, 6.1).
 *
 * No state between calls. One thread.
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

/* Returns the directory of tracefs, static or owned by @env; NULL: it is not mounted. */
const char *tracepoint_root(const struct event_env *env);

/*
 * Appends the tracepoints whose system matches @sys and whose name matches @name. Each is a plain
 * name or an fnmatch(3) pattern; the matches of a pattern are sorted by name. Returns 0 with at
 * least one more tracepoint, -ENOENT (none of that name), -ENXIO (no tracefs), -EACCES (not
 * readable for this user), -EBADMSG or -ENOMEM. Except for -ENOMEM, @err names what to do.
 */
int tracepoint_find(const struct event_env *env, const char *sys, const char *name,
		    struct tracepoint_list *ret, struct error *err);

/* Frees the list; an empty one remains. */
void tracepoint_list_release(struct tracepoint_list *list);

/* Appends the names ("sys:name") of all tracepoints, as far as readable. Returns 0 or -ENOMEM. */
int tracepoint_names(const struct event_env *env, struct name_list *ret);

#endif
