// SPDX-License-Identifier: Apache-2.0
#include "record/plan/aux_rules.h"

#include <errno.h>
#include <string.h>

#define START_PAUSED 1u
#define ACTIONS	     6u /* pause, resume */

/* Traces that perf decodes. AUXTRACE_INFO describes one of them in a file. */
static const struct trace_kind {
	const char *name; /* the PMU's; numbers may follow */
	bool can_sample;  /* its driver implements pmu.snapshot_aux (kernel 6.18) */
	bool can_snapshot;
	bool own_clock; /* the trace has its own clock */
} kinds[] = {
	{"intel_pt", true, true, true},	   {"intel_bts", false, true, true},
	{"cs_etm", false, true, true},	   {"arm_spe", false, true, false},
	{"hisi_ptt", false, false, false},
};

static const struct trace_kind *kind_of(const struct event_spec *e)
{
	for (size_t i = 0; e->pmu && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(e->pmu, kinds[i].name, strlen(kinds[i].name)) == 0)
			return &kinds[i];
	return NULL;
}

/* --- groups ----------------------------------------------------------------------------------- */

static bool needs_group(const struct event_spec *e)
{
	return e->attr.aux_sample_size || e->attr.aux_action & ACTIONS ||
	       e->attr.flags & PD_ATTR_AUX_OUTPUT;
}

static bool is_alone(const struct event_list *events, size_t i)
{
	return events->specs[i].leader == (int)i &&
	       (i + 1 == events->count || events->specs[i + 1].leader != (int)i);
}

/* Returns the end of the events behind @leader that are in its group or in none. */
static size_t end_of_candidates(const struct event_list *events, size_t leader)
{
	size_t i = leader + 1;

	while (i < events->count && !events->specs[i].aux &&
	       (events->specs[i].leader == (int)leader || is_alone(events, i)))
		i++;
	return i;
}

/* The kernel rounds down, and of less than 8 bytes nothing would be left. */
static void round_sizes(struct event_list *events)
{
	for (size_t i = 0; i < events->count; i++) {
		uint32_t *size = &events->specs[i].attr.aux_sample_size;

		if (*size <= RECORD_AUX_SAMPLE_MAX)
			*size = (*size + 7) & ~7u;
	}
}

void aux_rules_group(struct event_list *events, const struct aux_opts *opts)
{
	for (size_t at = 0; at < events->count; at++) {
		size_t end = end_of_candidates(events, at);

		if (!events->specs[at].aux || events->specs[at].leader != (int)at)
			continue;
		while (!opts->sample_size && end > at + 1 && !needs_group(&events->specs[end - 1]))
			end--;
		for (size_t i = at + 1; i < end; i++) {
			struct event_spec *e = &events->specs[i];

			e->leader = (int)at;
			if (opts->sample_size && !e->aux_size_given)
				e->attr.aux_sample_size = (uint32_t)opts->sample_size;
		}
	}
	round_sizes(events);
}

/* --- checks ----------------------------------------------------------------------------------- */

static bool by_task(const struct plan_opts *opts)
{
	return opts->target.no_inherit && !opts->target.all_cpus && !opts->target.cpus.nr;
}

/*
 * An AUX area belongs to one event of a PMU, each CPU has one ring with such an area, and a file
 * one kind of trace. Several PMUs of a kind (arm_spe_0, arm_spe_1) have different CPUs.
 */
static int check_others(const struct event_list *events, size_t at, struct error *err)
{
	const struct event_spec *e = &events->specs[at];

	for (size_t i = 0; i < at; i++) {
		const struct event_spec *other = &events->specs[i];

		if (!other->aux)
			continue;
		if (other->attr.type == e->attr.type)
			return error_set(err, -EINVAL,
					 "-e: only one event of %s can be recorded at a time",
					 e->pmu);
		if (!kind_of(e) || kind_of(e) != kind_of(other))
			return error_set(err, -EINVAL,
					 "-e: a file describes one kind of trace, and %s and %s "
					 "write two: record them one after the other",
					 other->pmu, e->pmu);
	}
	return 0;
}

/* What the driver of a trace cannot do. */
static int check_kind(const struct plan_opts *opts, const struct event_spec *e, bool samples,
		      struct error *err)
{
	const struct trace_kind *kind = kind_of(e);

	if (!kind)
		return 0;
	if (opts->sample.use_clockid && kind->own_clock)
		return error_set(err, -EINVAL,
				 "-k: the trace of %s has its own clock, which must be the clock "
				 "of all events: leave out -k",
				 e->pmu);
	if (samples && !kind->can_sample)
		return error_set(err, -EINVAL,
				 "--aux-sample: %s cannot sample its trace: leave it out", e->pmu);
	if (opts->aux.snapshot && !kind->can_snapshot)
		return error_set(err, -EINVAL,
				 "-S and -M: %s cannot overwrite its trace: record all of it",
				 e->pmu);
	if (!strcmp(kind->name, "intel_bts") && !by_task(opts))
		return error_set(err, -EINVAL,
				 "-e: the trace of intel_bts has no times that would separate "
				 "tasks: record each task alone, with -i and without -a and -C");
	return 0;
}

