// SPDX-License-Identifier: Apache-2.0
#include "report/waits/sched.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

static const struct moment the_end = {.time = UINT64_MAX, .seq = UINT64_MAX};

struct sched_counter {
	struct trace *trace;
	const struct filter *filter;
	struct sched_report *report;
};

/* Returns the row of @id, which it makes; NULL: no memory. */
static struct sched_row *row_of(struct sched_rows *rows, uint32_t id)
{
	uint32_t number = id_table_add(&rows->numbers, id);

	if (number == ID_TABLE_NONE ||
	    array_grow(&rows->row, &rows->cap, (size_t)number + 1, sizeof(*rows->row)))
		return NULL;
	if (number == rows->nr)
		rows->row[rows->nr++] = (struct sched_row){.tid = id, .cpu = id};
	return &rows->row[number];
}

/* The rows that a thing counts in. */
struct places {
	struct sched_row *row[3];
	size_t nr;
};

bool sched_is_chosen(const struct trace *t, const struct filter *filter, uint32_t tid, uint32_t cpu,
		     uint64_t time, uint32_t *ret_pid)
{
	struct pd_sample s = {.pid = tid, .tid = tid, .cpu = cpu, .time = time};

	state_pid(t->state, tid, (struct moment){.time = time}, &s.pid);
	*ret_pid = s.pid;
	return filter_sample(filter, &s) &&
	       filter_comm(filter, state_comm(t->state, s.pid, tid, the_end));
}

/* Returns 1 with the rows of @tid and @cpu; 0: the filter refuses them; or -ENOMEM. */
static int find_places(struct sched_counter *c, uint32_t tid, uint32_t cpu, uint64_t time,
		       struct places *ret)
{
	uint32_t pid;

	if (!sched_is_chosen(c->trace, c->filter, tid, cpu, time, &pid))
		return 0;
	ret->nr = 2;
	ret->row[0] = &c->report->all;
	ret->row[1] = row_of(&c->report->threads, tid);
	if (!ret->row[1])
		return -ENOMEM;
	ret->row[1]->pid = pid;
	if (cpu == PAIRING_NONE)
		return 1;
	ret->row[ret->nr++] = row_of(&c->report->cpus, cpu);
	return ret->row[2] ? 1 : -ENOMEM;
}

/* Over a loss a delay may be several, none of which was so long. */
static void add_delay(struct sched_row *row, uint64_t ns, uint64_t at, bool unsure)
{
	row->delays++;
	row->delay_ns += ns;
	if (unsure || ns < row->max_ns || (ns == row->max_ns && row->max_at))
		return;
	row->max_ns = ns;
	row->max_at = at;
}

static void add_wait(struct sched_row *row, const struct wait *w)
{
	uint64_t woken = w->is_new ? w->since : w->woken;

	if (w->can_run && !w->is_new) {
		row->preempted++;
		row->preempted_ns += w->until - w->since;
		return;
	}
	row->blocked_ns += (woken ?: w->until) - w->since;
	if (woken && !w->open)
		add_delay(row, w->until - woken, w->until, w->unsure);
}

static int take_wait(const struct wait *w, void *arg)
{
	struct sched_counter *c = arg;
	struct places p;
	int rc = find_places(c, w->tid, w->end_cpu, w->until, &p);

	for (size_t i = 0; rc > 0 && i < p.nr; i++)
		add_wait(p.row[i], w);
	return rc < 0 ? rc : 0;
}

static int take_run(const struct pairing_run *run, void *arg)
{
	struct sched_counter *c = arg;
	struct places p;
	int rc = find_places(c, run->tid, run->cpu, run->until, &p);

	for (size_t i = 0; rc > 0 && i < p.nr; i++) {
		p.row[i]->runs++;
		p.row[i]->ran_ns += run->until - run->since;
		p.row[i]->switches += !run->open;
		p.row[i]->migrations += run->migrated;
	}
	return rc < 0 ? rc : 0;
}

static int by_delay(const void *a, const void *b)
{
	const struct sched_row *x = a, *y = b;

	if (x->delay_ns != y->delay_ns)
		return x->delay_ns < y->delay_ns ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_cpu(const void *a, const void *b)
{
	const struct sched_row *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void sort(struct sched_rows *rows, int (*by)(const void *, const void *))
{
	if (rows->nr)
		qsort(rows->row, rows->nr, sizeof(*rows->row), by);
}

int sched_report_run(struct trace *t, const struct filter *filter, struct sched_report *ret,
		     struct error *err)
{
	struct sched_counter c = {.trace = t, .filter = filter, .report = ret};
	const struct waits_opts opts = {.wait = take_wait, .run = take_run, .arg = &c};
	int rc;

	*ret = (struct sched_report){0};
	rc = waits_walk(t, &opts, NULL, NULL, &ret->counts, err);
	if (rc < 0) {
		sched_report_release(ret);
		return rc;
	}
	for (size_t i = 0; i < ret->threads.nr; i++) {
		struct sched_row *row = &ret->threads.row[i];

		row->comm = state_comm(t->state, row->pid, row->tid, the_end);
	}
	sort(&ret->threads, by_delay);
	sort(&ret->cpus, by_cpu);
	return 0;
}

static void rows_release(struct sched_rows *rows)
{
	free(rows->row);
	id_table_release(&rows->numbers);
}

void sched_report_release(struct sched_report *r)
{
	rows_release(&r->threads);
	rows_release(&r->cpus);
	*r = (struct sched_report){0};
}
