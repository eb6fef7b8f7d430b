// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-view.h"

#include <stdlib.h>

#include "cli/cmd-report-waits.h"
#include "cli/input/command.h"
#include "render/json.h"
#include "render/waits/sched.h"

struct sched_args {
	struct input input;
	bool json;
};

enum {
	OPT_JSON = 0x7400,
};

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Write JSON", HELP_OUTPUT},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sched_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case OPT_JSON: a->json = true; break;
	case ARGP_KEY_ARG: command_take_path(state, &a->input, arg); break;
	case ARGP_KEY_END: waits_refuse_code(state, &a->input.filter); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int show(void *args, struct trace *t)
{
	struct sched_args *a = args;
	struct error err = ERROR_INIT;
	struct sched_report r;
	int rc = command_prepare(&a->input, t);

	if (rc < 0)
		return rc;
	rc = sched_report_run(t, &a->input.filter, &r, &err);
	input_progress_end(&a->input);
	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	if (a->json)
		rc = json_write(stdout, sched_json(&r));
	else
		sched_render(stdout, &r);
	waits_explain(&a->input, &r.counts);
	sched_report_release(&r);
	return rc;
}

int cmd_report_sched(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show how long threads waited for CPUs, switches and migrations, by thread "
		       "and by CPU.",
		.children = children,
	};
	struct sched_args a = {.json = false};

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	return command_run(&a.input, show, &a);
}
