// SPDX-License-Identifier: Apache-2.0
#include "report/waits/pairing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

#define IDLE	0u     /* thread id of a CPU without work */
#define CPU_MAX 65536u /* a larger number is damage */

enum whereabouts {
	PLACE_UNKNOWN, /* not seen yet */
	PLACE_NEW,     /* born, and not woken yet */
	PLACE_ON,
	PLACE_OFF,
	PLACE_LOST, /* it left a CPU, nobody knows when */
	PLACE_GONE, /* ended */
};

struct pairing_thread {
	uint32_t tid;
	enum whereabouts place;
	uint32_t cpu; /* that it is or was on; PAIRING_NONE */
	uint64_t since, woken;
	/* A wakeup on a CPU: the thread may be about to leave, as the waker sees it sooner. */
	uint64_t early;
	struct pairing_waker waker;
	int64_t state;
	uint64_t losses; /* counts.losses when it left */
	/*
	 * Times it was preempted and nobody saw it run again. A thread that ends does not count
	 * them: the kernel stops its records of switches before its samples of them.
	 */
	uint32_t preempted;
	bool can_run, is_new, migrated;
};

static bool is_ignored(uint32_t tid)
{
	return tid == IDLE || tid > PAIRING_TID_MAX;
}

/* Returns the thread, which it makes; NULL: no memory. */
static struct pairing_thread *thread_of(struct pairing *p, uint32_t tid, uint64_t time,
					uint32_t *ret)
{
	uint32_t known = id_table_count(&p->numbers), number = id_table_add(&p->numbers, tid);

	if (number == ID_TABLE_NONE ||
	    array_grow(&p->threads, &p->cap, (size_t)number + 1, sizeof(*p->threads)))
		return NULL;
	if (number == known)
		p->threads[number] = (struct pairing_thread){.tid = tid, .cpu = PAIRING_NONE};
	if (!p->first_time)
		p->first_time = time;
	if (ret)
		*ret = number;
	return &p->threads[number];
}

static int give_run(struct pairing *p, const struct pairing_thread *t, uint64_t until, bool open)
{
	const struct pairing_run run = {
		.tid = t->tid,
		.cpu = t->cpu,
		.since = t->since,
		.until = until < t->since ? t->since : until,
		.migrated = t->migrated,
		.open = open,
	};

	return p->takers.run ? p->takers.run(&run, p->takers.arg) : 0;
}

static int give_wait(struct pairing *p, struct pairing_thread *t, struct wait *w)
{
	w->number = (uint32_t)(t - p->threads);
	w->tid = t->tid;
	w->cpu = t->cpu;
	w->until = w->until < w->since ? w->since : w->until;
	w->waker = t->waker;
	p->counts.waits++;
	p->counts.open += w->open;
	if (w->unsure) {
		p->counts.unsure++;
		p->counts.unsure_ns += w->until - w->since;
	}
	return p->takers.wait(w, p->takers.arg);
}

/* The wait of @t ends at @until. */
static int end_wait(struct pairing *p, struct pairing_thread *t, uint64_t until, uint32_t end_cpu,
		    bool open)
{
	struct wait w = {
		.since = t->since,
		.woken = t->woken,
		.until = until,
		.end_cpu = end_cpu,
		.state = t->state,
		.can_run = t->can_run,
		.is_new = t->is_new,
		.open = open,
		.unsure = t->losses != p->counts.losses,
	};

	/* It could run already when it left: nobody else has woken it. */
	if (!w.woken && t->early && !t->can_run && !open)
		w.woken = w.since;
	return give_wait(p, t, &w);
}

/* Returns where the thread is kept that runs on @cpu, which is below CPU_MAX; NULL: no memory. */
static uint32_t *on_cpu(struct pairing *p, uint32_t cpu)
{
	if (array_grow(&p->on_cpu, &p->cap_cpus, (size_t)cpu + 1, sizeof(*p->on_cpu)))
		return NULL;
	while (p->nr_cpus <= cpu)
		p->on_cpu[p->nr_cpus++] = PAIRING_NONE;
	return &p->on_cpu[cpu];
}

/*
 * Thread number @number, or none, is on @cpu now. The kernel makes no samples of some switches: if
 * another thread was there, nobody saw it leave. A number of a CPU that is damage changes nothing.
 */
