/* SPDX-License-Identifier: Apache-2.0 */
/* Waits in `ringtail report` and `ringtail export`: --off-cpu and --wall. */
#ifndef RINGTAIL_CLI_CMD_REPORT_WAITS_H
#define RINGTAIL_CLI_CMD_REPORT_WAITS_H

#include <argp.h>

#include "cli/input/input.h"
#include "render/table.h"
#include "report/table/report.h"

struct waits_args {
	bool off_cpu;		/* --off-cpu */
	struct waits_opts opts; /* with --wall */
};

/* Returns whether waits are wanted. */
static inline bool waits_wanted(const struct waits_args *w)
{
	return w->off_cpu || w->opts.wall;
}

/*
 * Sets the columns and @report->waits, where waits are wanted, before columns_arrange(). Ends the
 * process with a message if other options exclude waits.
 */
void report_waits_settle(struct argp_state *state, struct waits_args *w,
			 struct columns_spec *columns, struct report_opts *report);

/* Checks the keys of waits, after columns_arrange(). As report_waits_settle(). */
void report_waits_check_keys(struct argp_state *state, const struct waits_args *w,
			     const struct report_opts *report);

/* For what is of threads, not of their code. As report_waits_settle(). */
void waits_refuse_code(struct argp_state *state, const struct filter *filter);

/* Says what is not known of the waits. */
void waits_explain(const struct input *in, const struct waits_counts *counts);

/*
 * Shows a recording as a view, as show_recording() does. What there is to say of waits is printed
 * when the terminal is free.
 */
int waits_view(struct input *in, struct trace *t, const struct report_opts *report,
	       const struct table_opts *table);

#endif
