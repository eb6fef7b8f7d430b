// SPDX-License-Identifier: Apache-2.0
#include "record/open/open.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/plural.h"
#include "record/open/fallback.h"
#include "record/plan/probe_targets.h"
#include "sys/kernel/cgroup.h"
#include "sys/kernel/perf_event.h"

/* Descriptors that a recording may need beside its events: output, timers, libraries. */
#define OTHER_DESCRIPTORS 64

/* Descriptors that every recording opens after its events. */
#define LATER_DESCRIPTORS 8

/* Times that threads are listed and all events opened again, while new threads appear. */
#define LISTINGS 4

/* --- shape -------------------------------------------------------------------------------------
 */

static void close_fds(struct opened *o)
{
	for (size_t i = 0; i < o->nr_rings; i++) {
		perf_event_unmap_aux(o->rings[i].aux, o->rings[i].aux_size);
		o->rings[i].aux = NULL;
		perf_event_unmap(o->rings[i].memory, o->rings[i].data_size);
		o->rings[i].memory = NULL;
		o->rings[i].nr_fds = o->rings[i].nr_lasting = 0;
	}
	for (size_t i = 0; i < o->nr_fds; i++)
		close(o->fds[i].fd);
	o->nr_fds = 0;
}

void opened_close(struct opened *o)
{
	if (!o)
		return;
	close_fds(o);
	throttle_stats_free(o->throttles);
	for (size_t i = 0; i < o->nr_rings; i++)
		free(o->rings[i].fds);
	free(o->rings);
	for (size_t i = 0; i < o->nr_cgroups; i++)
		if (o->cgroups[i] >= 0)
			close(o->cgroups[i]);
	free(o->cgroups);
	free(o->cells);
	free(o->fds);
	free(o);
}

static struct opened *opened_new(const struct plan *plan)
{
	struct opened *o = calloc(1, sizeof(*o));
	size_t places = plan_places(plan);

	if (!o)
		return NULL;
	o->nr_tasks = plan->tasks.nr ? plan->tasks.nr : 1;
	o->nr_places = places;
	o->fds = calloc(plan_descriptors(plan), sizeof(*o->fds));
	o->cells = calloc(plan->nr * places * o->nr_tasks, sizeof(*o->cells));
	o->rings = calloc(RING_KINDS * places, sizeof(*o->rings));
	o->cgroups = calloc(plan->nr, sizeof(*o->cgroups));
	if (!o->fds || !o->cells || !o->rings || !o->cgroups)
		goto failed;
	o->nr_cgroups = plan->nr;
	for (size_t i = 0; i < plan->nr; i++)
		o->cgroups[i] = -1;
	o->nr_rings = RING_KINDS * places;
	for (size_t r = 0; r < o->nr_rings; r++) {
		size_t tasks = plan->task_rings ? 1 : o->nr_tasks;

		o->rings[r].kind = (enum ring_kind)(r / places);
		o->rings[r].cpu = plan->task_rings ? -1 : plan->cpus.ids[r % places];
		o->rings[r].fds = calloc(plan->nr * tasks, sizeof(int));
		if (!o->rings[r].fds)
			goto failed;
	}
	return o;
failed:
	opened_close(o);
	return NULL;
}

static int open_cgroups(struct opened *o, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->nr; i++) {
		if (!plan->events[i].cgroup)
			continue;
		o->cgroups[i] = cgroup_open(plan->events[i].cgroup, err);
		if (o->cgroups[i] < 0)
			return o->cgroups[i];
	}
	return 0;
}

/* --- opening -------------------------------------------------------------------------------------
 */

/* Returns where o->cells keeps the descriptor of a cell. */
static int *cell_of(const struct opened *o, unsigned int event, size_t place, size_t task)
{
	return &o->cells[((size_t)event * o->nr_places + place) * o->nr_tasks + task];
}

