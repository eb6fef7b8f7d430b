/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler did, by thread and by CPU: runs, switches, delays on run queues, migrations.
 *
 * A delay is the time from a wakeup until the thread runs, as in perf sched timehist. The waits of
 * preempted threads are counted beside it. One thread.
 */
#ifndef RINGTAIL_REPORT_WAITS_SCHED_H
#define RINGTAIL_REPORT_WAITS_SCHED_H

#include "report/trace/filter.h"
#include "report/waits/waits.h"

struct sched_row {
	uint32_t pid, tid; /* of a thread */
	uint32_t cpu;	   /* of a CPU */
	const char *comm;  /* of a thread, its last name; NULL: unknown */
	uint64_t ran_ns, runs;
	uint64_t switches;   /* it left a CPU, or a thread left it */
	uint64_t migrations; /* runs on another CPU than the run before; of a CPU, to it */
	uint64_t delays, delay_ns;
	uint64_t max_ns, max_at; /* the longest delay without a loss, and when it ended */
	uint64_t preempted, preempted_ns;
	uint64_t blocked_ns;
};

struct sched_rows {
	struct sched_row *row;
	size_t nr, cap;
	struct id_table numbers; /* by thread, or by CPU */
};

struct sched_report {
	struct sched_rows threads; /* the longest delays in all first */
	struct sched_rows cpus;	   /* by number */
	struct sched_row all;
	struct waits_counts counts;
};

/*
 * Returns whether @filter accepts what thread @tid did on @cpu at @time, and sets *@ret_pid to its
 * process.
 */
bool sched_is_chosen(const struct trace *t, const struct filter *filter, uint32_t tid, uint32_t cpu,
		     uint64_t time, uint32_t *ret_pid);

/*
 * Reads @t, which is prepared. @filter chooses threads, CPUs (where a wait ends) and times. Returns
 * 0 with @ret for sched_report_release(), or a negative errno with @err filled.
 */
int sched_report_run(struct trace *t, const struct filter *filter, struct sched_report *ret,
		     struct error *err);
void sched_report_release(struct sched_report *r);

#endif
