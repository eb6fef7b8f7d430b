/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of threads in a PID namespace: the scheduler's tracepoints have the kernel's own, samples
 * and all other records those of the recorder's namespace.
 *
 * A switch has both of the thread that leaves. So a thread's number is known once it has left a
 * CPU. Threads outside of the namespace are 0 in samples, as the idle thread. One thread.
 */
#ifndef RINGTAIL_REPORT_WAITS_TID_NUMBERS_H
#define RINGTAIL_REPORT_WAITS_TID_NUMBERS_H

#include "base/id_table.h"
#include "report/waits/sched_event.h"

/* All zero: the numbers do not differ so far. */
struct tid_numbers {
	struct id_table table; /* from the kernel's to those of the namespace */
	bool differ;
};

/*
 * Gives the threads of @e, which a sample of the thread @sampled has, their numbers in the
 * namespace; 0: not known, or outside. Returns 0 or -ENOMEM.
 */
int tid_numbers_translate(struct tid_numbers *n, uint32_t sampled, struct sched_event *e);
void tid_numbers_release(struct tid_numbers *n); /* leaves zeroes */

#endif
