/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --switch-on and --switch-off: the times between the samples of two events. Main thread.
 */
#ifndef RINGTAIL_REPORT_SWITCHES_SWITCHES_H
#define RINGTAIL_REPORT_SWITCHES_SWITCHES_H

#include "report/trace/filter.h"
#include "report/trace/trace.h"

struct switch_opts {
	const char *on, *off; /* names of events; NULL: on from the start, or never off */
	bool show;	      /* the samples of these events pass, too */
};

/*
 * Adds to @f the times at which the switch is on; walks all samples for it. Returns 0, -EINVAL with
 * @err filled (the recording has no such event) or another negative errno.
 */
int switches_find(struct trace *t, const struct switch_opts *opts, struct filter *f,
		  struct error *err);

#endif
