/* SPDX-License-Identifier: Apache-2.0 */
/* `ringtail report --html`, `ringtail diff --html`: a recording as one HTML page. One thread. */
#ifndef RINGTAIL_CLI_CMD_REPORT_HTML_H
#define RINGTAIL_CLI_CMD_REPORT_HTML_H

#include "cli/input/input.h"
#include "export/html/before.h"
#include "report/table/report.h"

/*
 * Writes the samples of @t, which is prepared, to @path ("-": standard output). @opts choose the
 * samples, and the frames of chains. The page compares them with @before, if it is not NULL.
 * Returns 0, or a negative errno after a message; then there is no output file.
 */
int report_html(struct input *in, struct trace *t, const struct report_opts *opts, const char *path,
		const struct html_before *before);

#endif
