/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: a recording on a terminal, in which a user goes around; or what is recorded now.
 *
 * One thread runs a view, with a job in another (view/model/job.h). What is passed outlives it.
 */
#ifndef RINGTAIL_VIEW_SCREEN_VIEW_H
#define RINGTAIL_VIEW_SCREEN_VIEW_H

#include "view/model/job.h"

#define VIEW_ABANDONED 1 /* of view_run() */

struct view_opts {
	const char *title;
	const struct report_opts *report; /* what to count */
	double percent_limit;		  /* rows below this share are left out */
	bool relative;			  /* percentages are of the shown rows, at first */
	bool color;

	/*
	 * Called in the job's thread: finds the recording and prepares it, with job_watch(). Of a
	 * file once; with @live for each table. Returns 0 or a negative errno with @err filled.
	 */
	int (*load)(void *arg, struct view_job *j, struct trace **ret, struct error *err);
	/* Called when nothing refers to a trace of @load any more; NULL: it is not asked. */
	void (*drop)(void *arg, struct trace *t);
	/* Called in the view's thread with each table, before it is shown; NULL: it is not asked.
	 */
	void (*counted)(void *arg, const struct report *r);
	void *arg; /* of all callbacks */

	int signals;		    /* a signalfd of the signals that end, resize and suspend it */
	void (*suspend)(void *arg); /* the terminal is free: stops the process */

	/* Live. All in the view's thread. */
	unsigned int refresh_ms; /* 0: a file */
	/* Fills @ret with what is said of the recording itself. */
	void (*describe)(void *arg, char *ret, size_t size);
	/* Makes the window longer (1) or shorter (-1). */
	void (*window)(void *arg, int direction);
	/* Writes a snapshot to a file. Returns 0 with a sentence in @ret, or a negative errno. */
	int (*save)(void *arg, char *ret, size_t size, struct error *err);
};

/*
 * Shows the view until the user leaves. *@ret_signal is the signal that ended it; 0: none. Returns
 * 0; VIEW_ABANDONED if the job's thread still runs, so that the caller may free nothing that it
 * uses; or a negative errno with @err filled.
 */
int view_run(const struct view_opts *opts, int *ret_signal, struct error *err);

#endif
