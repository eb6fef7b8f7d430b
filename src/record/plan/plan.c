// SPDX-License-Identifier: Apache-2.0
#include "record/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "record/plan/attributes.h"
#include "record/plan/off_cpu.h"
#include "record/plan/probe_targets.h"

static struct plan_event *plan_push(struct plan *plan)
{
	struct plan_event *event;

	if (array_grow(&plan->events, &plan->capacity, plan->nr + 1, sizeof(*plan->events)))
		return NULL;
	event = &plan->events[plan->nr];
	*event = (struct plan_event){.leader = (unsigned int)plan->nr++, .members = 1};
	return event;
}

/* --- where ------------------------------------------------------------------------------------ */

static int check_cpus(const struct cpus *wanted, const struct cpus *online, struct error *err)
{
	for (size_t i = 0; i < wanted->nr; i++)
		if (!cpus_has(online, wanted->ids[i]))
			return error_set(err, -ENODEV, "CPU %d is not online", wanted->ids[i]);
	return 0;
}

static int plan_where(struct plan *plan, const struct plan_opts *opts, const struct limits *limits,
		      struct error *err)
{
	bool cpu_wide = opts->target.all_cpus || opts->target.cpus.nr;
	struct cpus online;
	int rc;

	if (cpu_wide && opts->target.tasks.nr)
		return error_set(err, -EINVAL,
				 "-a and -C record all tasks of CPUs, -p and -t record single "
				 "tasks: choose one");
	if (cpu_wide && !limits_may_cpu(limits))
		return error_set(
			err, -EACCES,
			"recording whole CPUs needs CAP_PERFMON or kernel.perf_event_paranoid "
			"at 0 or below (it is %d): run as root, lower it with 'sysctl "
			"kernel.perf_event_paranoid=0', or record a command or -p PID",
			limits->paranoid);
	rc = cpus_online(&online, err);
	if (rc)
		return rc;
	plan->online = online.nr;
	plan->target = cpu_wide		       ? TARGET_CPUS
		       : opts->target.tasks.nr ? TARGET_TASKS
					       : TARGET_COMMAND;
	plan->task_rings = !cpu_wide && opts->target.no_inherit;
	rc = check_cpus(&opts->target.cpus, &online, err);
	if (!rc && !plan->task_rings && cpus_copy(&online, &plan->cpus))
		rc = error_set(err, -ENOMEM, "out of memory");
	if (!rc && !plan->task_rings &&
	    cpus_copy(opts->target.cpus.nr ? &opts->target.cpus : &online, &plan->sampled))
		rc = error_set(err, -ENOMEM, "out of memory");
	if (!rc && (tasks_copy(&opts->target.tasks, &plan->tasks) ||
		    tasks_copy(&opts->target.processes, &plan->processes)))
		rc = error_set(err, -ENOMEM, "out of memory");
	cpus_release(&online);
	return rc;
}

/* --- what ------------------------------------------------------------------------------------- */

/* Returns the frequency, lowered to the kernel's limit. */
static int plan_frequency(const struct plan_opts *opts, const struct limits *limits,
			  const struct messages *messages, uint64_t *ret, struct error *err)
{
	uint64_t want = opts->sample.frequency ? opts->sample.frequency : RECORD_FREQUENCY;

	*ret = want;
	if (opts->sample.frequency_max)
		*ret = limits->max_sample_rate;
	if (opts->sample.frequency_max || want <= limits->max_sample_rate || opts->sample.period)
		return 0;
	if (opts->sample.strict_frequency)
		return error_set(
			err, -EINVAL,
			"%llu Hz is above kernel.perf_event_max_sample_rate, and "
			"--strict-freq allows no other frequency: give -F %llu or less, or "
			"'sysctl kernel.perf_event_max_sample_rate=%llu'",
			(unsigned long long)want, (unsigned long long)limits->max_sample_rate,
			(unsigned long long)want);
	*ret = limits->max_sample_rate;
	messages_say(
		messages, MESSAGE_WARNING,
		"%llu Hz is above kernel.perf_event_max_sample_rate: ringtail records at %llu Hz",
		(unsigned long long)want, (unsigned long long)limits->max_sample_rate);
	return 0;
}

/*
 * If rings are by CPU, samples have their CPU, so that a report can show losses by CPU. Of a trace
 * perf reads the switches of tasks by CPU, and fails at one without.
 */
