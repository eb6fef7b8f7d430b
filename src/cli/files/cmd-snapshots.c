// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "cli/files/commands.h"
#include "cli/input/command.h"
#include "render/header.h"
#include "render/json.h"

struct snapshots_args {
	struct input input;
	bool json;
};

enum {
	OPT_JSON = 0x2000,
};

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Write JSON", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct snapshots_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case OPT_JSON: a->json = true; break;
	case ARGP_KEY_ARG: command_take_path(state, &a->input, arg); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int show(void *args, struct trace *t)
{
	struct snapshots_args *a = args;
	int rc = input_prepare(&a->input, t);

	if (rc < 0)
		return rc;
	input_progress_end(&a->input);
	if (a->json)
		return json_write(stdout, snapshots_json(t));
	snapshots_render(stdout, t);
	if (!t->snapshots.nr_records && !a->input.quiet && !input_explain_no_snapshot(t))
		complain("%s: the recording has no snapshots; 'ringtail record -M SIZE' keeps "
			 "samples for them, and -S trace",
			 t->opts.path);
	return 0;
}

int cmd_snapshots(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show the snapshots of a recording (record -M, -S).",
		.children = children,
	};
	struct snapshots_args a = {0};

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	return command_run(&a.input, show, &a);
}