static int change_cpu(struct pairing *p, uint32_t cpu, uint32_t number, uint32_t then)
{
	uint32_t *on;
	struct pairing_thread *before;

	if (cpu >= CPU_MAX)
		return 0;
	on = on_cpu(p, cpu);
	if (!on)
		return -ENOMEM;
	before = *on == PAIRING_NONE || *on == number ? NULL : &p->threads[*on];
	*on = then;
	if (!before || before->place != PLACE_ON || before->cpu != cpu)
		return 0;
	before->place = PLACE_LOST;
	before->woken = before->early = 0;
	p->counts.unbegun++;
	return 0;
}

/* It did not end after it was preempted. */
static void count_preempted(struct pairing *p, struct pairing_thread *t)
{
	p->counts.unended += t->preempted;
	t->preempted = 0;
}

/* It ran, and nobody saw when it began: the wait lasted at least until its wakeup. */
static int end_unseen(struct pairing *p, struct pairing_thread *t)
{
	if (t->can_run)
		t->preempted++;
	else
		p->counts.unended++;
	return t->woken ? end_wait(p, t, t->woken, PAIRING_NONE, false) : 0;
}

static void leave(struct pairing *p, struct pairing_thread *t, uint32_t cpu, uint64_t time)
{
	t->place = PLACE_OFF;
	t->cpu = cpu;
	t->since = time;
	t->woken = 0;
	t->losses = p->counts.losses;
	t->is_new = false;
}

int pairing_out(struct pairing *p, uint32_t tid, uint32_t cpu, uint64_t time, int64_t state,
		uint32_t *ret)
{
	struct pairing_thread *t;
	uint32_t number;
	int rc;

	*ret = PAIRING_NONE;
	if (is_ignored(tid))
		return 0;
	t = thread_of(p, tid, time, &number);
	if (!t)
		return -ENOMEM;
	if (t->place == PLACE_GONE)
		return 0;
	rc = change_cpu(p, cpu, number, PAIRING_NONE);
	if (rc)
		return rc;
	if (t->place == PLACE_ON)
		rc = give_run(p, t, time, false);
	else if (t->place == PLACE_OFF)
		rc = end_unseen(p, t);
	leave(p, t, cpu, time);
	t->state = state;
	t->can_run = !(state & PAIRING_STATE_BLOCKED);
	t->early = t->can_run ? 0 : t->early;
	if (!t->early)
		t->waker = (struct pairing_waker){PAIRING_NONE, PAIRING_NONE, false};
	if (state & PAIRING_STATE_DEAD)
		*t = (struct pairing_thread){.tid = tid, .place = PLACE_GONE, .cpu = cpu};
	else
		*ret = number;
	return rc;
}

int pairing_out_record(struct pairing *p, uint32_t tid, uint32_t cpu, uint64_t time, bool preempted,
		       uint32_t *ret)
{
	uint32_t number = id_table_find(&p->numbers, tid);

	*ret = PAIRING_NONE;
	if (number != ID_TABLE_NONE && p->threads[number].place == PLACE_OFF)
		return 0;
	return pairing_out(p, tid, cpu, time, preempted ? 0 : PAIRING_STATE_SLEEPS, ret);
}

/* A thread runs, whose last switch is not known: its wait is known from a wakeup on. */
static int begin_known(struct pairing *p, struct pairing_thread *t, uint32_t cpu, uint64_t time)
{
	struct wait w = {
		.since = t->woken,
		.woken = t->woken,
		.until = time,
		.end_cpu = cpu,
		.partial = true,
		.state = PAIRING_STATE_SLEEPS,
		.unsure = t->losses != p->counts.losses,
	};

	if (t->place == PLACE_UNKNOWN) {
		p->counts.begun_before++;
		p->counts.begun_before_ns += (t->woken ?: time) - p->first_time;
	}
	return t->woken ? give_wait(p, t, &w) : 0;
}

