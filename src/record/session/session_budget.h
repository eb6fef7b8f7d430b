/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --max-cpu: measures the CPU time of the recorder's threads and sets the frequencies of events.
 *
 * The main thread's. An all-zero struct has no budget; all calls accept it.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_BUDGET_H
#define RINGTAIL_RECORD_SESSION_SESSION_BUDGET_H

#include "base/error.h"
#include "record/session/budget.h"
#include "record/plan/clock.h"
#include "record/open/frequency.h"

struct session_budget {
	const struct plan *plan;
	const struct messages *messages;
	struct frequency *frequency; /* NULL: there is no budget */
	struct clock clock;
	struct budget law;
	int timer;
	struct rate_limit change;  /* the line */
	unsigned int lowered;	   /* times */
	double least;		   /* share so far */
	uint64_t begin_cpu, begin; /* ns, of session_budget_start() */
};

/*
 * If opts->max_cpu says so; that an event keeps its frequency is a note. Returns 0 or a negative
 * errno with @err filled; call session_budget_release() in both cases.
 */
int session_budget_open(struct session_budget *b, const struct record_opts *opts,
			const struct plan *plan, const struct opened *opened,
			const struct messages *messages, struct error *err);
void session_budget_release(struct session_budget *b);

/* Some events were opened again: they get the frequencies that the others have. */
void session_budget_revived(struct session_budget *b);

/* From now on CPU time counts. */
void session_budget_start(struct session_budget *b);

/* Readable when session_budget_look() is due; -1: never. */
int session_budget_fd(const struct session_budget *b);
void session_budget_look(struct session_budget *b);

/* Says whether frequencies were lowered, and whether recording took more than the budget. */
void session_budget_end(const struct session_budget *b);

#endif
