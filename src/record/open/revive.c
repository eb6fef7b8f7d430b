// SPDX-License-Identifier: Apache-2.0
#include "record/open/revive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/plan/probe_targets.h"
#include "sys/kernel/perf_event.h"

/* A new event, and the descriptor it takes over. */
struct heir {
	struct open_fd *of;
	int fd; /* -1: none yet */
	uint64_t id;
};

struct heirs {
	struct heir *all; /* in the order of opening */
	size_t nr;
};

/* The kernel keeps the events of tasks. */
static bool is_of(const struct open_fd *f, int cpu)
{
	return f->cpu == cpu && f->task == -1;
}

static int list(struct opened *o, int cpu, struct heirs *ret)
{
	*ret = (struct heirs){.all = calloc(o->nr_fds + 1, sizeof(*ret->all))};
	if (!ret->all)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr_fds; i++)
		if (is_of(&o->fds[i], cpu))
			ret->all[ret->nr++] = (struct heir){.of = &o->fds[i], .fd = -1};
	return 0;
}

/* Returns the new descriptor of the leader of @event's group; -1: it leads itself. */
static int leader_of(const struct heirs *h, const struct plan *plan, unsigned int event)
{
	unsigned int leader = plan->events[event].leader;

	for (size_t i = 0; leader != event && i < h->nr; i++)
		if (h->all[i].of->event == leader)
			return h->all[i].fd;
	return -1;
}

static int open_heir(const struct opened *o, const struct heirs *h, const struct plan *plan,
		     struct heir *heir)
{
	const struct plan_event *event = &plan->events[heir->of->event];
	struct pd_attr attr;
	int fd, rc;

	if (event->attr.sample_type & PERF_SAMPLE_READ)
		return -ENOTSUP;
	rc = probe_targets_attr(event, 0, &attr);
	if (rc)
		return rc;
	/* revive_enable() knows whether it runs. */
	if (event->all_tasks)
		attr.flags |= PD_ATTR_DISABLED;
	fd = leader_of(h, plan, heir->of->event);
	fd = event->cgroup
		     ? perf_event_open_cgroup(&attr, o->cgroups[heir->of->event], heir->of->cpu, fd)
		     : perf_event_open(&attr, -1, heir->of->cpu, fd);
	if (fd < 0)
		return fd;
	heir->fd = fd;
	rc = perf_event_id(fd, &heir->id);
	return rc || !event->filter ? rc : perf_event_set_filter(fd, event->filter);
}

/* Registers the id first: after perf_event_set_output() the ring may hold records with it. */
static int join_ring(const struct opened *o, const struct heir *heir, struct renumber *ids)
{
	int rc = ids ? renumber_add(ids, heir->id, heir->of->id) : 0;

	return rc ? rc : perf_event_set_output(heir->fd, o->rings[heir->of->ring].fds[0]);
}

static int take_over(const struct plan *plan, struct heir *heir)
{
	struct open_fd *of = heir->of;
	struct open_count count;
	bool counted = !opened_count(of, plan, &count);

	if (dup3(heir->fd, of->fd, O_CLOEXEC) < 0)
		return -errno;
	of->live = heir->id;
	if (counted)
		of->before = count;
	return 0;
}

int revive_cpu(struct opened *o, const struct plan *plan, int cpu, struct renumber *ids)
{
	struct heirs h;
	int rc = list(o, cpu, &h);

	if (!rc && !h.nr)
		rc = -ENOENT;
	for (size_t i = 0; !rc && i < h.nr; i++)
		rc = open_heir(o, &h, plan, &h.all[i]);
	for (size_t i = 0; !rc && i < h.nr; i++)
		rc = join_ring(o, &h.all[i], ids);
	for (size_t i = 0; !rc && i < h.nr; i++)
		rc = take_over(plan, &h.all[i]);
	for (size_t i = 0; i < h.nr; i++)
		if (h.all[i].fd >= 0)
			close(h.all[i].fd);
	free(h.all);
	return rc;
}

void revive_enable(const struct opened *o, const struct plan *plan, int cpu, const bool *running)
{
	for (size_t i = 0; i < o->nr_fds; i++) {
		const struct open_fd *f = &o->fds[i];
		const struct plan_event *event = &plan->events[f->event];

		if (is_of(f, cpu) && (!running || running[f->event]) &&
		    (event->all_tasks || event->attr.flags & PD_ATTR_DISABLED))
			perf_event_enable(f->fd);
	}
}