static int check_aux_event(const struct plan_opts *opts, size_t at, bool samples, struct error *err)
{
	const struct event_spec *e = &opts->events.specs[at];
	int rc;

	if (e->leader != (int)at)
		return error_set(err, -EINVAL,
				 "-e: '%s' writes a trace and must be the first of its group",
				 e->name);
	if (needs_group(e))
		return error_set(err, -EINVAL,
				 "-e: '%s' writes the trace; aux-sample-size, aux-output, pause "
				 "and resume are for the events that follow it in its group",
				 e->name);
	rc = check_others(&opts->events, at, err);
	return rc ? rc : check_kind(opts, e, samples, err);
}

static int check_member(const struct plan_opts *opts, size_t at, struct error *err)
{
	const struct event_list *events = &opts->events;
	const struct event_spec *e = &events->specs[at], *leader = &events->specs[e->leader];

	if (e->attr.aux_action & START_PAUSED)
		return error_set(err, -EINVAL, "-e: '%s' writes no trace that could start paused",
				 e->name);
	if (needs_group(e) && !leader->aux)
		return error_set(err, -EINVAL,
				 "-e: '%s' needs an event with a trace as the first of its group: "
				 "'{intel_pt//,%s}'",
				 e->name, e->name);
	if (e->attr.aux_sample_size > RECORD_AUX_SAMPLE_MAX)
		return error_set(err, -EINVAL, "-e: '%s': aux-sample-size is at most %u", e->name,
				 RECORD_AUX_SAMPLE_MAX);
	if (e->attr.aux_sample_size && e->attr.flags & PD_ATTR_AUX_OUTPUT)
		return error_set(err, -EINVAL,
				 "-e: '%s' has its records in the trace, so they cannot hold "
				 "trace: leave out aux-output or aux-sample-size",
				 e->name);
	if (!(e->attr.flags & PD_ATTR_AUX_OUTPUT))
		return 0;
	for (size_t i = 0; i < at; i++)
		if (events->specs[i].attr.flags & PD_ATTR_AUX_OUTPUT)
			return error_set(err, -EINVAL,
					 "-e: '%s' and '%s': records in a trace do not name their "
					 "event, so aux-output is for one event only",
					 events->specs[i].name, e->name);
	return 0;
}

/* Options that are about traces, without an event that has one. */
static int check_given(const struct aux_opts *aux, bool memory, bool given, struct error *err)
{
	const char *option = aux->snapshot && !memory ? "-S"
			     : aux->sample_size	      ? "--aux-sample"
			     : aux->size	      ? "-m ,AUX"
						      : NULL;

	if (!option || given)
		return 0;
	return error_set(err, -EINVAL,
			 "%s is about a hardware trace, and no event has one: add -e intel_pt//, "
			 "cs_etm// or arm_spe_0//, if 'ls /sys/bus/event_source/devices' lists it; "
			 "-M takes snapshots of samples",
			 option);
}

static int check_modes(const struct aux_opts *aux, bool samples, struct error *err)
{
	if (aux->snapshot && (aux->sample_size || samples))
		return error_set(err, -EINVAL,
				 "-S and -M read the trace at a snapshot, --aux-sample at each "
				 "sample: choose one");
	if (aux->scope != AUX_SCOPE_AREA && !aux->snapshot)
		return error_set(err, -EINVAL,
				 "--snapshot-scope is about snapshots of a trace: add -S");
	if (aux->size && aux->snapshot_size > aux->size)
		return error_set(err, -EINVAL,
				 "-S: a snapshot is at most as large as the AUX area of -m: leave "
				 "out one of the sizes");
	if (aux->sample_size && !samples)
		return error_set(
			err, -EINVAL,
			"--aux-sample adds trace to samples, and no event samples: add one "
			"behind the event with the trace: -e intel_pt// -e cycles");
	return 0;
}

int aux_rules_check(const struct plan_opts *opts, bool memory, struct error *err)
{
	const struct event_list *events = &opts->events;
	bool given = false, samples = false;
	int rc = 0;

	for (size_t i = 0; i < events->count; i++) {
		given |= events->specs[i].aux;
		samples |= events->specs[i].attr.aux_sample_size;
	}
	for (size_t i = 0; !rc && i < events->count; i++)
		rc = events->specs[i].aux ? check_aux_event(opts, i, samples, err)
					  : check_member(opts, i, err);
	if (!rc)
		rc = check_given(&opts->aux, memory, given, err);
	return rc ? rc : check_modes(&opts->aux, samples, err);
}
