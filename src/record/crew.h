/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers of a recording: one for each mask of --threads, or one that reads all rings.
 *
 * The main thread's. An all-zero struct crew is empty.
 */
#ifndef RINGTAIL_RECORD_CREW_H
#define RINGTAIL_RECORD_CREW_H

#include "record/masks.h"
#include "record/notes.h"
#include "record/output.h"
#include "record/worker.h"

struct crew {
	struct reader_masks masks; /* empty without --threads: one worker, that runs anywhere */
	struct worker **workers;
	size_t nr;
	unsigned int *worker_of; /* each ring's worker */
	int report; /* an eventfd: crew_view() has something new; -1 before crew_hire() */
	bool running;
};

/*
 * How many workers there are to be, and where. @spec as for reader_masks_new(), NULL without
 * --threads. Returns 0, -EINVAL when @spec is wrong, or another negative errno.
 */
int crew_plan(struct crew *crew, const struct record_opts *opts, const struct plan *plan,
	      const struct notes *notes, struct error *err);

/*
 * Makes the workers with their rings and lanes. A ring of a CPU is read by the worker whose mask
 * has the CPU; those of CPUs in no mask (sideband, with -C) and of single tasks (which run
 * anywhere) are dealt out evenly. @opened must outlive the crew, @output what it does.
 */
int crew_hire(struct crew *crew, const struct opened *opened, const struct output *output,
	      uint64_t ring_size, struct error *err);

int crew_start(struct crew *crew, struct error *err);
void crew_ask(struct crew *crew, enum worker_command command);

/* Waits until all have done what they were asked. Returns 0, or the error of one with @err filled.
 */
int crew_await(struct crew *crew, struct error *err);

/* While all are paused: their lanes are those of @output, which must outlive the crew. */
void crew_retarget(struct crew *crew, const struct output *output);
void crew_resume(struct crew *crew);

/* All that is true of every worker; code and full: of any. Quiets the report. */
struct worker_view crew_view(struct crew *crew);

/* Lets all workers drain and end, and waits for it. Returns 0 or the first error of one. */
int crew_dismiss(struct crew *crew, struct error *err);

/* With several workers: which rings and CPUs each has; afterwards, what each took and wrote. */
void crew_say_plan(const struct crew *crew, const struct opened *opened, const struct notes *notes);
void crew_say_done(const struct crew *crew, const struct output *output, const struct notes *notes);

size_t crew_pool_bytes(const struct crew *crew);

void crew_release(struct crew *crew); /* ends workers that run */

#endif
