// SPDX-License-Identifier: Apache-2.0
#include "state/parallelism.h"

#include <errno.h>
#include <stdlib.h>

/* No machine has more; a damaged record may name any number. */
#define CPUS_MAX    65536u
#define CPU_UNKNOWN UINT32_MAX

/* What happens at a place. A change is its number: place << KIND_BITS | kind. */
enum run_kind {
	STOPS, /* the thread leaves its CPU */
	EXITS,
	RUNS,	    /* the CPU runs the thread; 0: none */
	RUNS_AFTER, /* the same, and the CPU has run another thread before */
};

#define KIND_BITS  2u
#define PLACES_MAX (1u << (32 - KIND_BITS))

/* --- filling -------------------------------------------------------------------------------------
 */

/* Returns the number of a place, or PLACES_MAX if memory is short. */
static uint32_t place_of(struct parallelism *p, uint32_t cpu, uint32_t tid)
{
	uint64_t known = cpu < CPUS_MAX ? cpu : CPU_UNKNOWN;
	uint32_t place = id_table_add(&p->places, known << 32 | tid);

	return place < PLACES_MAX ? place : PLACES_MAX;
}

static int add(struct parallelism *p, uint64_t time, uint32_t cpu, uint32_t tid, enum run_kind kind)
{
	uint32_t place;

	if (!time || tid == UINT32_MAX)
		return 0;
	place = place_of(p, cpu, tid);
	if (place == PLACES_MAX)
		return -ENOMEM;
	return change_list_add(&p->changes, time, place << KIND_BITS | kind);
}

int parallelism_take(struct parallelism *p, const struct pd_record *rec, uint64_t time)
{
	const struct pd_switch *s = &rec->cswitch;
	uint32_t tid = rec->id.tid, cpu = rec->id.cpu;

	switch (rec->hdr->type) {
	case PERF_RECORD_EXIT: return add(p, time, cpu, rec->task.tid, EXITS);
	case PERF_RECORD_SWITCH: return add(p, time, cpu, tid, s->out ? STOPS : RUNS);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		p->wide = true;
		if (s->out)
			return add(p, time, cpu, s->next_prev_tid, tid ? RUNS_AFTER : RUNS);
		return add(p, time, cpu, tid, s->next_prev_tid ? RUNS_AFTER : RUNS);
	default: return 0;
	}
}

int parallelism_take_sample(struct parallelism *p, uint32_t cpu, uint32_t tid)
{
	return tid == UINT32_MAX || place_of(p, cpu, tid) != PLACES_MAX ? 0 : -ENOMEM;
}

int parallelism_merge(struct parallelism *p, const struct parallelism *from)
{
	struct change_entry change = {0};

	p->wide |= from->wide;
	for (uint32_t i = 0; i < id_table_count(&from->places); i++)
		if (id_table_add(&p->places, from->places.entries[i].id) >= PLACES_MAX)
			return -ENOMEM;
	for (size_t at = 0; at < from->changes.bytes.len;) {
		uint32_t place;

		change_list_next(&from->changes, &at, &change);
		place = id_table_find(&p->places,
				      from->places.entries[change.value >> KIND_BITS].id);
		if (change_list_add(&p->changes, change.time,
				    place << KIND_BITS | (change.value & ((1u << KIND_BITS) - 1))))
			return -ENOMEM;
	}
	return 0;
}

/* --- freezing ------------------------------------------------------------------------------------
 */

#define NOWHERE 0u /* else: the number of a CPU + 1, or ANYWHERE */

/* Places of which nothing is known but the thread. */
#define ANYWHERE UINT32_MAX

struct running_task {
	uint32_t cpu; /* where it runs */
	bool known;   /* some change is of it */
};

struct running_cpu {
	uint32_t task; /* number + 1; 0: none */
	bool known;
};

/* Who runs where, while the changes are read in order. */
struct running {
	struct parallelism *p;
	struct id_table tids;
	uint32_t *task_of; /* by place */
	struct running_task *tasks;
	struct running_cpu *cpus;
	size_t cap_cpus;
	int32_t level; /* threads that run, less p->initial */
	int32_t last;  /* level of the change that was kept last */
};

static uint32_t cpu_of(const struct parallelism *p, uint32_t place)
{
	return (uint32_t)(p->places.entries[place].id >> 32);
}

static uint32_t tid_of(const struct parallelism *p, uint32_t place)
{
	return (uint32_t)p->places.entries[place].id;
}

static void running_release(struct running *r)
{
	id_table_release(&r->tids);
	free(r->task_of);
	free(r->tasks);
	free(r->cpus);
}