/* Opens event @index at @place for task number @t of the plan. */
static int open_cell(struct opened *o, struct plan *plan, unsigned int index, size_t place,
		     size_t t)
{
	struct plan_event *event = &plan->events[index];
	struct open_fd *f = &o->fds[o->nr_fds];
	unsigned int ring = (unsigned int)(plan_ring_kind(event) * o->nr_places + place);
	pid_t task = plan->tasks.nr && !event->all_tasks ? plan->tasks.ids[t] : -1;
	int cpu = o->rings[ring].cpu, group = -1, fd, rc;
	struct pd_attr attr;

	if (event->leader != index) {
		group = *cell_of(o, event->leader, place, t);
		if (group < 0)
			return -ESRCH; /* the leader's task has ended */
	}
	event->attr.size = pd_attr_wire_size(&event->attr);
	fd = probe_targets_attr(event, t, &attr);
	if (!fd && event->cgroup)
		fd = perf_event_open_cgroup(&attr, o->cgroups[index], cpu, group);
	else if (!fd)
		fd = perf_event_open(&attr, task, cpu, group);
	event->attr.size = attr.size; /* the size that the kernel accepted */
	*cell_of(o, index, place, t) = fd;
	if (fd < 0)
		return fd;
	*f = (struct open_fd){.fd = fd, .event = index, .ring = ring, .cpu = cpu, .task = task};
	o->nr_fds++;
	rc = perf_event_id(fd, &f->id);
	f->live = f->id;
	return rc;
}

static bool is_online(int cpu)
{
	struct cpus online;
	bool is;

	if (cpus_online(&online, NULL))
		return true;
	is = cpus_has(&online, cpu);
	cpus_release(&online);
	return is;
}

/*
 * Whether a refused cell is no error: since the listing its task has ended, its CPU gone offline,
 * or one of these has happened to the leader of its group.
 */
static bool cell_vanished(const struct plan *plan, int cpu, int rc)
{
	if (rc == -ESRCH)
		return plan->target != TARGET_COMMAND;
	return rc == -ENODEV && plan->target == TARGET_CPUS && !is_online(cpu);
}

static int open_event(struct opened *o, struct plan *plan, unsigned int index, int *ret_cpu)
{
	for (size_t p = 0; p < o->nr_places; p++) {
		size_t first = plan->task_rings ? p : 0;
		size_t last = plan->task_rings ? p + 1 : o->nr_tasks;

		if (plan->events[index].all_tasks)
			last = first + 1;

		*ret_cpu = o->rings[p].cpu;
		if (!plan_wants(plan, &plan->events[index], *ret_cpu))
			continue;
		for (size_t t = first; t < last; t++) {
			int rc = open_cell(o, plan, index, p, t);

			if (rc && !cell_vanished(plan, *ret_cpu, rc))
				return rc;
		}
	}
	return 0;
}

static size_t descriptors_in_all(const struct plan *plan)
{
	return plan_descriptors(plan) + plan->descriptors_beside + plan->descriptors_spare +
	       OTHER_DESCRIPTORS;
}

/* Raises the limit of descriptors, if allowed. Returns the limit. */
static uint64_t raise_files(const struct plan *plan)
{
	return limits_raise_files(plan->raise_files ? descriptors_in_all(plan) : 0);
}

/* Estimates the descriptors to ask for, when all @have are in use. */
static size_t descriptors_needed(const struct opened *o, const struct plan *plan, uint64_t have)
{
	size_t others = have > o->nr_fds ? have - o->nr_fds : 0;

	return others + plan_descriptors(plan) + plan->descriptors_beside + LATER_DESCRIPTORS;
}

static int explain_files(const struct opened *o, const struct plan *plan, int rc, struct error *err)
{
	size_t places = plan_places(plan), need;
	uint64_t have = raise_files(plan);
	char tasks[48] = "";

	if (rc == -ENFILE)
		return error_set(err, rc, "the system has too many open files (fs.file-max)");
	need = descriptors_needed(o, plan, have);
	if (!plan->task_rings && plan->tasks.nr > 1)
		snprintf(tasks, sizeof(tasks), " for %zu tasks", plan->tasks.nr);
	return error_set(
		err, -EMFILE,
		"%zu open files are needed (%zu event%s on %zu %s%s%s), the limit is %llu: "
		"raise it with 'ulimit -n %zu', or record fewer events, CPUs (-C) or "
		"threads, or without children (-i)",
		need, plan->nr, plural_s(plan->nr), places, plan->task_rings ? "task" : "CPU",
		plural_s(places), tasks, (unsigned long long)have, need);
}

/* Maps the AUX area at the descriptor that has the ring. */
static int map_aux(struct open_ring *ring, const struct plan *plan, int fd)
{
	ring->aux_size = plan->aux_size;
	return perf_event_map_aux(
		fd, ring->memory, ring->data_size, ring->aux_size,
		plan->aux_mode == AUX_FULL ? PERF_EVENT_CONSUME : PERF_EVENT_OVERWRITE, &ring->aux);
}