static bool any_cpu_field(const struct plan *plan, const struct plan_opts *opts,
			  const struct event_list *list)
{
	if (!plan->task_rings || opts->sample.add_cpu || opts->sample.add_raw ||
	    opts->scheduling.count)
		return true;
	for (size_t i = 0; i < list->count; i++)
		if (list->specs[i].attr.type == PERF_TYPE_TRACEPOINT || list->specs[i].aux)
			return true;
	return false;
}

/* Whether two strings, which may be NULL, are the same. */
static bool same_string(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Adds a spec of a list, the first of which is number @first of the plan. */
static int plan_add(struct plan *plan, const struct event_spec *spec, size_t first,
		    struct error *err)
{
	struct plan_event *event = plan_push(plan);

	if (event)
		event->name = strdup(spec->name);
	if (!event || !event->name)
		return error_set(err, -ENOMEM, "out of memory");
	event->attr = spec->attr;
	event->filter = spec->filter;
	event->cgroup = spec->cgroup;
	event->place = probe_targets_of(spec);
	event->precise_max = spec->precise_max;
	event->modifier_given = spec->modifier_given;
	event->weak_group = spec->weak_group;
	event->aux = spec->aux;
	event->pmu = spec->pmu;
	event->leader = (unsigned int)(spec->leader + first);
	if (event->leader != plan->nr - 1) {
		event->members = 0;
		plan->events[event->leader].members++;
	}
	event->leads_samples = event->leader + plan->events[event->leader].aux == plan->nr - 1;
	if (!same_string(event->cgroup, plan->events[event->leader].cgroup))
		return error_set(err, -EINVAL,
				 "'%s' and the leader of its group, '%s', have different cgroups: "
				 "give each group one cgroup",
				 event->name, plan->events[event->leader].name);
	if (spec->cgroup && plan->target != TARGET_CPUS)
		return error_set(err, -EINVAL, "-G records cgroups on whole CPUs: add -a or -C");
	if (!spec->cpus)
		return 0;
	if (plan->target != TARGET_CPUS && !spec->core)
		return error_set(err, -EINVAL, "event '%s' counts only whole CPUs: add -a or -C",
				 spec->name);
	return cpus_parse(spec->cpus, &event->only, err);
}

/* Adds all specs first: the attributes depend on the number of members of a group. */
static int plan_events(struct plan *plan, const struct event_list *list,
		       const struct attributes_common *common, struct error *err)
{
	const size_t first = plan->nr;
	int rc = 0;

	for (size_t i = 0; !rc && i < list->count; i++)
		rc = plan_add(plan, &list->specs[i], first, err);
	for (size_t i = 0; !rc && i < list->count; i++)
		rc = attributes_complete(&plan->events[first + i], &list->specs[i], common, err);
	return rc;
}

/*
 * --off-cpu. A thread is woken by another, or by an interrupt of another, and the kernel samples
 * that for the waker. So beside tasks, wakeups are sampled on whole CPUs; switches follow the
 * tasks. Rings by task have no CPU: there only the wakeups that the tasks themselves make are seen.
 */
static int plan_scheduling(struct plan *plan, const struct attributes_common *common,
			   struct error *err)
{
	const struct event_list *list = &plan->opts->scheduling;
	const size_t first = plan->nr;
	int rc = plan_events(plan, list, common, err);

	for (size_t i = first; !rc && i < plan->nr; i++) {
		attributes_without_branches(&plan->events[i]);
		if (plan->target != TARGET_CPUS && !plan->task_rings &&
		    strcmp(plan->events[i].name, OFF_CPU_SWITCH) != 0)
			attributes_of_all_tasks(&plan->events[i], common);
	}
	return rc;
}

/* Whether decoders of a trace need to know when the kernel changes its own code. */
static bool traces_kernel_code(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_event *event = &plan->events[i];

		if (event->aux && event->pmu && !strcmp(event->pmu, "intel_pt") &&
		    !(event->attr.flags & PD_ATTR_EXCLUDE_KERNEL))
			return true;
	}
	return false;
}

static int plan_sideband(struct plan *plan, const struct attributes_common *common,
			 struct error *err)
{
	bool pokes = plan->target == TARGET_CPUS && traces_kernel_code(plan);
	struct plan_event *event = plan_push(plan);