static int running_init(struct running *r, struct parallelism *p)
{
	uint32_t nr = id_table_count(&p->places);

	*r = (struct running){.p = p};
	for (uint32_t i = 0; i < nr; i++)
		if (cpu_of(p, i) != CPU_UNKNOWN && cpu_of(p, i) >= r->cap_cpus)
			r->cap_cpus = cpu_of(p, i) + 1;
	r->task_of = calloc(nr + 1, sizeof(*r->task_of));
	r->tasks = calloc(nr + 1, sizeof(*r->tasks));
	r->cpus = calloc(r->cap_cpus + 1, sizeof(*r->cpus));
	if (!r->task_of || !r->tasks || !r->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		r->task_of[i] = id_table_add(&r->tids, tid_of(p, i));
		if (r->task_of[i] == ID_TABLE_NONE)
			return -ENOMEM;
	}
	return 0;
}

static void stop(struct running *r, uint32_t task)
{
	struct running_task *t = &r->tasks[task];

	if (t->cpu == NOWHERE)
		return;
	if (t->cpu != ANYWHERE)
		r->cpus[t->cpu - 1].task = 0;
	t->cpu = NOWHERE;
	r->level--;
}

static void run(struct running *r, uint32_t place, bool after)
{
	uint32_t cpu = cpu_of(r->p, place), task = r->task_of[place];
	struct running_cpu *c = cpu == CPU_UNKNOWN ? NULL : &r->cpus[cpu];

	if (c && r->p->wide && !c->known && after) {
		r->p->initial++;
		r->level--;
	}
	if (c && c->task)
		stop(r, c->task - 1);
	stop(r, task);
	if (c)
		c->known = true;
	r->tasks[task].known = true;
	if (!tid_of(r->p, place))
		return;
	r->tasks[task].cpu = c ? cpu + 1 : ANYWHERE;
	if (c)
		c->task = task + 1;
	r->level++;
}

/* The first change of a thread that ends its run: it ran from the beginning. */
static void end(struct running *r, uint32_t place)
{
	uint32_t task = r->task_of[place];

	if (!r->tasks[task].known) {
		r->p->initial++;
		r->level--;
	}
	r->tasks[task].known = true;
	stop(r, task);
}

/* Replaces what happens by the level that follows, in a form without sign. */
static bool to_level(struct change_entry *change, void *arg)
{
	struct running *r = arg;
	uint32_t place = change->value >> KIND_BITS;

	switch ((enum run_kind)(change->value & ((1u << KIND_BITS) - 1))) {
	case EXITS:
		/* A recording of CPUs has the switch that follows, too. */
		if (!r->p->wide)
			end(r, place);
		break;
	case STOPS: end(r, place); break;
	case RUNS: run(r, place, false); break;
	case RUNS_AFTER: run(r, place, true); break;
	}
	if (r->level == r->last)
		return false;
	r->last = r->level;
	change->value = (uint32_t)r->level << 1 ^ (r->level < 0 ? UINT32_MAX : 0);
	return true;
}

/* Counts threads that have samples and never switched; in a recording of CPUs, CPUs with one. */
static void count_steady(struct running *r)
{
	struct parallelism *p = r->p;

	for (uint32_t i = 0; i < id_table_count(&p->places); i++) {
		struct running_task *t = &r->tasks[r->task_of[i]];
		struct running_cpu *c = cpu_of(p, i) == CPU_UNKNOWN ? NULL : &r->cpus[cpu_of(p, i)];
		bool *known = p->wide ? c ? &c->known : NULL : &t->known;

		if (!known || *known || !tid_of(p, i))
			continue;
		*known = true;
		p->initial++;
	}
}

static uint32_t count_cpus(const struct parallelism *p, struct running *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->cap_cpus; i++)
		r->cpus[i].known = false;
	for (uint32_t i = 0; i < id_table_count(&p->places); i++) {
		struct running_cpu *c = cpu_of(p, i) == CPU_UNKNOWN ? NULL : &r->cpus[cpu_of(p, i)];

		if (c && !c->known)
			n++;
		if (c)
			c->known = true;
	}
	return n;
}

int parallelism_freeze(struct parallelism *p)
{
	struct running r;
	int rc = running_init(&r, p);

	if (!rc)
		rc = change_list_freeze(&p->changes, to_level, &r);
	if (!rc) {
		count_steady(&r);
		p->cpus = count_cpus(p, &r);
	}
	running_release(&r);
	id_table_release(&p->places);
	p->places = (struct id_table){0};
	return rc;
}

/* --- use -----------------------------------------------------------------------------------------
 */

uint32_t parallelism_at(const struct parallelism *p, uint64_t time)
{
	uint32_t v;
	int64_t level = p->initial;

	if (change_list_find(&p->changes, time, &v))
		level += (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
	return level > 0 ? (uint32_t)level : 0;
}

size_t parallelism_memory(const struct parallelism *p)
{
	return change_list_memory(&p->changes) + id_table_memory(&p->places);
}

void parallelism_release(struct parallelism *p)
{
	change_list_release(&p->changes);
	id_table_release(&p->places);
	*p = (struct parallelism){0};
}