static uint64_t data_size_of(const struct plan *plan, enum ring_kind kind)
{
	switch (kind) {
	case RING_SIDEBAND: return plan->sideband_size;
	case RING_AUX: return plan->beside_size;
	default: return plan->ring_size;
	}
}

/* Maps the ring with its first event, and sends the records of its other events there. */
static int map_ring(struct opened *o, const struct plan *plan, const struct open_fd *f)
{
	struct open_ring *ring = &o->rings[f->ring];
	enum perf_event_access access =
		ring->kind == RING_OVERWRITTEN ? PERF_EVENT_OVERWRITE : PERF_EVENT_CONSUME;
	int rc;

	if (ring->memory) {
		rc = perf_event_set_output(f->fd, ring->fds[0]);
	} else {
		ring->data_size = data_size_of(plan, ring->kind);
		rc = perf_event_map(f->fd, ring->data_size, access, &ring->memory);
		if (!rc && ring->kind == RING_AUX)
			rc = map_aux(ring, plan, f->fd);
	}
	if (rc)
		return rc;
	ring->fds[ring->nr_fds++] = f->fd;
	ring->nr_lasting += plan->events[f->event].all_tasks;
	return 0;
}

static int map_rings(struct opened *o, const struct plan *plan, size_t first_fd)
{
	int rc = 0;

	for (size_t i = first_fd; !rc && i < o->nr_fds; i++)
		rc = map_ring(o, plan, &o->fds[i]);
	return rc;
}

/*
 * Opens all events and maps their rings, and changes the plan until the kernel accepts it. Returns
 * 0 or the error of open or mmap. Stores an error of mmap in *@ret_map, too, and leaves @err empty
 * then.
 *
 * The dummy, last in the plan, is opened everywhere before any other event, so that it records the
 * fork of every child that inherits an event.
 */
static int open_events(struct opened *o, struct plan *plan, struct fallback *f, int *ret_map,
		       struct error *err)
{
	unsigned int n = 0;
	int rc, cpu = -1;

	*ret_map = 0;
	while (n < plan->nr) {
		unsigned int index = n ? n - 1 : (unsigned int)plan->nr - 1;
		struct plan_event *event = &plan->events[index];
		size_t first_fd = o->nr_fds;

		rc = open_event(o, plan, index, &cpu);
		if (!rc) {
			*ret_map = map_rings(o, plan, first_fd);
			if (*ret_map)
				return *ret_map;
			n++;
			continue;
		}
		if (rc == -EMFILE || rc == -ENFILE)
			return explain_files(o, plan, rc, err);
		if (!fallback_try(f, plan, event, rc))
			return fallback_explain(f, plan, event->dummy ? plan->events : event, cpu,
						rc, err);
		/* The fallback may have changed events that are already open. */
		close_fds(o);
		n = 0;
	}
	if (!o->nr_fds)
		return error_set(err, -ESRCH, "the tasks to record have ended");
	return 0;
}

/* Reports the CPUs that went offline before all their events were open. */
static void say_gone(const struct opened *o, const struct plan *plan,
		     const struct messages *messages)
{
	for (size_t p = 0; plan->target == TARGET_CPUS && p < o->nr_places; p++) {
		int cpu = o->rings[p].cpu;
		bool gone = false;

		for (unsigned int i = 0; i < plan->nr; i++)
			gone |= plan_wants(plan, &plan->events[i], cpu) && *cell_of(o, i, p, 0) < 0;
		if (gone)
			messages_say(messages, MESSAGE_WARNING,
				     "CPU %d has gone offline and is not recorded", cpu);
	}
}

static int explain_filter(const struct plan_event *event, int rc, struct error *err)
{
	if (event->aux && rc == -EOPNOTSUPP)
		return error_set(err, rc,
				 "%s cannot have the filter '%s': a filter in a file needs events "
				 "that follow tasks (no -a, no -C), and not all hardware has "
				 "start and stop",
				 event->name, event->filter);
	if (event->aux && rc == -EINVAL)
		return error_set(err, rc,
				 "the kernel refuses the filter '%s' for %s: addresses must be in "
				 "what the event traces, the kernel (:k) or programs (:u)",
				 event->filter, event->name);
	if (rc == -EINVAL)
		return error_set(err, rc,
				 "the kernel refuses the filter '%s' for %s: its fields are in the "
				 "format file of the tracepoint",
				 event->filter, event->name);
	return error_sys(err, rc, "filter '%s' for %s", event->filter, event->name);
}