int pairing_in(struct pairing *p, uint32_t tid, uint32_t cpu, uint64_t time)
{
	struct pairing_thread *t;
	uint32_t number, before;
	int rc;

	if (is_ignored(tid))
		return 0;
	t = thread_of(p, tid, time, &number);
	if (!t)
		return -ENOMEM;
	rc = change_cpu(p, cpu, number, number);
	if (rc || t->place == PLACE_GONE || (t->place == PLACE_ON && t->cpu == cpu))
		return rc;
	p->counts.unbegun += t->place == PLACE_ON;
	count_preempted(p, t);
	if (t->place == PLACE_OFF)
		rc = end_wait(p, t, time, cpu, false);
	else if (t->place == PLACE_UNKNOWN || t->place == PLACE_LOST)
		rc = begin_known(p, t, cpu, time);
	before = t->cpu;
	t->place = PLACE_ON;
	t->cpu = cpu;
	t->migrated = before != PAIRING_NONE && before != cpu;
	t->since = time;
	t->woken = t->early = 0;
	t->is_new = false;
	return rc;
}

int pairing_wake(struct pairing *p, uint32_t tid, uint64_t time, struct pairing_waker waker,
		 uint32_t *ret)
{
	struct pairing_thread *t;
	uint32_t number;

	*ret = PAIRING_NONE;
	if (is_ignored(tid))
		return 0;
	t = thread_of(p, tid, time, &number);
	if (!t)
		return -ENOMEM;
	if (t->place == PLACE_GONE || t->woken || (t->place == PLACE_OFF && t->can_run))
		return 0;
	if (t->place == PLACE_NEW) {
		leave(p, t, PAIRING_NONE, time);
		t->can_run = t->is_new = true;
		t->state = 0;
	} else if (t->place == PLACE_ON) {
		t->early = time;
	} else {
		t->woken = time;
		t->losses = t->place == PLACE_OFF ? t->losses : p->counts.losses;
	}
	t->waker = waker;
	*ret = number;
	return 0;
}

int pairing_born(struct pairing *p, uint32_t tid, uint64_t time)
{
	struct pairing_thread *t;

	if (is_ignored(tid))
		return 0;
	t = thread_of(p, tid, time, NULL);
	if (!t)
		return -ENOMEM;
	count_preempted(p, t);
	p->counts.unended += t->place == PLACE_OFF;
	*t = (struct pairing_thread){.tid = tid, .place = PLACE_NEW, .cpu = PAIRING_NONE};
	return 0;
}

int pairing_exit(struct pairing *p, uint32_t tid, uint64_t time)
{
	uint32_t number = id_table_find(&p->numbers, tid);
	struct pairing_thread *t;
	int rc = 0;

	if (number == ID_TABLE_NONE)
		return 0;
	t = &p->threads[number];
	/* It ran to end, so the switch to it is lost. */
	if (t->place == PLACE_OFF) {
		p->counts.unended += !t->can_run;
		rc = end_wait(p, t, time, PAIRING_NONE, false);
	} else if (t->place == PLACE_ON) {
		rc = give_run(p, t, time, false);
	}
	t->place = PLACE_GONE;
	t->preempted = 0;
	return rc;
}

void pairing_lost(struct pairing *p)
{
	p->counts.losses++;
}

int pairing_gap(struct pairing *p, uint64_t time)
{
	int rc = 0;

	pairing_lost(p);
	for (size_t cpu = 0; !rc && cpu < p->nr_cpus; cpu++) {
		uint32_t number = p->on_cpu[cpu];
		struct pairing_thread *t = number == PAIRING_NONE ? NULL : &p->threads[number];

		p->on_cpu[cpu] = PAIRING_NONE;
		if (!t || t->place != PLACE_ON || t->cpu != cpu)
			continue;
		rc = give_run(p, t, time, true);
		t->place = PLACE_LOST;
		t->woken = t->early = 0;
	}
	return rc;
}

int pairing_end(struct pairing *p, uint64_t time)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < id_table_count(&p->numbers); i++) {
		struct pairing_thread *t = &p->threads[i];

		count_preempted(p, t);
		if (t->place == PLACE_OFF)
			rc = end_wait(p, t, time, PAIRING_NONE, true);
		else if (t->place == PLACE_ON)
			rc = give_run(p, t, time, true);
	}
	return rc;
}

void pairing_release(struct pairing *p)
{
	id_table_release(&p->numbers);
	free(p->threads);
	free(p->on_cpu);
	*p = (struct pairing){.takers = p->takers, .counts = p->counts};
}