	if (!event || attributes_dummy(event, common))
		return error_set(err, -ENOMEM, "out of memory");
	if (pokes)
		event->attr.flags |= PD_ATTR_TEXT_POKE;
	return 0;
}

/*
 * Data maps resolve sampled data addresses; and perf unwinds stacks only with the maps of
 * .eh_frame, which is data.
 */
static bool needs_data_maps(const struct plan *plan, const struct plan_opts *opts)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return opts->sample.add_address || opts->sample.add_data_maps;
}

static bool any_aux_samples(const struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->specs[i].attr.aux_sample_size)
			return true;
	return false;
}

/*
 * The first sampled event brings the switches: they come as often as samples, so they belong into
 * the rings of these. AUX events have switches of their own.
 */
static void add_switches(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++) {
		enum ring_kind ring = plan_ring_kind(&plan->events[i]);

		if (ring != RING_SAMPLES && ring != RING_OVERWRITTEN)
			continue;
		plan->events[i].attr.flags |= PD_ATTR_CONTEXT_SWITCH;
		return;
	}
}

static int plan_what(struct plan *plan, const struct plan_opts *opts, const struct limits *limits,
		     const struct messages *messages, struct error *err)
{
	struct event_list standard = {0};
	const struct event_list *list = &opts->events;
	struct attributes_common common = {
		.opts = opts,
		.limits = limits,
		.inherit = !opts->target.no_inherit && plan->target != TARGET_CPUS,
		.target = plan->target,
		.delayed = plan->delayed,
		.by_cpu = !plan->task_rings,
		.aux_samples = any_aux_samples(list) && !opts->aux.snapshot,
	};
	int rc = plan_frequency(opts, limits, messages, &common.frequency, err);

	if (rc)
		return rc;
	if (!list->count) {
		rc = event_parse(&standard, "cycles:P", NULL, err);
		if (rc)
			return rc;
		standard.specs[0].modifier_given = false;
		list = &standard;
	}
	common.cpu_wanted = any_cpu_field(plan, opts, list);
	rc = plan_events(plan, list, &common, err);
	if (!rc && list == &standard) {
		plan->events[0].is_default = true;
		strcpy(plan->events[0].name, "cycles"); /* the recorder chooses the precision */
	}
	if (!rc)
		rc = plan_scheduling(plan, &common, err);
	/* An event that follows a task does not see the switch to it, which another task makes. */
	if (!rc &&
	    (opts->sample.add_switches || (opts->scheduling.count && plan->target != TARGET_CPUS)))
		add_switches(plan);
	common.data_maps = needs_data_maps(plan, opts);
	if (!rc)
		rc = plan_sideband(plan, &common, err);
	event_list_release(&standard);
	return rc;
}

bool plan_build_ids(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].attr.flags & PD_ATTR_BUILD_ID)
			return true;
	return false;
}

bool plan_data_maps(const struct plan *plan)
{
	return plan->events[plan->nr - 1].attr.flags & PD_ATTR_MMAP_DATA;
}

/*
 * Returns the largest ring of samples, in bytes, that fits beside sideband rings of @sideband
 * bytes. Places without samples have sideband rings, too.
 */
static uint64_t ring_size_beside(const struct plan *plan, const struct limits *limits,
				 uint64_t sideband)
{
	uint64_t all = plan_places(plan) * (sideband + limits->page_size) +
		       plan_aux_areas(plan) * (sideband + limits->page_size + plan->aux_size);
	size_t rings = plan_sample_rings(plan);

	return limits_ring_size(limits, RECORD_RING_SIZE, rings, rings ? all / rings : 0,
				plan->online);
}

/*
 * Chooses the largest rings of samples that may be locked, and then the largest sideband rings.
 * Sideband rings shrink for them down to PLAN_SIDEBAND_LEAST, or to a quarter of the sample rings.
 */
static void set_default_sizes(struct plan *plan, const struct limits *limits)
{
	uint64_t best = 0, best_sideband = PLAN_SIDEBAND_SIZE;

	for (uint64_t s = PLAN_SIDEBAND_SIZE; s >= limits->page_size; s /= 2) {
		uint64_t size = ring_size_beside(plan, limits, s);

		if (s < PLAN_SIDEBAND_LEAST && s < size / 4)
			break;
		if (size <= best)
			continue;
		best = size;
		best_sideband = s;
	}
	plan_set_ring_size(plan, best, best_sideband);
}