static int set_filters(struct opened *o, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < o->nr_fds; i++) {
		const struct plan_event *event = &plan->events[o->fds[i].event];
		int rc = event->filter ? perf_event_set_filter(o->fds[i].fd, event->filter) : 0;

		if (rc)
			return explain_filter(event, rc, err);
	}
	return 0;
}

static int explain_map(const struct plan *plan, const struct limits *limits, int rc,
		       struct error *err)
{
	bool mb = plan->ring_size >= 1 << 20;

	if (rc == -EPERM)
		return error_set(err, rc,
				 "ringtail may not lock even the smallest rings "
				 "(kernel.perf_event_mlock_kb is %llu, RLIMIT_MEMLOCK %llu bytes): "
				 "raise one of them, or use CAP_IPC_LOCK",
				 (unsigned long long)limits->mlock_kb,
				 (unsigned long long)limits->memlock);
	if (rc == -EOPNOTSUPP || (rc == -ENOMEM && plan->aux_mode))
		return error_set(err, rc,
				 rc == -ENOMEM ? "no memory for %zu AUX area%s of %llu KB: give a "
						 "smaller size with -m ,SIZE"
					       : "the PMU has no AUX area (%zu area%s of %llu KB)",
				 plan_aux_areas(plan), plural_s(plan_aux_areas(plan)),
				 (unsigned long long)plan->aux_size / 1024);
	if (rc == -ENOMEM)
		return error_set(
			err, rc, "no memory for %zu ring%s of %llu %s: give a smaller size with -m",
			plan_sample_rings(plan), plural_s(plan_sample_rings(plan)),
			(unsigned long long)plan->ring_size >> (mb ? 20 : 10), mb ? "MB" : "KB");
	return error_sys(err, rc, "cannot map a ring of %llu KB",
			 (unsigned long long)plan->ring_size / 1024);
}

/* Returns false when the rings are at their smallest. */
static bool halve_rings(struct plan *plan, size_t page_size)
{
	uint64_t ring = plan->ring_size, sideband = plan->sideband_size;
	bool aux = plan->aux_size > page_size;

	if (ring <= page_size && sideband <= page_size && !aux)
		return false;
	if (aux)
		plan_set_aux_size(plan, plan->aux_size / 2);
	plan_set_ring_size(plan, ring > page_size ? ring / 2 : ring,
			   sideband > page_size ? sideband / 2 : sideband);
	return true;
}

/* Halves the rings until the kernel lets this user lock them. */
static int open_fitting(struct opened *o, struct plan *plan, const struct limits *limits,
			struct fallback *f, struct error *err)
{
	int rc, map;

	for (;;) {
		rc = open_events(o, plan, f, &map, err);
		if (map != -EPERM || !halve_rings(plan, limits->page_size))
			break;
		close_fds(o); /* reopens them with other watermarks */
	}
	return map ? explain_map(plan, limits, map, err) : rc;
}

/*
 * A thread that starts between the listing and the opening of its parent has no events. So this
 * lists and opens all again, at most LISTINGS times, until no thread is new.
 */
static int open_threads(struct plan *plan, const struct limits *limits, struct fallback *f,
			struct opened **ret, struct error *err)
{
	int rc;

	for (int i = 0; i < LISTINGS; i++) {
		opened_close(*ret);
		*ret = NULL;
		rc = probe_targets_prepare(plan, err);
		if (rc)
			return rc;
		*ret = opened_new(plan);
		if (!*ret)
			return error_set(err, -ENOMEM, "out of memory");
		raise_files(plan);
		rc = open_cgroups(*ret, plan, err);
		if (!rc)
			rc = open_fitting(*ret, plan, limits, f, err);
		if (rc)
			return rc;
		rc = plan_list_threads(plan);
		if (rc <= 0)
			return rc ? error_set(err, rc, "out of memory") : 0;
	}
	return 0;
}

int open_fds_by_id(const struct open_fd *fds, size_t nr, struct id_table *ret)
{
	struct id_table ids = {0};
	int rc = id_table_reserve(&ids, nr);

	for (size_t i = 0; !rc && i < nr; i++)
		rc = id_table_put(&ids, fds[i].id, (uint32_t)i);
	if (rc)
		id_table_release(&ids);
	else
		*ret = ids;
	return rc;
}

