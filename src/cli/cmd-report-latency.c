// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cli/cmd-report-values.h"
#include "cli/cmd-report-view.h"
#include "cli/cmd-report-waits.h"
#include "cli/input/command.h"
#include "render/json.h"
#include "render/waits/spans.h"

#define MAX_STACK 127
#define SLOWEST	  3
#define PERCENT	  0.5 /* of a span, below which a branch is left out */

struct latency_args {
	struct input input;
	struct spans_opts spans;
	char *start, *end; /* owned */
	double percent;
	bool json;
};

enum {
	OPT_SPAN = 0x7500,
	OPT_SLOWEST,
	OPT_JSON,
	OPT_PERCENT_LIMIT,
	OPT_MAX_STACK,
};

static const struct argp_option options[] = {
	{"span", OPT_SPAN, "START..END", 0,
	 "From a sample of the event START to the next of END in the same thread, as in 'record "
	 "--trigger latency:START..END>TIME'",
	 HELP_MOST_USED},
	{"slowest", OPT_SLOWEST, "N", 0, "Show what the threads did in N spans (default 3)",
	 HELP_MOST_USED},
	{"json", OPT_JSON, NULL, 0, "Write JSON", HELP_OUTPUT},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0,
	 "Leave out branches with less than PERCENT of a span (default 0.5)", HELP_OUTPUT},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Use N frames of a chain (default 127)", HELP_OUTPUT},
	{0},
};

/* Finds the dots between two events: not those of "../program". */
static const char *find_dots(const char *span)
{
	const char *dots = strstr(span, "..");

	while (dots && dots[2] == '/')
		dots = strstr(dots + 2, "..");
	return dots;
}

static void take_span(struct argp_state *state, struct latency_args *a, const char *arg)
{
	const char *dots = find_dots(arg);

	if (!dots || dots == arg || !dots[2] || find_dots(dots + 2))
		usage_error(state,
			    "--span: '%s' is no START..END, such as "
			    "syscalls:sys_enter_fsync..syscalls:sys_exit_fsync",
			    arg);
	free(a->start);
	free(a->end);
	a->start = strndup(arg, (size_t)(dots - arg));
	a->end = strdup(dots + 2);
	a->spans.start = a->start;
	a->spans.end = a->end;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct latency_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case OPT_SPAN: take_span(state, a, arg); break;
	case OPT_SLOWEST: a->spans.slowest = report_slowest(state, arg); break;
	case OPT_JSON: a->json = true; break;
	case OPT_PERCENT_LIMIT: a->percent = input_percent(state, "--percent-limit", arg); break;
	case OPT_MAX_STACK: a->spans.max_stack = report_max_stack(state, arg); break;
	case ARGP_KEY_ARG: command_take_path(state, &a->input, arg); break;
	case ARGP_KEY_END:
		if (!a->start || !a->end)
			usage_error(state, "--span START..END is missing");
		waits_refuse_code(state, &a->input.filter);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int show(void *args, struct trace *t)
{
	struct latency_args *a = args;
	struct error err = ERROR_INIT;
	struct spans *spans = NULL;
	int rc = command_prepare(&a->input, t);

	if (rc < 0)
		return rc;
	a->spans.filter = a->input.filter; /* with the times of --time's parts */
	rc = spans_run(t, &a->spans, &spans, &err);
	input_progress_end(&a->input);
	if (rc < 0)
		complain("%s", err.text);
	else if (a->json)
		rc = json_write(stdout, spans_json(spans));
	else
		rc = spans_render(stdout, spans, a->percent);
	if (!rc && !spans->waits && spans->nr_slowest && !a->input.quiet)
		complain("the recording does not say when threads waited: 'ringtail record "
			 "--off-cpu' does");
	input_explain_symbols(&a->input, t);
	spans_free(spans);
	return rc;
}

int cmd_report_latency(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show how long threads took from one event to another, and what they did in "
		       "the slowest of these spans.",
		.children = children,
	};
	struct latency_args a = {.spans = {.max_stack = MAX_STACK, .slowest = SLOWEST},
				 .percent = PERCENT};
	int status;

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.spans.inlined = !a.input.no_inline;
	status = command_run(&a.input, show, &a);
	free(a.start);
	free(a.end);
	return status;
}
