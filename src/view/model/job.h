/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job: what takes long, in a thread of its own: loading a recording, counting its samples, reading
 * the code of a function.
 *
 * The owner's thread starts a job, polls job.ended, and takes the result. A job can be stopped at
 * any time. Tables that were made refer to their trace, which must outlive them.
 */
#ifndef RINGTAIL_VIEW_MODEL_JOB_H
#define RINGTAIL_VIEW_MODEL_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include "report/table/report.h"
#include "view/model/code.h"

#define JOB_SLICES 1200 /* of time, in a table */

/* A table with the options that it was made with. */
struct job_table {
	struct trace *trace; /* borrowed */
	struct report_opts opts;
	struct report *report;
};

struct view_job {
	pthread_t thread;
	bool running;
	int ended; /* an eventfd */
	atomic_bool stop;
	atomic_uint pass;
	atomic_ullong done, total;

	/* Of the request. @load is called first, if set, and finds the trace. */
	int (*load)(void *arg, struct view_job *j, struct trace **ret, struct error *err);
	void *arg;
	struct trace *trace;
	struct report_opts opts;
	struct code_wanted code_of; /* its code is wanted, not a table; without a sym: a table */
	size_t event;		    /* likewise */

	/* Of the result. */
	int rc;
	struct error err;
	struct job_table *table;
	struct view_code *code;
};

/* Returns 0 or a negative errno. */
int job_init(struct view_job *j);
/* Stops a job and waits for its end. */
void job_release(struct view_job *j);

/* Starts what the request says; none runs. Returns 0 or a negative errno. */
int job_start(struct view_job *j);
/* Asks a job to end soon, with -ECANCELED. */
void job_stop(struct view_job *j);
/*
 * Waits up to @ms for the end of a job that runs; returns whether none runs any more. Its result
 * then is in @j; the caller takes j->table or j->code over and sets them to NULL.
 */
bool job_take(struct view_job *j, unsigned int ms);

/* Sets the callbacks of @t that show progress and stop it. */
void job_watch(struct view_job *j, struct trace *t);

void job_table_free(struct job_table *t); /* accepts NULL */

#endif
