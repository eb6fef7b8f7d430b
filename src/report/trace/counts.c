// SPDX-License-Identifier: Apache-2.0
#include "report/trace/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/snapshot_log.h"

/* A hostile file could name any number of CPUs. Higher numbers count as "unknown CPU". */
#define MAX_LOSS_CPUS 65536

int counts_init(struct trace_counts *c, size_t nr_events)
{
	*c = (struct trace_counts){.nr_events = nr_events};
	c->by_event = calloc(nr_events + 1, sizeof(*c->by_event));
	return c->by_event ? 0 : -ENOMEM;
}

void counts_release(struct trace_counts *c)
{
	free(c->by_event);
	free(c->by_cpu);
	*c = (struct trace_counts){0};
}

/* Finds or makes the entry of @cpu in the ascending array; NULL when memory is short. */
static struct trace_cpu_loss *loss_of_cpu(struct trace_counts *c, uint32_t cpu)
{
	size_t lo = 0, hi = c->nr_cpus;

	if (cpu >= MAX_LOSS_CPUS)
		cpu = UINT32_MAX;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->by_cpu[mid].cpu < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < c->nr_cpus && c->by_cpu[lo].cpu == cpu)
		return &c->by_cpu[lo];
	if (array_grow(&c->by_cpu, &c->cap_cpus, c->nr_cpus + 1, sizeof(*c->by_cpu)) < 0)
		return NULL;
	memmove(&c->by_cpu[lo + 1], &c->by_cpu[lo], (c->nr_cpus - lo) * sizeof(*c->by_cpu));
	c->nr_cpus++;
	c->by_cpu[lo] = (struct trace_cpu_loss){.cpu = cpu};
	return &c->by_cpu[lo];
}

/* Adds a LOST, LOST_SAMPLES, THROTTLE or UNTHROTTLE record, by event and CPU. */
static int count_loss(struct trace_counts *c, const struct data_record *rec,
		      const struct pd_evlist *list)
{
	struct trace_event_counts *ev = NULL;
	const struct pd_evsel *evsel = rec->evsel;
	struct trace_cpu_loss *cpu;
	struct pd_record r;

	if (pd_record_decode(rec->hdr, evsel, &r) < 0)
		return 0;
	if (rec->hdr->type == PERF_RECORD_LOST)
		evsel = pd_evlist_by_id(list, r.lost.id);
	if (evsel && evsel->index < c->nr_events)
		ev = &c->by_event[evsel->index];
	cpu = loss_of_cpu(c, r.id.cpu);
	if (!cpu)
		return -ENOMEM;
	trace_loss_add(&c->loss, &r);
	trace_loss_add(&cpu->loss, &r);
	if (ev)
		trace_loss_add(&ev->loss, &r);
	return 0;
}

/* Reads the totals that a recording with -M writes into its log. */
static void count_totals(struct trace_counts *c, const struct data_record *rec)
{
	struct pd_snapshot_log log;

	if (pd_snapshot_decode(rec->hdr, &log) || log.kind != PD_SNAPSHOT_TOTALS)
		return;
	c->taken_known = true;
	c->taken = log.totals.taken;
	c->loss.all_counted = log.totals.counted;
}

int counts_add_other(struct trace_counts *c, const struct data_record *rec,
		     const struct pd_evlist *list)
{
	uint32_t type = rec->hdr->type;

	c->records++;
	c->by_type[type < TRACE_TYPES ? type : TRACE_TYPES - 1]++;
	switch (type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: return count_loss(c, rec, list);
	case PERF_RECORD_HEADER_EVENT_TYPE: count_totals(c, rec); break;
	}
	return 0;
}

int counts_merge(struct trace_counts *c, const struct trace_counts *from)
{
	c->records += from->records;
	for (size_t i = 0; i < TRACE_TYPES; i++)
		c->by_type[i] += from->by_type[i];
	for (size_t i = 0; i < c->nr_events; i++) {
		c->by_event[i].samples += from->by_event[i].samples;
		trace_loss_merge(&c->by_event[i].loss, &from->by_event[i].loss);
	}
	for (size_t i = 0; i < from->nr_cpus; i++) {
		struct trace_cpu_loss *cpu = loss_of_cpu(c, from->by_cpu[i].cpu);

		if (!cpu)
			return -ENOMEM;
		trace_loss_merge(&cpu->loss, &from->by_cpu[i].loss);
	}
	c->samples += from->samples;
	c->sample_bytes += from->sample_bytes;
	c->untimed += from->untimed;
	c->unknown_samples += from->unknown_samples;
	trace_loss_merge(&c->loss, &from->loss);
	if (from->taken_known) {
		c->taken_known = true;
		c->taken = from->taken;
	}
	if (from->first_time && (!c->first_time || from->first_time < c->first_time))
		c->first_time = from->first_time;
	if (from->last_time > c->last_time)
		c->last_time = from->last_time;
	return 0;
}
