/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers of a recording: one for each mask of --threads, or a single one for all rings.
 *
 * The main thread's. An all-zero struct crew is empty.
 */
#ifndef RINGTAIL_RECORD_SESSION_CREW_H
#define RINGTAIL_RECORD_SESSION_CREW_H

#include "record/flight/flight.h"
#include "record/open/frequency.h"
#include "record/loss/lost_carryover.h"
#include "record/open/renumber.h"
#include "record/plan/masks.h"
#include "record/plan/messages.h"
#include "record/output/output.h"
#include "record/pipeline/chain_stage.h"
#include "record/pipeline/worker.h"

struct service_status;

struct crew {
	struct reader_masks masks;  /* empty without --threads: one worker, that runs anywhere */
	struct reader_masks places; /* where rings are to be emptied; empty: anywhere */
	struct worker **workers;
	struct flight *flight;	     /* where workers write; NULL: to lanes of the output */
	struct frequency *frequency; /* that may change while they run, or NULL */
	struct renumber *renumber;   /* of what they take, or NULL */
	struct lost_carryover *late; /* likewise */
	int realtime;		     /* their priority; 0: the default */
	uint64_t least;		     /* bytes of a ring that they take */
	bool unbuffered;	     /* what they take is readable at once */
	bool own_build_ids;	     /* plan_build_ids() */
	bool unwinds;		     /* --call-graph dwarf,online */
	bool hold;		     /* writers wait for crew_resume() when the output is full */
	struct shed **sheds;	     /* of their readers */
	struct chain_maker *chains;  /* --call-graph dwarf,online; else NULL, as: */
	struct sideband_taps *taps;  /* which bring it sideband */
	struct sink **chain_stages;  /* before the sinks of workers */
	size_t nr;
	size_t buffer;		 /* bytes between the two threads of a worker */
	unsigned int *worker_of; /* each ring's worker */
	struct aux_areas aux;	 /* of all rings; the session switches them */
	int report;	     /* an eventfd: crew_view() has something new; -1 before crew_hire() */
	bool running, whole; /* whole: all of them */
	/* Reports that the main thread is alive while it waits for workers; NULL: to nobody. */
	struct service_status *service;
};

/*
 * How many workers there are to be, and where. @spec as for reader_masks_new(), NULL without
 * --threads. Returns 0, -EINVAL when @spec is wrong, or another negative errno.
 */
int crew_plan(struct crew *crew, const struct reader_opts *opts, const struct output_opts *output,
	      const struct plan *plan, const struct messages *messages, struct error *err);

/* Open files that the workers and their outputs take. */
size_t crew_descriptors(const struct crew *crew);

/*
 * Makes the workers with their rings and lanes. A ring of a CPU is read by the worker whose mask
 * has the CPU; those of CPUs in no mask (sideband, with -C) and of single tasks (which run
 * anywhere) are dealt out evenly. @plan and @opened must outlive the crew, @output what it does.
 */
int crew_hire(struct crew *crew, const struct plan *plan, const struct opened *opened,
	      const struct output *output, struct error *err);

/* Starts all workers. Returns 0, or a negative errno with @err filled; some may run then. */
int crew_start(struct crew *crew, struct error *err);

/* The main thread is busy with something that takes long: as if it waited. */
void crew_breathe(const struct crew *crew);
void crew_ask(struct crew *crew, enum worker_command command);

/* Waits until all have done what they were asked. Returns 0, or the error of one with @err filled.
 */
int crew_await(struct crew *crew, struct error *err);

/*
 * The same, but calls @ends with @arg ten times a second, and returns 1 when that returns true: the
 * output may hang, and the user wants to end the recording.
 */
int crew_await_unless(struct crew *crew, bool (*ends)(void *arg), void *arg, struct error *err);

/*
 * Holds all writers, each behind the run that it writes, until crew_resume(); or lets those go on
 * that wait since the output is full.
 */
void crew_hold(struct crew *crew, bool hold);

/* While all are paused or held: their lanes are those of @output, which must outlive the crew. */
void crew_retarget(struct crew *crew, const struct output *output);
void crew_resume(struct crew *crew);

/* All that is true of every worker; code and full: of any. Quiets the report. */
struct worker_view crew_view(struct crew *crew);

enum crew_end {
	CREW_ENDED,
	CREW_FULL, /* a full output holds the writer: rotate, or crew_hold(crew, false) */
	CREW_LATE, /* the time is over */
};

/*
 * Asks all workers to drain and end, and waits up to @ms (negative: any time), with @rotates also
 * until a full output holds the writer. May be called again.
 */
enum crew_end crew_drain(struct crew *crew, int64_t ms, bool rotates);

/* Bytes that are out of the rings and not written yet. Any time. */
size_t crew_backlog(const struct crew *crew);

/* Lets all workers drain and end, and waits for it. Returns 0 or the first error of one. */
int crew_dismiss(struct crew *crew, struct error *err);

/* With several workers: which rings and CPUs each has; afterwards, what each took and wrote. */
void crew_say_plan(const struct crew *crew, const struct opened *opened,
		   const struct messages *messages);
void crew_say_done(const struct crew *crew, const struct output *output,
		   const struct messages *messages);

size_t crew_buffer_bytes(const struct crew *crew); /* of all workers */

/* When no worker runs: bytes of records that were overwritten before a dump could take them. */
uint64_t crew_overwritten(const struct crew *crew);

/*
 * When no worker runs: fills *@ret with what became of user stacks. Returns false without
 * --call-graph dwarf,online.
 */
bool crew_chains(const struct crew *crew, struct chain_stats *ret);

/* When no worker runs: adds the truncated user stacks to *@ret. Returns 0 or -ENOMEM. */
int crew_truncated_stacks(const struct crew *crew, struct loss *ret);

void crew_release(struct crew *crew); /* ends workers that run */

#endif
