/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --time in times of day: 14:03:05,14:03:09 or 2026-11-25T14:03:05,. Local time; main thread.
 */
#ifndef RINGTAIL_CLI_INPUT_WALL_TIME_H
#define RINGTAIL_CLI_INPUT_WALL_TIME_H

#include <stdbool.h>

#include "report/trace/filter.h"
#include "report/trace/trace.h"

/* Returns whether @arg is "START,STOP" in times of day; either may be empty. */
bool wall_time_is(const char *arg);

/*
 * Sets the times of @f. A time without a date is of the day of the first sample, or of the next day
 * if the recording reaches it. The recording relates its clock to the time of day (-k), or its
 * snapshots do; else the last sample is taken to be as old as the file: then *@ret_guessed is true.
 * Returns 0, or -EINVAL with @err filled.
 */
int wall_time_apply(const char *arg, const struct trace *t, struct filter *f, bool *ret_guessed,
		    struct error *err);

#endif
