// SPDX-License-Identifier: Apache-2.0
#include "count/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count/attributes.h"
#include "perfdata/attr.h"
#include "sys/kernel/perf_event.h"
#include "sys/kernel/tasks.h"

/* Descriptors of a process beside its counters. */
#define OTHER_DESCRIPTORS 64

static int *fd_of(const struct counters *c, size_t event, size_t place)
{
	return &c->fds[event * counters_places(c) + place];
}

size_t counters_places(const struct counters *c)
{
	return c->nr_cpus * c->nr_tasks;
}

bool counters_has(const struct counters *c, size_t event, size_t place)
{
	return *fd_of(c, event, place) >= 0;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->fds && i < c->nr_events * counters_places(c); i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	for (size_t i = 0; c->events && i < c->nr_events; i++)
		count_event_release(&c->events[i]);
	free(c->events);
	free(c->fds);
	free(c);
}

static struct counters *counters_new(const struct event_list *events,
				     const struct count_targets *targets)
{
	struct counters *c = calloc(1, sizeof(*c));
	size_t nr;

	if (!c)
		return NULL;
	c->targets = targets;
	c->nr_events = events->count;
	c->nr_cpus = targets->cpus.nr ? targets->cpus.nr : 1;
	c->nr_tasks = targets->tasks.nr ? targets->tasks.nr : 1;
	nr = c->nr_events * counters_places(c);
	c->events = calloc(c->nr_events + 1, sizeof(*c->events));
	c->fds = malloc((nr + 1) * sizeof(*c->fds));
	for (size_t i = 0; c->fds && i < nr; i++)
		c->fds[i] = -1;
	if (c->events && c->fds)
		return c;
	counters_close(c);
	return NULL;
}

/* Whether @event counts on @cpu (-1: any). A PMU of the whole chip counts no tasks. */
static bool wants(const struct count_event *event, const struct counters *c, int cpu)
{
	const struct event_spec *spec = event->spec;
	struct cpus only;
	bool is;

	if (!spec->cpus)
		return true;
	if (cpu < 0)
		return spec->core;
	if (c->targets->tasks.nr && !spec->core)
		return false;
	if (cpus_parse(spec->cpus, &only, NULL))
		return true;
	is = cpus_has(&only, cpu);
	cpus_release(&only);
	return is;
}

/* Errors by which the kernel says that the machine does not count this. */
static bool is_unsupported(int rc)
{
	return rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENXIO || rc == -ENOSYS;
}

static int open_one(struct counters *c, size_t index, size_t place)
{
	const struct count_targets *targets = c->targets;
	struct count_event *event = &c->events[index];
	size_t leader = (size_t)event->spec->leader;
	int cpu = targets->cpus.nr ? targets->cpus.ids[place % c->nr_cpus] : -1;
	pid_t task = targets->tasks.nr ? targets->tasks.ids[place / c->nr_cpus] : -1;
	int group = -1;

	if (!wants(event, c, cpu))
		return 0;
	if (leader != index) {
		group = *fd_of(c, leader, place);
		if (group < 0)
			return c->events[leader].supported ? 0 : -ENOENT;
	}
	event->attr.size = pd_attr_wire_size(&event->attr);
	*fd_of(c, index, place) = perf_event_open(&event->attr, task, cpu, group);
	return *fd_of(c, index, place) < 0 ? *fd_of(c, index, place) : 0;
}

/* Opens an event at all places. The task or the CPU of a place may have vanished: no error. */
static int open_everywhere(struct counters *c, size_t index)
{
	for (size_t place = 0; place < counters_places(c); place++) {
		int rc = open_one(c, index, place);

		if (rc == -ESRCH || (rc == -ENODEV && c->targets->cpus.nr))
			continue;
		if (rc)
			return rc;
		c->events[index].supported |= counters_has(c, index, place);
	}
	return 0;
}

static int explain_denied(const struct counters *c, const struct count_event *event,
			  const struct limits *limits, int rc, struct error *err)
{
	const struct tasks *tasks = &c->targets->tasks;
	uid_t uid;

	for (size_t i = 0; i < tasks->nr; i++)
		if (task_is_of_another(tasks->ids[i], &uid))
			return error_set(
				err, rc,
				"process %d belongs to another user (uid %u): run ringtail "
				"as root",
				task_process(tasks->ids[i]), uid);
	return error_set(err, rc,
			 "'%.128s': this user may not count %s: kernel.perf_event_paranoid "
			 "is %d; run ringtail as root, or with CAP_PERFMON",
			 event->name, tasks->nr ? "it" : "whole CPUs", limits->paranoid);
}

