/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of a count have in common. */
#ifndef RINGTAIL_RENDER_COUNTS_COUNTS_PRIV_H
#define RINGTAIL_RENDER_COUNTS_COUNTS_PRIV_H

#include "render/counts/counts.h"

#define COUNT_TEXT_SIZE 64

/* Whether an event of a row has a line: those of a chip's PMU count on few CPUs only. */
bool count_shown(const struct counts_view *view, size_t row, size_t event);

/* Writes the scaled count, or why there is none: "<not counted>", "<not supported>". */
void count_text(const struct counts_view *view, size_t row, size_t event, bool thousands,
		char out[COUNT_TEXT_SIZE]);

/* Returns how long the event ran, ns: of several runs the mean. */
uint64_t count_run_time(const struct count_cell *cell);

/* Returns the error of the mean in percent of it. */
double count_error(const struct spread *value);

/* Whether rows have a column for their number of CPUs. */
bool counts_have_cpus(const struct counts_view *view);

#endif
