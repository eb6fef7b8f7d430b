// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/itrace/samples.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/files/cmd-dump.h"
#include "cli/input/input.h"
#include "render/header.h"
#include "render/lines.h"

#define MAX_STACK      127
#define MAX_FIELD_ARGS 32
#define CALL_DSO_WIDTH (-50) /* left-aligned, as in perf */

struct script_args {
	struct input input;
	struct script_opts script;
	const char *fields[MAX_FIELD_ARGS]; /* -F, applied once the events are known */
	size_t nr_fields;
	struct lines lines;
	struct lines_opts line;
	bool header, header_only, full_header, dump;
};

enum {
	OPT_NS = 0x2000,
	OPT_MAX_STACK,
	OPT_RELTIME,
	OPT_DELTATIME,
	OPT_HEADER,
	OPT_HEADER_ONLY,
	OPT_SHOW_MMAPS,
	OPT_SHOW_TASKS,
	OPT_SHOW_SWITCHES,
	OPT_SHOW_LOST,
	OPT_SWITCH_ON,
	OPT_SWITCH_OFF,
	OPT_PER_EVENT,
	OPT_INSN_TRACE,
	OPT_CALL_TRACE,
	OPT_CALL_RET_TRACE,
};

static const struct argp_option options[] = {
	{"fields", 'F', "[TYPE:]FIELDS", 0,
	 "Show these fields: comm, tid, pid, time, cpu, event, trace, ip, sym, symoff, dso, dsoff "
	 "(dso "
	 "with "
	 "offset), srcline, addr, period, brstack, brstacksym, data_src, weight, ins_lat, "
	 "phys_addr, "
	 "data_page_size, "
	 "code_page_size, cgroup, misc, flags, insn, insnlen, ipc, callindent; +FIELD and -FIELD "
	 "change "
	 "the "
	 "default; TYPE is hw, sw, "
	 "trace, "
	 "hw-cache, raw, break or other",
	 HELP_MOST_USED},
	{"hide-call-graph", 'G', NULL, 0, "Show the sampled address only", HELP_MOST_USED},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Show N frames of a chain (default 127)",
	 HELP_MOST_USED},
	{"header", OPT_HEADER, NULL, 0, "Begin with the header of the recording", HELP_MOST_USED},
	{"ns", OPT_NS, NULL, 0, "Print times with nine digits", HELP_OUTPUT},
	{"reltime", OPT_RELTIME, NULL, 0, "Print times since the first line", HELP_OUTPUT},
	{"deltatime", OPT_DELTATIME, NULL, 0, "Print times since the line before", HELP_OUTPUT},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Show only the header", HELP_OUTPUT},
	{"show-info", 'I', NULL, 0, "Show the long parts of the header too", HELP_OUTPUT},
	{"insn-trace", OPT_INSN_TRACE, NULL, 0,
	 "Show each instruction of hardware trace; as --itrace=i0nse -F +insn,-event,-period",
	 HELP_OUTPUT},
	{"call-trace", OPT_CALL_TRACE, NULL, 0,
	 "Show calls in hardware trace, indented; as --itrace=bewp --ns -F "
	 "+callindent,-event,-period,-ip,-addr without other branches",
	 HELP_OUTPUT},
	{"call-ret-trace", OPT_CALL_RET_TRACE, NULL, 0,
	 "As --call-trace, with returns and -F +flags", HELP_OUTPUT},
	{"dump-raw-trace", 'D', NULL, 0, "As 'ringtail dump'", HELP_OUTPUT},
	REFUSED("script", 's',
		"ringtail runs no scripts; a script can read its output: 'ringtail script | "
		"SCRIPT'"),
	REFUSED("gen-script", 'g',
		"ringtail runs no scripts; a script can read its output: 'ringtail script | "
		"SCRIPT'"),
	REFUSED("list", 'l',
		"ringtail has no scripts; a script can read its output: 'ringtail script | "
		"SCRIPT'"),
	REFUSED("show-mmap-events", OPT_SHOW_MMAPS, "'ringtail dump | grep MMAP' shows maps"),
	REFUSED("show-task-events", OPT_SHOW_TASKS,
		"'ringtail dump | grep -E \"COMM|FORK|EXIT\"' shows tasks as they come and go"),
	REFUSED("show-switch-events", OPT_SHOW_SWITCHES,
		"'ringtail dump | grep SWITCH' shows them, if perf recorded them"),
	REFUSED("show-lost-events", OPT_SHOW_LOST,
		"'ringtail dump | grep LOST' shows them; 'ringtail report' counts the losses"),
	REFUSED("switch-on", OPT_SWITCH_ON, "--time START,STOP shows what is between two times"),
	REFUSED("switch-off", OPT_SWITCH_OFF, "--time START,STOP shows what is between two times"),
	REFUSED("per-event-dump", OPT_PER_EVENT,
		"lines name their event: 'ringtail script | grep EVENT:'"),
	{0},
};

static void parse_since(struct argp_state *state, struct script_args *a, enum lines_since since)
{
	if (a->line.since != LINES_BOOT && a->line.since != since)
		usage_error(state, "--reltime and --deltatime exclude each other: choose one");
	a->line.since = since;
}

