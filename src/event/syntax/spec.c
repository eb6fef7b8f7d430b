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
	free(spec->cgroup);
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

int event_spec_narrow(struct event_spec *spec, const char *filter, struct error *err)
{
	char *made;

	if (!takes_filter(spec))
		return error_set(err, -EINVAL,
				 "only tracepoints and probes can have a filter, and '%.128s' is "
				 "none",
				 spec->name);
	made = joined_filter(spec->filter, filter);
	if (!made)
		return error_sys(err, -ENOMEM, "filter");
	free(spec->filter);
	spec->filter = made;
	return 0;
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

/* --- cgroups -------------------------------------------------------------------------------------
 */

static size_t count_names(const char *names)
{
	size_t n = 1;

	for (const char *p = names; *p; p++)
		n += *p == ',';
	return n;
}

/* Sets the cgroup, if @len is not 0, and with @suffix adds it to the name. */
static int set_cgroup(struct event_spec *spec, const char *name, size_t len, bool suffix)
{
	char *cgroup, *longer = NULL;

	if (!len)
		return 0;
	cgroup = strndup(name, len);
	if (!cgroup)
		return -ENOMEM;
	if (suffix && asprintf(&longer, "%s@%s", spec->name, cgroup) < 0) {
		free(cgroup);
		return -ENOMEM;
	}
	if (longer) {
		free(spec->name);
		spec->name = longer;
	}
	free(spec->cgroup);
	spec->cgroup = cgroup;
	return 0;
}

int event_list_cgroups(struct event_list *list, const char *names, struct error *err)
{
	size_t nr = count_names(names), free_events = 0;
	const char *p = names;

	for (size_t i = 0; i < list->count; i++)
		free_events += !list->specs[i].cgroup;
	if (nr > free_events)
		return error_set(err, -EINVAL,
				 "%zu cgroup%s for %zu event%s: give the events first", nr,
				 nr == 1 ? "" : "s", free_events, free_events == 1 ? "" : "s");
	for (size_t i = 0; i < list->count; i++) {
		size_t len = strcspn(p, ",");

		if (list->specs[i].cgroup)
			continue;
		if (set_cgroup(&list->specs[i], p, len, nr > 1))
			return error_sys(err, -ENOMEM, "cgroup");
		if (nr == 1)
			continue;
		if (!p[len])
			break;
		p += len + 1;
	}
	return 0;
}

/* Strings that are absent stay so. Returns false if memory runs out. */
static bool copy_string(char **s)
{
	*s = *s ? strdup(*s) : NULL;
	return *s;
}

static int copy_spec(const struct event_spec *from, struct event_spec *ret)
{
	struct event_spec copy = *from;
	bool whole = copy_string(&copy.name);

	whole &= copy_string(&copy.filter) || !from->filter;
	whole &= copy_string(&copy.cgroup) || !from->cgroup;
	whole &= copy_string(&copy.cpus) || !from->cpus;
	whole &= copy_string(&copy.pmu) || !from->pmu;
	whole &= copy_string(&copy.place.file) || !from->place.file;
	if (!whole) {
		event_spec_release(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

int event_list_each_cgroup(struct event_list *list, const char *names, struct error *err)
{
	size_t nr = count_names(names);
	struct event_list made = {0};
	const char *p = names;
	int rc = 0;

	made.specs = calloc(nr * list->count + 1, sizeof(*made.specs));
	if (!made.specs)
		return error_sys(err, -ENOMEM, "cgroup");
	for (size_t n = 0; !rc && n < nr; n++, p += strcspn(p, ",") + 1) {
		size_t len = strcspn(p, ","), first = made.count;

		if (!len)
			rc = error_set(err, -EINVAL, "the name of a cgroup is empty");
		for (size_t i = 0; !rc && i < list->count; i++) {
			struct event_spec *spec = &made.specs[made.count];

			rc = copy_spec(&list->specs[i], spec);
			if (rc)
				break;
			spec->leader += (int)first;
			made.count++;
			rc = set_cgroup(spec, p, len, true);
		}
	}
	if (rc) {
		event_list_release(&made);
		return rc == -ENOMEM ? error_sys(err, rc, "cgroup") : rc;
	}
	made.capacity = nr * list->count + 1;
	event_list_release(list);
	*list = made;
	return 0;
}
