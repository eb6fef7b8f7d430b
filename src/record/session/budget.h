/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of --max-cpu: computes by which factor to lower the frequencies of all events, so
 * that recording stays within a part of one CPU.
 *
 * The caller passes the CPU time used, every BUDGET_LOOK_MS. The factor is called share. If usage
 * is above the budget, the share falls at once, in proportion to the excess. If usage is well
 * below, the share rises slowly, and only after a second reading, because not all of the cost
 * follows it.
 *
 * No system calls. One thread uses a struct.
 */
#ifndef RINGTAIL_RECORD_SESSION_BUDGET_H
#define RINGTAIL_RECORD_SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_LOOK_MS 2000

struct budget {
	double most;	   /* part of one CPU */
	double least;	   /* lowest share */
	double share;	   /* of the frequencies that the user asked for; at most 1 */
	double usage;	   /* part of one CPU, in the last interval */
	uint64_t cpu;	   /* CPU time used until the last look, ns */
	uint64_t clock;	   /* time of the last look, ns */
	unsigned int calm; /* looks in a row with room for a higher share */
};

/* @cpu: CPU time used so far; @clock: the time now; ns. */
void budget_init(struct budget *b, double most, double least, uint64_t cpu, uint64_t clock);

/* Computes the new share. Returns whether it changed. @cpu and @clock as above. */
bool budget_look(struct budget *b, uint64_t cpu, uint64_t clock);

#endif
