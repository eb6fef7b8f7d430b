// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/syntax/spec.h"

void event_spec_release(struct event_spec *spec)
{
	free(spec->name);
	free(spec->filter);
	free(spec->cpus);
	free(spec->pmu);
	free(spec->place.file);
}

void event_list_release(struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		event_spec_release(&list->specs[i]);
	free(list->specs);
	*list = (struct event_list){0};
}

/* As in perf: a second filter of the same event narrows the first. */
static char *joined_filter(const char *was, const char *filter)
{
	char *joined;

	if (!was)
		return strdup(filter);
	return asprintf(&joined, "(%s) && (%s)", was, filter) < 0 ? NULL : joined;
}

static bool takes_filter(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_TRACEPOINT ||
	       (spec->each && spec->attr.type != PERF_TYPE_BREAKPOINT);
}

int event_set_filter(struct event_list *list, size_t first, const char *filter, struct error *err)
{
	size_t count = list->count > first ? list->count - first : 0;
	char **made;
	int rc = 0;

	if (!count)
		return error_set(err, -EINVAL,
				 "no event stands before the filter: put --filter after its event");
	if (!*filter)
		return error_set(err, -EINVAL, "the filter is empty");
	for (size_t i = first; i < list->count; i++) {
		if (!takes_filter(&list->specs[i]))
			return error_set(err, -EINVAL,
					 "only tracepoints and probes can have a filter, and "
					 "'%.128s' is none",
					 list->specs[i].name);
	}
	made = calloc(count, sizeof(*made));
	for (size_t i = 0; made && !rc && i < count; i++) {
		made[i] = joined_filter(list->specs[first + i].filter, filter);
		rc = made[i] ? 0 : -ENOMEM;
	}
	if (!made)
		return error_sys(err, -ENOMEM, "filter");
	for (size_t i = 0; i < count; i++) {
		if (rc) {
			free(made[i]);
			continue;
		}
		free(list->specs[first + i].filter);
		list->specs[first + i].filter = made[i];
	}
	free(made);
	return rc ? error_sys(err, rc, "filter") : 0;
}
