// SPDX-License-Identifier: Apache-2.0
#include "state/cpu_tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/* No machine has more; a damaged record may name any number. */
#define CPUS_MAX 65536u

/* Finds or makes the list of a CPU. */
static struct change_list *changes_of(struct cpu_tasks *t, uint32_t cpu)
{
	size_t before = t->cap_cpus;

	if (array_grow(&t->cpus, &t->cap_cpus, (size_t)cpu + 1, sizeof(*t->cpus)))
		return NULL;
	for (; before < t->cap_cpus; before++)
		t->cpus[before] = (struct change_list){0};
	return &t->cpus[cpu];
}

static int add(struct cpu_tasks *t, uint32_t cpu, uint64_t time, uint64_t task)
{
	struct change_list *c = changes_of(t, cpu);
	uint32_t number = id_table_add(&t->tasks, task);
	size_t before;
	int rc;

	if (!c || number == ID_TABLE_NONE)
		return -ENOMEM;
	before = change_list_memory(c);
	rc = change_list_add(c, time, number);
	t->bytes += change_list_memory(c) - before;
	t->nr++;
	return rc;
}

int cpu_tasks_take(struct cpu_tasks *t, const struct pd_record *rec, uint64_t time)
{
	uint32_t pid = rec->id.pid, tid = rec->id.tid;

	switch (rec->hdr->type) {
	case PERF_RECORD_ITRACE_START:
		pid = rec->itrace_start[0];
		tid = rec->itrace_start[1];
		break;
	case PERF_RECORD_SWITCH:
		if (rec->cswitch.out)
			return 0;
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (rec->cswitch.out) {
			pid = rec->cswitch.next_prev_pid;
			tid = rec->cswitch.next_prev_tid;
		}
		break;
	default: return 0;
	}
	if (!time || rec->id.cpu >= CPUS_MAX || tid == UINT32_MAX)
		return 0;
	return add(t, rec->id.cpu, time, (uint64_t)pid << 32 | tid);
}

int cpu_tasks_merge(struct cpu_tasks *t, const struct cpu_tasks *from)
{
	for (size_t cpu = 0; cpu < from->cap_cpus; cpu++) {
		const struct change_list *c = &from->cpus[cpu];
		struct change_entry change = {0};

		for (size_t at = 0; at < c->bytes.len;) {
			change_list_next(c, &at, &change);
			if (add(t, (uint32_t)cpu, change.time,
				from->tasks.entries[change.value].id))
				return -ENOMEM;
		}
	}
	return 0;
}

/* A list that is being frozen. */
struct freezing {
	const struct cpu_tasks *tasks;
	uint32_t tid; /* of the change that was kept last */
	bool any;
};

/* Drops a change to the thread that runs there already. */
static bool is_news(struct change_entry *change, void *arg)
{
	struct freezing *f = arg;
	uint32_t tid = (uint32_t)f->tasks->tasks.entries[change->value].id;

	if (f->any && f->tid == tid)
		return false;
	f->any = true;
	f->tid = tid;
	return true;
}

int cpu_tasks_freeze(struct cpu_tasks *t)
{
	for (size_t i = 0; i < t->cap_cpus; i++) {
		struct change_list *c = &t->cpus[i];
		struct freezing f = {.tasks = t};
		size_t before = change_list_memory(c);
		int rc = change_list_freeze(c, is_news, &f);

		if (rc)
			return rc;
		t->bytes += change_list_memory(c) - before;
	}
	return 0;
}

bool cpu_tasks_find(const struct cpu_tasks *t, uint32_t cpu, uint64_t time, uint32_t *ret_pid,
		    uint32_t *ret_tid)
{
	uint32_t number;
	uint64_t task;

	if (cpu >= t->cap_cpus || !change_list_find(&t->cpus[cpu], time, &number))
		return false;
	task = t->tasks.entries[number].id;
	*ret_pid = (uint32_t)(task >> 32);
	*ret_tid = (uint32_t)task;
	return true;
}

size_t cpu_tasks_memory(const struct cpu_tasks *t)
{
	return t->bytes + t->cap_cpus * sizeof(*t->cpus) + id_table_memory(&t->tasks);
}

void cpu_tasks_release(struct cpu_tasks *t)
{
	for (size_t i = 0; i < t->cap_cpus; i++)
		change_list_release(&t->cpus[i]);
	free(t->cpus);
	id_table_release(&t->tasks);
	*t = (struct cpu_tasks){0};
}
