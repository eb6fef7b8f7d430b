// SPDX-License-Identifier: Apache-2.0
/*
 * Which thread ran on a CPU, from SWITCH, SWITCH_CPU_WIDE and ITRACE_START records.
 *
 * Changes of a CPU are in the order of time, because records are applied in that order.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "state/state_priv.h"

/* No machine has more; a damaged record may name any number. */
#define CPUS_MAX 65536u

/* From @time on the thread runs there. */
struct cpu_change {
	uint64_t time;
	uint32_t pid, tid;
};

struct cpu_changes {
	struct cpu_change *list;
	size_t nr, cap;
};

static int add(struct cpu_tasks *t, uint32_t cpu, const struct cpu_change *change)
{
	size_t before = t->cap_cpus;
	struct cpu_changes *c;

	if (cpu >= CPUS_MAX || change->tid == UINT32_MAX)
		return 0;
	if (array_grow(&t->cpus, &t->cap_cpus, (size_t)cpu + 1, sizeof(*t->cpus)))
		return -ENOMEM;
	for (; before < t->cap_cpus; before++)
		t->cpus[before] = (struct cpu_changes){0};
	c = &t->cpus[cpu];
	if (c->nr && c->list[c->nr - 1].tid == change->tid)
		return 0;
	before = c->cap;
	if (array_grow(&c->list, &c->cap, c->nr + 1, sizeof(*c->list)))
		return -ENOMEM;
	t->bytes += (c->cap - before) * sizeof(*c->list);
	c->list[c->nr++] = *change;
	return 0;
}

int cpu_tasks_apply(struct cpu_tasks *t, const struct pd_record *rec, struct moment at)
{
	struct cpu_change change = {at.time, rec->id.pid, rec->id.tid};

	switch (rec->hdr->type) {
	case PERF_RECORD_ITRACE_START:
		change.pid = rec->itrace_start[0];
		change.tid = rec->itrace_start[1];
		break;
	case PERF_RECORD_SWITCH:
		if (rec->cswitch.out)
			return 0;
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (rec->cswitch.out) {
			change.pid = rec->cswitch.next_prev_pid;
			change.tid = rec->cswitch.next_prev_tid;
		}
		break;
	default: return 0;
	}
	return at.time ? add(t, rec->id.cpu, &change) : 0;
}

bool state_task_on(const struct state *s, uint32_t cpu, uint64_t time, uint32_t *ret_pid,
		   uint32_t *ret_tid)
{
	const struct cpu_tasks *t = &s->cpu_tasks;
	const struct cpu_changes *c = cpu < t->cap_cpus ? &t->cpus[cpu] : NULL;
	size_t from = 0, to = c ? c->nr : 0;

	/* The last change that is not later than @time is below @to. */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->list[middle].time <= time)
			from = middle + 1;
		else
			to = middle;
	}
	if (!to)
		return false;
	*ret_pid = c->list[to - 1].pid;
	*ret_tid = c->list[to - 1].tid;
	return true;
}

size_t cpu_tasks_memory(const struct cpu_tasks *t)
{
	return t->bytes + t->cap_cpus * sizeof(*t->cpus);
}

void cpu_tasks_release(struct cpu_tasks *t)
{
	for (size_t i = 0; i < t->cap_cpus; i++)
		free(t->cpus[i].list);
	free(t->cpus);
	*t = (struct cpu_tasks){0};
}
