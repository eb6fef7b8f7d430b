/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process must do for a view on its terminal: signals, locale, and the end by a signal.
 */
#ifndef RINGTAIL_CLI_VIEW_SHOW_H
#define RINGTAIL_CLI_VIEW_SHOW_H

#include "cli/input/input.h"
#include "render/table.h"
#include "view/screen/view.h"

/* Returns whether standard input and output are a terminal whose cursor can be moved. */
bool show_is_possible(void);

/* Ends the program with a usage error if it is not. */
void show_check(const struct argp_state *state);

/*
 * Shows a view; sets what a process decides in @opts (signals, suspend, color). *@ret_signal is the
 * signal that ended the view; 0: none. Returns 0, VIEW_ABANDONED, or a negative errno after a
 * message.
 */
int show_view(struct view_opts *opts, int *ret_signal);

/*
 * Ends the process by @signal_number, or, after VIEW_ABANDONED as @rc, without waiting for the
 * threads that still run. Otherwise returns.
 */
void show_end(int rc, int signal_number);

/*
 * Shows @t, which is open and not prepared, with the rows of @report; @table has the rest of the
 * options. *@ret_waits gets the counts of waits in all samples, if they were counted; may be NULL.
 * A signal ends the process. Returns 0, or a negative errno after a message.
 */
int show_recording(struct input *in, struct trace *t, const struct report_opts *report,
		   const struct table_opts *table, struct waits_counts *ret_waits);

#endif
