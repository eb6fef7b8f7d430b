/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks: the call chains of several reports, joined by name, with their samples in each.
 *
 * A stack begins with the event and the command; the frames follow, outermost first. A frame
 * without symbol has the short name of its file in brackets. The stacks are one tree of names, so
 * that common callers take memory once.
 *
 * A struct stacks owns all that it points to and outlives the reports. One thread uses it.
 */
#ifndef RINGTAIL_REPORT_DIFF_STACKS_H
#define RINGTAIL_REPORT_DIFF_STACKS_H

#include "report/table/report.h"

struct stacks;

/*
 * Sets what a report must count to be added: rows by command, with call graphs from the outermost
 * caller; by function, too, if @t has no call chains.
 */
void stacks_report_opts(const struct trace *t, struct report_opts *ret);

/* Returns 0 with *@ret for stacks_free(), or -ENOMEM. */
int stacks_new(size_t nr_files, struct stacks **ret);
/* Frees @s; accepts NULL. */
void stacks_free(struct stacks *s);

/* Adds the next recording, with @r made for stacks_report_opts(). Returns 0, -ENOMEM or -E2BIG. */
int stacks_add(struct stacks *s, const struct report *r);

/* Returns the number of events that the recordings have together. */
size_t stacks_events(const struct stacks *s);

/*
 * Takes a stack of @depth names, with its samples in each recording. A negative errno ends the
 * walk.
 */
typedef int (*stacks_fn)(const char *const *name, size_t depth, const uint64_t *samples, void *arg);

/*
 * Calls @fn for each stack with samples of its own, in the order of the names. Call it once, after
 * all recordings are added. Returns 0, -ENOMEM, or the negative value of @fn.
 */
int stacks_walk(struct stacks *s, stacks_fn fn, void *arg);

#endif