static int explain(const struct counters *c, const struct count_event *event,
		   const struct limits *limits, int rc, struct error *err)
{
	switch (rc) {
	case -EACCES:
	case -EPERM: return explain_denied(c, event, limits, rc, err);
	case -EMFILE:
		return error_set(err, rc,
				 "%zu counters are more than the limit of open files: 'ulimit -n'",
				 c->nr_events * counters_places(c));
	case -EINVAL:
		return error_set(err, rc, "'%.128s': the kernel refuses this event%s", event->name,
				 event->spec->leader != (int)(event - c->events)
					 ? ": its group does not fit the PMU"
					 : "");
	case -EBUSY:
		return error_set(err, rc,
				 "'%.128s': the PMU is in use by a debugger or a pinned event",
				 event->name);
	default: return error_sys(err, rc, "'%.128s'", event->name);
	}
}

static int open_event(struct counters *c, size_t index, const struct limits *limits,
		      struct error *err)
{
	struct count_event *event = &c->events[index];
	int rc = open_everywhere(c, index);

	/* PMUs of the whole chip exclude nothing, and refuse to be asked for it. */
	if ((rc == -EINVAL || rc == -EOPNOTSUPP) && !event->supported &&
	    !event->spec->modifier_given && (event->attr.flags & PD_ATTR_EXCLUDE_GUEST)) {
		event->attr.flags &= ~PD_ATTR_EXCLUDE_GUEST;
		rc = open_everywhere(c, index);
	}
	if ((rc == -EACCES || rc == -EPERM) && !event->supported && !limits_may_kernel(limits) &&
	    !event->spec->modifier_given && !(event->attr.flags & PD_ATTR_EXCLUDE_KERNEL)) {
		rc = count_event_user_only(event);
		if (!rc)
			rc = open_everywhere(c, index);
	}
	if (!rc || (is_unsupported(rc) && !event->supported))
		return 0;
	return explain(c, event, limits, rc, err);
}

/* The kernel checks a filter when it is set. */
static int set_filters(const struct counters *c, size_t index, struct error *err)
{
	const struct event_spec *spec = c->events[index].spec;

	for (size_t place = 0; spec->filter && place < counters_places(c); place++) {
		int rc = counters_has(c, index, place)
				 ? perf_event_set_filter(*fd_of(c, index, place), spec->filter)
				 : 0;

		if (rc)
			return error_sys(err, rc,
					 "'%.128s': the kernel refuses the filter '%.128s'",
					 c->events[index].name, spec->filter);
	}
	return 0;
}

int counters_open(const struct event_list *events, const struct count_targets *targets,
		  const struct event_env *env, const struct limits *limits, struct counters **ret,
		  struct error *err)
{
	struct counters *c = counters_new(events, targets);
	int rc = 0;

	if (!c)
		return error_set(err, -ENOMEM, "out of memory");
	limits_raise_files(c->nr_events * counters_places(c) + OTHER_DESCRIPTORS);
	for (size_t i = 0; !rc && i < c->nr_events; i++) {
		const struct event_spec *spec = &events->specs[i];

		rc = count_event_init(&c->events[i], spec, targets, spec->leader == (int)i, env,
				      err);
		if (!rc)
			rc = open_event(c, i, limits, err);
		if (!rc)
			rc = set_filters(c, i, err);
	}
	if (rc) {
		counters_close(c);
		return rc;
	}
	*ret = c;
	return 0;
}

/* Members of a group run when their leader does. */
static bool leads(const struct counters *c, size_t event)
{
	return c->events[event].spec->leader == (int)event;
}

int counters_enable(const struct counters *c, struct error *err)
{
	for (size_t i = 0; i < c->nr_events; i++) {
		for (size_t place = 0; leads(c, i) && place < counters_places(c); place++) {
			int rc = counters_has(c, i, place) ? perf_event_enable(*fd_of(c, i, place))
							   : 0;

			if (rc)
				return error_sys(err, rc, "'%.128s': cannot start it",
						 c->events[i].name);
		}
	}
	return 0;
}

void counters_disable(const struct counters *c)
{
	for (size_t i = 0; i < c->nr_events; i++)
		for (size_t place = 0; leads(c, i) && place < counters_places(c); place++)
			if (counters_has(c, i, place))
				perf_event_disable(*fd_of(c, i, place));
}

int counters_read(const struct counters *c, size_t event, size_t place, struct count_value *ret,
		  struct error *err)
{
	uint64_t words[3];
	int rc;

	*ret = (struct count_value){0};
	if (!counters_has(c, event, place))
		return 0;
	rc = perf_event_read(*fd_of(c, event, place), words, 3);
	/* End of file: a pinned event that the PMU could not keep (perf_event_open(2)). */
	if (!rc)
		return 0;
	if (rc < 0)
		return error_sys(err, rc, "'%.128s': cannot read the counter",
				 c->events[event].name);
	*ret = (struct count_value){words[0], words[1], words[2]};
	return 0;
}