/* Chooses how AUX areas are read, and their size. */
static void plan_aux(struct plan *plan, const struct limits *limits)
{
	const struct aux_opts *opts = &plan->opts->aux;
	uint64_t size =
		limits->ipc_lock || limits->paranoid < 0 ? RECORD_AUX_SIZE : RECORD_AUX_SIZE_USER;
	bool samples = false;

	for (size_t i = 0; i < plan->nr; i++) {
		if (plan->events[i].aux)
			plan->aux_mode = AUX_FULL;
		samples |= plan->events[i].attr.aux_sample_size;
	}
	if (plan->aux_mode == AUX_NONE)
		return;
	if (opts->snapshot)
		plan->aux_mode = AUX_SNAPSHOT;
	else if (samples)
		plan->aux_mode = AUX_SAMPLE;
	if (opts->size)
		size = opts->size;
	while (size < opts->snapshot_size)
		size *= 2;
	plan_set_aux_size(plan, size);
}

int plan_new(const struct plan_opts *opts, const struct limits *limits,
	     const struct messages *messages, struct plan **ret, struct error *err)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	int rc;

	if (!plan)
		return error_set(err, -ENOMEM, "out of memory");
	plan->opts = opts;
	plan->raise_files = opts->raise_files;
	plan->delayed = opts->delay_ms || opts->start_disabled || opts->nr_spans;
	plan->unbuffered = opts->unbuffered;
	rc = plan_where(plan, opts, limits, err);
	if (!rc)
		rc = plan_what(plan, opts, limits, messages, err);
	if (rc) {
		plan_free(plan);
		return rc;
	}
	plan_aux(plan, limits);
	if (opts->ring_size)
		plan_set_ring_size(plan, opts->ring_size, PLAN_SIDEBAND_SIZE);
	else
		set_default_sizes(plan, limits);
	*ret = plan;
	return 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nr; i++) {
		free(plan->events[i].name);
		probe_targets_release(&plan->events[i]);
		cpus_release(&plan->events[i].only);
	}
	free(plan->events);
	cpus_release(&plan->cpus);
	cpus_release(&plan->sampled);
	tasks_release(&plan->tasks);
	tasks_release(&plan->processes);
	free(plan);
}

int plan_set_command(struct plan *plan, pid_t pid)
{
	if (plan->target != TARGET_COMMAND)
		return 0;
	if (array_grow(&plan->tasks.ids, &plan->tasks.capacity, 1, sizeof(pid_t)))
		return -ENOMEM;
	plan->tasks.ids[0] = pid;
	plan->tasks.nr = 1;
	return 0;
}

int plan_list_threads(struct plan *plan)
{
	size_t before = plan->tasks.nr;

	/* An ended process has no threads that the recording could miss. */
	for (size_t i = 0; i < plan->processes.nr; i++)
		if (tasks_add_threads(&plan->tasks, plan->processes.ids[i], NULL) == -ENOMEM)
			return -ENOMEM;
	return plan->tasks.nr > before;
}

#define WAKE_MAX (1ull << 20) /* bytes */

static uint64_t wake_at(uint64_t bytes)
{
	return bytes / 4 < WAKE_MAX ? bytes / 4 : WAKE_MAX;
}

/*
 * A ring of samples wakes the reader when it is a quarter full, or at WAKE_MAX; the rest holds the
 * records that come until the reader runs. Measured, CPU time of the recorder a sample in a storm:
 * rings of 512 KB, 0.071 µs when woken at a quarter, 0.057 at half; rings of 8 MB, 0.063 at half,
 * 0.055 at 2 MB, 0.054 at 1 MB, 0.071 at 256 KB. Nothing was lost in those rounds. But in two of
 * three others 512 KB at half lost 0.3 and 0.001 %, and a loss outweighs the CPU time.
 *
 * An overwrite ring wakes nobody. Unbuffered, each sample wakes the reader; other records wake it
 * only by a watermark, so sideband rings then have a watermark of 1 byte. Otherwise each map wakes
 * it, so that it reads build-ids and perf-PID.map files while they exist: no MMAP2 record is
 * shorter than 104 bytes. At 256 the maps of a library and of a JIT's code on one CPU woke nobody.
 */
