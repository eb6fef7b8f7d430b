// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input/input.h"
#include "render/aux.h"
#include "render/aux_packet.h"
#include "report/aux/extract.h"
#include "report/aux/packets.h"

struct aux_args {
	struct input input;
	const char *dir;
	int (*run)(const struct aux_args *a, const struct trace *t);
};

enum {
	OPT_CPU = 0x6000,
	OPT_TID,
};

static const struct argp_option options[] = {
	{"output", 'o', "DIR", 0, "extract: write the files into this directory (default aux)", 1},
	{"cpu", OPT_CPU, "LIST", 0, "extract, show: only rings of these CPUs", 1},
	{"tid", OPT_TID, "LIST", 0, "extract, show: only rings of these threads", 1},
	{0},
};

/* --- what the words do ---------------------------------------------------------------------------
 */

static int extract(const struct aux_args *a, const struct trace *t)
{
	const struct aux_extract_opts opts = {
		.dir = a->dir ? a->dir : "aux",
		.cpus = &a->input.filter.cpus,
		.tids = &a->input.filter.tids,
	};
	struct error err = ERROR_INIT;
	int rc = aux_extract(t->df, &opts, &err);

	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

static void begin_run(const struct aux_index *x, const struct aux_run *run, void *arg)
{
	aux_run_render(arg, x, run);
}

/* Ends the walk when nobody reads any more; input_end() prints why. */
static int put_packet(const struct aux_run *run, uint64_t offset, const uint8_t *bytes,
		      const struct aux_packet *packet, void *arg)
{
	aux_packet_render(arg, run, offset, bytes, packet);
	return ferror(arg);
}

static void explain_no_trace(const struct aux_args *a, const struct trace *t)
{
	if (!a->input.quiet)
		complain("%s: the recording has no AUX area", t->opts.path);
}

static int show(const struct aux_args *a, const struct trace *t)
{
	const struct aux_packets_opts opts = {
		.cpus = &a->input.filter.cpus,
		.tids = &a->input.filter.tids,
		.begin = begin_run,
		.packet = put_packet,
		.arg = stdout,
	};
	struct error err = ERROR_INIT;
	int rc = aux_packets(t->df, &opts, &err);

	if (rc < 0)
		complain("%s: %s", t->opts.path, err.text);
	if (!rc)
		explain_no_trace(a, t);
	return rc < 0 ? rc : 0;
}

static int table(const struct aux_args *a, const struct trace *t)
{
	struct aux_rings rings;
	int rc = aux_rings_read(t->df, &rings);

	if (rc < 0)
		complain("%s: cannot read it to the end", t->opts.path);
	else
		aux_render(stdout, &rings);
	if (!rc && !rings.nr)
		explain_no_trace(a, t);
	aux_rings_release(&rings);
	return rc;
}

/* --- options -------------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	int (*run)(const struct aux_args *a, const struct trace *t);
} words[] = {{"extract", extract}, {"show", show}, {"table", table}};

static void parse_list(struct argp_state *state, const char *arg, struct filter_ranges *ret)
{
	if (filter_ranges_parse(arg, ret) < 0)
		usage_error(state, "'%s' is no list of numbers such as 1,3-5", arg);
}

static void take_word(struct argp_state *state, struct aux_args *a, char *arg)
{
	if (state->arg_num > 1)
		usage_error(state, "more than one recording");
	if (state->arg_num) {
		a->input.trace.path = arg;
		return;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].name, arg))
			a->run = words[i].run;
	if (!a->run)
		usage_error(state, "there is no '%s'; there are extract, show and table", arg);
}

static void check(struct argp_state *state, const struct aux_args *a)
{
	if (!a->run)
		usage_error(state, "usage: ringtail aux extract|show|table [-i FILE]");
	if (a->dir && a->run != extract)
		usage_error(state, "--output is only for 'ringtail aux extract'");
	if (a->run == table && (a->input.filter.cpus.nr || a->input.filter.tids.nr))
		usage_error(state, "--cpu and --tid are not for 'ringtail aux table'");
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
	case ARGP_KEY_END: check(state, a); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_aux(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "extract|show|table [FILE]",
		.doc = "Extract the raw trace of AUX areas from a recording, show its packets, or "
		       "count it by ring. Each ring gets a file: "
		       "cpu0, cpu1, ... or, for a ring of a thread on all CPUs, tid-N.",
		.children = children,
	};
	struct aux_args a = {0};
	struct trace *t = NULL;
	int rc, status;

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	rc = input_open(&a.input, &t);
	if (!rc)
		rc = a.run(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	return status;
}
