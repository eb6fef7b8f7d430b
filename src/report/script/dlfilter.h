/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of samples that the user loads: a shared object with perf's interface for filters
 * (perf-dlfilter(1)), by which C code decides which samples script shows.
 *
 * Its code runs in this process, and may print: one thread calls it, in the order of the samples,
 * between the lines. That thread owns the struct dlfilter.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_DLFILTER_H
#define RINGTAIL_REPORT_SCRIPT_DLFILTER_H

#include "report/script/code_reader.h"
#include "report/trace/filter.h"

struct dlfilter;

/*
 * Loads @path. Without a slash it is a file of the current folder, of perf's folder of filters, or
 * of the loader's. @words are the @nr words that the filter may ask for; they outlive it. Returns 0
 * with *@ret for dlfilter_free(), or a negative errno with @err filled.
 */
int dlfilter_load(const char *path, char **words, size_t nr, struct dlfilter **ret,
		  struct error *err);
void dlfilter_free(struct dlfilter *f); /* accepts NULL */

/* What answers the questions of a filter; all of it outlives the filter's calls. */
struct dlfilter_answers {
	const struct trace *trace;
	struct frames *frames;
	struct code_reader *code;
	const struct filter *filter; /* the user's other choices */
};

/* Calls its start(). Returns 0, or a negative errno with @err filled. */
int dlfilter_start(struct dlfilter *f, const struct dlfilter_answers *answers, struct error *err);
/* Calls its stop(), also after a failure, as perf does. Returns as dlfilter_start(). */
int dlfilter_stop(struct dlfilter *f, struct error *err);

/*
 * Asks whether to show a sample: first before all other choices, with @early, then after them.
 * Returns 0 to show it, 1 to leave it out, or -ECANCELED: the filter failed (dlfilter_failure()).
 */
int dlfilter_ask(struct dlfilter *f, bool early, const struct walk_sample *ws);

/* Fills @err if the filter failed. Returns its code or 0. */
int dlfilter_failure(const struct dlfilter *f, struct error *err);

/* Describes a filter that was found; @more may be NULL. */
typedef void (*dlfilter_found_fn)(const char *name, const char *description, const char *more,
				  void *arg);

/*
 * Calls @fn for each file *.so with a description: of the current folder, if it is this user's or
 * root's, and of perf's folder of filters. Returns 0 or -ENOMEM.
 */
int dlfilter_list(dlfilter_found_fn fn, void *arg);

#endif