int open_plan(struct plan *plan, const struct limits *limits, const struct messages *messages,
	      struct opened **ret, struct error *err)
{
	struct fallback f = {.limits = limits, .messages = messages};
	struct opened *o = NULL;
	int rc = open_threads(plan, limits, &f, &o, err);

	if (!rc)
		rc = set_filters(o, plan, err);
	if (!rc) {
		o->throttles = throttle_stats_new(plan, o->fds, o->nr_fds);
		rc = o->throttles ? 0 : error_set(err, -ENOMEM, "out of memory");
	}
	if (rc) {
		opened_close(o);
		return rc;
	}
	fallback_say(&f, plan);
	probe_targets_say(plan, messages);
	say_gone(o, plan, messages);
	*ret = o;
	return 0;
}

/* --- running -------------------------------------------------------------------------------------
 */

int opened_enable(const struct opened *o, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < o->nr_fds; i++) {
		const struct plan_event *event = &plan->events[o->fds[i].event];
		int rc;

		if (!(event->attr.flags & PD_ATTR_DISABLED))
			continue;
		rc = perf_event_enable(o->fds[i].fd);
		if (rc)
			return error_sys(err, rc, "enabling '%s'", event->name);
	}
	return 0;
}

void opened_disable(const struct opened *o)
{
	for (size_t i = o->nr_fds; i-- > 0;)
		perf_event_disable(o->fds[i].fd);
}

int opened_switch(const struct opened *o, const struct plan *plan, unsigned int index, bool on,
		  struct error *err)
{
	for (size_t i = 0; i < o->nr_fds; i++) {
		int fd = o->fds[i].fd, rc;

		if (o->fds[i].event != index)
			continue;
		rc = on ? perf_event_enable(fd) : perf_event_disable(fd);
		if (rc)
			return error_sys(err, rc, "%s '%s'", on ? "enabling" : "disabling",
					 plan->events[index].name);
	}
	return 0;
}

bool opened_overwrites(const struct opened *o)
{
	for (size_t i = 0; i < o->nr_rings; i++)
		if (o->rings[i].kind == RING_OVERWRITTEN && o->rings[i].memory)
			return true;
	return false;
}

/* Reads the count since the event was opened, or revived. */
static int count_now(const struct open_fd *fd, const struct plan *plan, struct open_count *ret)
{
	const struct plan_event *event = &plan->events[fd->event];
	const struct plan_event *leader = &plan->events[event->leader];
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	int before = event->attr.read_format & times ? 2 : 0; /* words of times */
	uint64_t values[3 + 3 * 64];
	int n;

	if (!(event->attr.read_format & PERF_FORMAT_LOST))
		return -ENOTSUP;
	if (!(event->attr.read_format & PERF_FORMAT_GROUP)) {
		n = perf_event_read(fd->fd, values,
				    3 + (size_t)before); /* value, times, id, lost */
		if (n == 3 + before)
			*ret = (struct open_count){.value = values[0], .lost = values[n - 1]};
		return n == 3 + before ? 0 : -ENOTSUP;
	}
	if (leader->members > 64)
		return -ENOTSUP;
	n = perf_event_read(fd->fd, values, 1 + (size_t)before + 3 * leader->members);
	/* nr, times, nr × {value, id, lost} */
	for (int i = 1 + before; i + 2 < n; i += 3) {
		if (values[i + 1] == fd->live) {
			*ret = (struct open_count){.value = values[i], .lost = values[i + 2]};
			return 0;
		}
	}
	return -ENOTSUP;
}

int opened_count(const struct open_fd *fd, const struct plan *plan, struct open_count *ret)
{
	struct open_count now;
	int rc = count_now(fd, plan, &now);

	if (!rc)
		*ret = (struct open_count){
			.value = fd->before.value + now.value,
			.lost = fd->before.lost + now.lost,
		};
	return rc;
}

int opened_lost(const struct opened *o, const struct plan *plan, uint64_t *ret)
{
	struct open_count count;
	uint64_t sum = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->nr_fds; i++) {
		rc = opened_count(&o->fds[i], plan, &count);
		sum += rc ? 0 : count.lost;
	}
	if (!rc)
		*ret = sum;
	return rc;
}
