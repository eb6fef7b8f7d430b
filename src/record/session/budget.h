/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of --max-cpu: which share of the asked frequencies fits into a part of one CPU.
 *
 * The caller gives it the CPU time used, every BUDGET_LOOK_MS. Above the budget the share falls at
 * once, in proportion to the excess. Well below, it rises slowly and only after a second reading,
 * because not all of the cost follows the share.
 *
 * Pure. One thread.
 */
#ifndef RINGTAIL_RECORD_SESSION_BUDGET_H
#define RINGTAIL_RECORD_SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_LOOK_MS 2000

struct budget {
	double most;	   /* part of one CPU */
	double least;	   /* the share that there is no less of */
	double share;	   /* of what was asked; at most 1 */
	double usage;	   /* part of one CPU, at the last look */
	uint64_t cpu;	   /* time used up to it, ns */
	uint64_t clock;	   /* when it was, ns */
	unsigned int calm; /* looks since the last at which there was no room for more */
};

/* @cpu and @clock: now. */
void budget_init(struct budget *b, double most, double least, uint64_t cpu, uint64_t clock);

/* Returns whether the share is another. */
bool budget_look(struct budget *b, uint64_t cpu, uint64_t clock);

#endif
