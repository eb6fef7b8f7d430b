/* SPDX-License-Identifier: Apache-2.0 */
/* Options of perf top: those that go to the recorder or to the report, and those without effect. */
#ifndef RINGTAIL_CLI_CMD_TOP_PERF_H
#define RINGTAIL_CLI_CMD_TOP_PERF_H

#include <argp.h>
#include <stdbool.h>

#include "cli/cmd-report-values.h"
#include "render/table.h"
#include "report/table/report.h"
#include "report/trace/trace.h"

#define TOP_WORDS 64
#define TOP_FIXED 10 /* what cmd-top.c adds */

/* What the options say. Strings are borrowed. */
struct top_options {
	/* Words of `ringtail record`, which parses them. */
	char *word[TOP_WORDS + TOP_FIXED];
	int nr_words;
	bool stdio, chains;
	struct report_opts report;
	struct table_opts table;
	struct columns_spec columns;
	struct trace_opts trace;	  /* files with symbols; no path */
	struct name_regex ignore_callees; /* for name_regex_release() */
};

/* Adds an option of the recorder, with @arg if it is not NULL. Exits if there are too many. */
void top_pass(struct argp_state *state, struct top_options *top, const char *option,
	      const char *arg);

/* An argp child; its input is a struct top_options. */
extern const struct argp top_perf_argp;

#endif