void plan_set_ring_size(struct plan *plan, uint64_t bytes, uint64_t sideband)
{
	plan->ring_size = bytes;
	plan->sideband_size = sideband;
	/* A plan of events that are only watched has no options. */
	plan->beside_size =
		plan->opts && plan->opts->ring_size && bytes > sideband ? bytes : sideband;
	for (size_t i = 0; i < plan->nr; i++) {
		struct plan_event *event = &plan->events[i];
		const uint64_t watermarks[RING_KINDS] = {
			[RING_SAMPLES] = wake_at(bytes),
			[RING_OVERWRITTEN] = bytes,
			[RING_SIDEBAND] = PLAN_SIDEBAND_WAKE,
			/* The area has a watermark of its own: plan_set_aux_size(). */
			[RING_AUX] = plan->aux_mode == AUX_FULL ? wake_at(plan->beside_size)
								: PLAN_AUX_WAKE,
		};

		event->attr.flags |= PD_ATTR_WATERMARK;
		event->attr.wakeup_events = (uint32_t)watermarks[plan_ring_kind(event)];
		if (!plan->unbuffered || event->overwrite)
			continue;
		event->attr.wakeup_events = 1;
		if (!event->dummy)
			event->attr.flags &= ~PD_ATTR_WATERMARK;
	}
}

/*
 * With a full trace, a quarter of the area wakes the reader; the rest holds what comes until it
 * runs. (The kernel's default is half.)
 */
void plan_set_aux_size(struct plan *plan, uint64_t bytes)
{
	plan->aux_size = bytes;
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].aux && plan->aux_mode == AUX_FULL)
			plan->events[i].attr.aux_watermark = (uint32_t)(bytes / 4);
}

size_t plan_places(const struct plan *plan)
{
	size_t tasks = plan->tasks.nr ? plan->tasks.nr : 1;

	return plan->task_rings ? tasks : plan->cpus.nr;
}

enum ring_kind plan_ring_kind(const struct plan_event *event)
{
	if (event->dummy || event->aux)
		return event->dummy ? RING_SIDEBAND : RING_AUX;
	return event->overwrite ? RING_OVERWRITTEN : RING_SAMPLES;
}

static void count_rings(const struct plan *plan, size_t ret[RING_KINDS])
{
	for (size_t place = 0; place < plan_places(plan); place++) {
		int cpu = plan->task_rings ? -1 : plan->cpus.ids[place];
		bool used[RING_KINDS] = {0};

		for (size_t i = 0; i < plan->nr; i++)
			if (plan_wants(plan, &plan->events[i], cpu))
				used[plan_ring_kind(&plan->events[i])] = true;
		for (int kind = 0; kind < RING_KINDS; kind++)
			ret[kind] += used[kind];
	}
}

size_t plan_sample_rings(const struct plan *plan)
{
	size_t rings[RING_KINDS] = {0};

	count_rings(plan, rings);
	return rings[RING_SAMPLES] + rings[RING_OVERWRITTEN];
}

size_t plan_aux_areas(const struct plan *plan)
{
	size_t rings[RING_KINDS] = {0};

	count_rings(plan, rings);
	return rings[RING_AUX];
}

bool plan_overwrites(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].overwrite)
			return true;
	return false;
}

bool plan_has_cpu_events(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].all_tasks)
			return true;
	return plan->target == TARGET_CPUS;
}

bool plan_wants(const struct plan *plan, const struct plan_event *event, int cpu)
{
	if (plan->task_rings || event->dummy)
		return true;
	return cpus_has(&plan->sampled, cpu) && (!event->only.nr || cpus_has(&event->only, cpu));
}

size_t plan_descriptors(const struct plan *plan)
{
	size_t tasks = plan->tasks.nr ? plan->tasks.nr : 1, cells = 0;

	if (plan->task_rings)
		return plan->nr * tasks;
	for (size_t e = 0; e < plan->nr; e++)
		for (size_t c = 0; c < plan->cpus.nr; c++)
			if (plan_wants(plan, &plan->events[e], plan->cpus.ids[c]))
				cells += plan->events[e].all_tasks ? 1 : tasks;
	return cells;
}

unsigned int plan_sample_time_at(const struct plan *plan)
{
	uint64_t type = plan->events[0].attr.sample_type;

	/* header, IDENTIFIER, IP, TID, TIME: alike in all events (attributes.c, set_common()) */
	return type & PERF_SAMPLE_TIME ? 32 : 0;
}
