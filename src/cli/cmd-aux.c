// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "report/aux/extract.h"

struct aux_args {
	struct input input;
	const char *dir;
	bool extract;
};

enum {
	OPT_CPU = 0x6000,
	OPT_TID,
};

static const struct argp_option options[] = {
	{"output", 'o', "DIR", 0, "Write the files into this directory (default aux)", 1},
	{"cpu", OPT_CPU, "LIST", 0, "Only rings of these CPUs", 1},
	{"tid", OPT_TID, "LIST", 0, "Only rings of these threads", 1},
	{0},
};

static void parse_list(struct argp_state *state, const char *arg, struct filter_ranges *ret)
{
	if (filter_ranges_parse(arg, ret) < 0)
		usage_error(state, "'%s' is no list of numbers such as 1,3-5", arg);
}

static void take_word(struct argp_state *state, struct aux_args *a, char *arg)
{
	if (!state->arg_num && !strcmp(arg, "extract"))
		a->extract = true;
	else if (!state->arg_num)
		usage_error(state, "there is no '%s'; 'ringtail aux extract' is all there is", arg);
	else if (state->arg_num > 1)
		usage_error(state, "more than one recording");
	else
		a->input.trace.path = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct aux_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case 'o': a->dir = arg; break;
	case OPT_CPU: parse_list(state, arg, &a->input.filter.cpus); break;
	case OPT_TID: parse_list(state, arg, &a->input.filter.tids); break;
	case ARGP_KEY_ARG: take_word(state, a, arg); break;
	case ARGP_KEY_END:
		if (!a->extract)
			usage_error(state, "usage: ringtail aux extract [-i FILE] [-o DIR]");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int extract(const struct aux_args *a, const struct trace *t)
{
	const struct aux_extract_opts opts = {
		.dir = a->dir,
		.cpus = &a->input.filter.cpus,
		.tids = &a->input.filter.tids,
	};
	struct error err = ERROR_INIT;
	int rc = aux_extract(t->df, &opts, &err);

	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

int cmd_aux(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "extract [FILE]",
		.doc = "Extract the raw trace of AUX areas from a recording. Each ring gets a "
		       "file: "
		       "cpu0, cpu1, ... or, for a ring of a thread on all CPUs, tid-N.",
		.children = children,
	};
	struct aux_args a = {.dir = "aux"};
	struct trace *t = NULL;
	int rc, status;

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	rc = input_open(&a.input, &t);
	if (!rc)
		rc = extract(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	return status;
}
