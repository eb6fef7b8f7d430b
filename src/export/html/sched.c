// SPDX-License-Identifier: Apache-2.0
#include "export/html/sched.h"

#include <errno.h>

#include "export/html/table.h"
#include "report/waits/sched.h"

#define ROWS_MAX 65536u /* of a part */

static const struct moment the_end = {.time = UINT64_MAX, .seq = UINT64_MAX};

/* Columns, in their order. */
enum {
	SCHED_KIND,
	SCHED_TIME, /* of its end: ticks since the row before in its part, zigzag */
	SCHED_THREAD,
	SCHED_CPU,     /* plus one; 0: not known */
	SCHED_NS,      /* on a CPU, or on a run queue */
	SCHED_BLOCKED, /* ns, before it was woken */
	SCHED_COLUMNS
};

enum {
	SCHED_RUN,
	SCHED_RUN_OPEN, /* it has not ended */
	SCHED_MIGRATED, /* a run on another CPU than the one before */
	SCHED_MIGRATED_OPEN,
	SCHED_DELAY,	    /* a wait, from its wakeup on a delay */
	SCHED_BLOCKED_ONLY, /* a wait without a delay: nobody saw its wakeup, or it has not ended */
	SCHED_PREEMPTED,
	SCHED_DELAY_UNSURE, /* a delay over lost records, which may be several */
};

struct sched_writer {
	const struct html_sched *sched;
	struct html_table table;
	int64_t ticks; /* of the newest row */
};

/* Adds a row of @tid, if it is wanted. Returns 0, -ENOMEM, or the rc of the output. */
static int add(struct sched_writer *w, uint32_t tid, uint32_t cpu, uint64_t time, uint64_t *row)
{
	const struct html_sched *s = w->sched;
	int64_t ticks = (int64_t)(time - s->first_time) / (int64_t)s->tick;
	uint32_t pid, thread;
	const char *comm;
	int rc;

	if (!sched_is_chosen(s->trace, s->filter, tid, cpu, time, &pid))
		return 0;
	comm = state_comm(s->trace->state, pid, tid, the_end);
	thread = export_thread_put(s->threads, pid, tid, comm);
	if (thread == INTERN_NONE)
		return -ENOMEM;
	row[SCHED_TIME] = html_zigzag(w->table.nr_rows ? ticks - w->ticks : ticks);
	row[SCHED_THREAD] = thread;
	row[SCHED_CPU] = cpu == PAIRING_NONE ? 0 : (uint64_t)cpu + 1;
	w->ticks = ticks;
	rc = html_table_add(&w->table, row);
	if (!rc && w->table.nr_rows == ROWS_MAX)
		rc = html_table_write(&w->table, s->out, "sched");
	return rc;
}

static int take_wait(const struct wait *wait, void *arg)
{
	uint64_t row[SCHED_COLUMNS] = {[SCHED_KIND] = SCHED_BLOCKED_ONLY};
	uint64_t woken = wait->is_new ? wait->since : wait->woken;

	if (wait->can_run && !wait->is_new) {
		row[SCHED_KIND] = SCHED_PREEMPTED;
		row[SCHED_NS] = wait->until - wait->since;
	} else {
		row[SCHED_BLOCKED] = (woken ?: wait->until) - wait->since;
		if (woken && !wait->open) {
			row[SCHED_KIND] = wait->unsure ? SCHED_DELAY_UNSURE : SCHED_DELAY;
			row[SCHED_NS] = wait->until - woken;
		}
	}
	return add(arg, wait->tid, wait->end_cpu, wait->until, row);
}

static int take_run(const struct pairing_run *run, void *arg)
{
	uint64_t row[SCHED_COLUMNS] = {0};

	row[SCHED_KIND] = run->migrated ? SCHED_MIGRATED : SCHED_RUN;
	row[SCHED_KIND] += run->open;
	row[SCHED_NS] = run->until - run->since;
	return add(arg, run->tid, run->cpu, run->until, row);
}

int html_sched_write(const struct html_sched *s, struct error *err)
{
	struct sched_writer w = {.sched = s, .table = {.nr_columns = SCHED_COLUMNS}};
	const struct waits_opts opts = {.wait = take_wait, .run = take_run, .arg = &w};
	struct error none = ERROR_INIT;
	struct waits_counts counts;
	int rc;

	if (waits_check(s->trace, &none) < 0)
		return 0;
	rc = waits_walk(s->trace, &opts, NULL, NULL, &counts, err);
	if (!rc && w.table.nr_rows)
		rc = html_table_write(&w.table, s->out, "sched");
	html_table_release(&w.table);
	return rc;
}