static void add_fields(struct argp_state *state, struct script_args *a, const char *arg)
{
	struct script_fields unused = {0};
	struct error err = ERROR_INIT;

	if (script_fields_parse(arg, &unused, &err) < 0)
		usage_error(state, "%s", err.text);
	if (a->nr_fields == MAX_FIELD_ARGS)
		usage_error(state, "more than %d -F options", MAX_FIELD_ARGS);
	a->fields[a->nr_fields++] = arg;
}

/* Depths need all branches, of which only calls are shown. */
static void trace_calls(struct argp_state *state, struct script_args *a, bool returns)
{
	input_itrace(state, &a->input, "bewp");
	add_fields(state, a, "+callindent,-event,-period,-ip,-addr");
	if (returns)
		add_fields(state, a, "+flags");
	a->script.branches = ITRACE_CALLS | (returns ? ITRACE_RETURNS : 0);
	a->line.ns = true;
	a->line.dso_width = returns ? 0 : CALL_DSO_WIDTH;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script_args *a = state->input;
	uint64_t n;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case 'F': add_fields(state, a, arg); break;
	case OPT_INSN_TRACE:
		input_itrace(state, &a->input, "i0nse");
		add_fields(state, a, "+insn,-event,-period");
		break;
	case OPT_CALL_TRACE:
	case OPT_CALL_RET_TRACE: trace_calls(state, a, key == OPT_CALL_RET_TRACE); break;
	case OPT_NS: a->line.ns = true; break;
	case OPT_RELTIME: parse_since(state, a, LINES_FIRST); break;
	case OPT_DELTATIME: parse_since(state, a, LINES_BEFORE); break;
	case OPT_HEADER: a->header = true; break;
	case OPT_HEADER_ONLY: a->header = a->header_only = true; break;
	case 'I': a->full_header = true; break;
	case 'D': a->dump = true; break;
	case 'G': a->script.no_callchain = true; break;
	case OPT_MAX_STACK:
		if (parse_u64(arg, &n) < 0 || n < 1 || n > 65536)
			usage_error(state, "--max-stack: '%s' is no number from 1 to 65536", arg);
		a->script.max_stack = n;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "too many arguments: ringtail reads one recording");
		a->input.trace.path = arg;
		break;
	case ARGP_KEY_END:
		if ((a->header_only || a->dump) && !a->input.trace.itrace_asked)
			a->input.trace.itrace = NULL;
		if (a->script.max_stack < a->input.itrace.chain_max)
			a->script.max_stack = a->input.itrace.chain_max;
		break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

static int put_sample(const struct trace *t, const struct script_sample *s, struct outbuf *out,
		      void *arg)
{
	lines_put(arg, out, t, s);
	return 0;
}

/* Applies -F. Returns 0, or -EINVAL if an argument is wrong for this recording. */
static int settle_fields(struct script_args *a, const struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = 0;

	script_fields_default(t, !a->script.no_callchain, &a->script.fields);
	for (size_t i = 0; !rc && i < a->nr_fields; i++)
		rc = script_fields_parse(a->fields[i], &a->script.fields, &err);
	if (!rc)
		rc = filter_check(&a->script.filter, t->evlist, &err);
	if (!rc)
		rc = script_fields_check(t, &a->script.fields, &err);
	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

static int show(struct script_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	uint64_t bytes;
	int rc;

	t->by_time = true;
	rc = input_prepare(&a->input, t);
	if (rc < 0)
		return rc;
	a->script.filter = a->input.filter; /* with the times of --time's parts */
	input_progress_end(&a->input);
	if (a->header)
		header_render(stdout, t, input_captured(t->opts.path), a->full_header);
	if (a->header_only)
		return 0;
	if (isatty(STDOUT_FILENO))
		a->input.progress.enabled = false;   /* lines would run into the bar */
	__fsetlocking(stdout, FSETLOCKING_BYCALLER); /* no other thread writes */
	a->line.mark_guesses = a->input.verbose;
	lines_init(&a->lines, t, &a->line);
	a->script.in_sequence = lines_in_sequence(&a->line, &a->script.fields, t->evlist);
	rc = script_run(t, &a->script, put_sample, &a->lines, stdout, &bytes, &err);
	if (rc < 0 && rc != -EPIPE && ferror(stdout))
		complain("cannot write to standard output: %s", strerror(-rc));
	else if (rc < 0 && rc != -EPIPE)
		complain("%s", err.text);
	input_explain_symbols(&a->input, t);
	if (!rc && !bytes)
		input_explain_nothing(&a->input, t);
	input_explain_stacks(&a->input, t);
	return rc;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show each sample of a recording, in time order.",
		.children = children,
	};
	struct script_args a = {.script = {.max_stack = MAX_STACK}};
	struct itrace_opts itrace;
	struct trace *t = NULL;
	int rc, status;

	input_init(&a.input);
	itrace_opts_calls(&itrace);
	input_itrace_default(&a.input, &itrace);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.script.filter = a.input.filter;
	a.script.inlined = !a.input.no_inline;
	rc = input_open(&a.input, &t);
	if (!rc && !a.header_only && !a.dump)
		rc = settle_fields(&a, t);
	if (!rc)
		rc = a.dump ? dump_all(&a.input, t) : show(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	return status;
}
