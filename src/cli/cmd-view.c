// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd-report-graph.h"
#include "cli/cmd-report-values.h"
#include "cli/commands.h"
#include "cli/input/command.h"
#include "cli/view/show.h"

#define MAX_STACK 127 /* perf's and the kernel's default */

struct view_args {
	struct input input;
	struct report_opts report;
	struct table_opts table;
	struct graph_spec graph;
	struct columns_spec columns;
};

enum {
	OPT_CHILDREN = 0x2000,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_MAX_STACK,
};

static const struct argp_option options[] = {
	{"sort", 's', "KEYS", 0,
	 "Group samples by these keys of 'ringtail report' (default comm,dso,sym); a plus before "
	 "them adds them to the default",
	 HELP_MOST_USED},
	{"call-graph", 'g', "SPEC", OPTION_ARG_OPTIONAL,
	 "Call chains: caller (from the outermost caller down; the default), callee (from the "
	 "function up) or none; address or srcline tell frames apart, branch adds branches",
	 HELP_MOST_USED},
	{"children", OPT_CHILDREN, NULL, 0, "Add to each function the samples of its callees",
	 HELP_MOST_USED},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0, "Leave out rows below PERCENT",
	 HELP_MOST_USED},
	{"show-nr-samples", 'n', NULL, 0, "Add a column with the number of samples",
	 HELP_MOST_USED},
	{"fields", 'F', "FIELDS", 0, "Show these columns of 'ringtail report'", HELP_OUTPUT},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Percentages of the shown rows, or of all samples (the default), at first", HELP_OUTPUT},
	{"max-stack", OPT_MAX_STACK, "N", 0,
	 "Use N frames of a chain, from where the graph begins (default 127)", HELP_OUTPUT},
	{0},
};

static void parse_list(struct argp_state *state, struct view_args *a, bool keys, const char *arg)
{
	struct error err = ERROR_INIT;
	int rc = keys ? columns_parse_sort(&a->columns, arg, &err)
		      : columns_parse_fields(&a->columns, arg, &err);

	if (rc < 0)
		usage_error(state, "%s", err.text);
}

static void parse_graph(struct argp_state *state, struct view_args *a, const char *arg)
{
	struct error err = ERROR_INIT;

	if (graph_spec_parse(arg, &a->graph, &err) < 0)
		usage_error(state, "-g: %s", err.text);
	if (a->graph.style != GRAPH_TREE)
		usage_error(state, "-g: a view shows trees; 'ringtail report --stdio' has others");
}

static void finish(struct argp_state *state, struct view_args *a)
{
	struct error err = ERROR_INIT;
	int n;

	if (a->input.trace.itrace && a->input.itrace.skip)
		usage_error(state, "--itrace: s, which skips samples, is for 'ringtail script'");
	a->columns.children = a->report.children;
	if (a->columns.strict && !a->columns.sorted)
		a->columns.nr_sort = 0;
	n = columns_arrange(&a->columns, &a->report.columns, a->report.keys, &err);
	if (n < 0)
		usage_error(state, "%s", err.text);
	else
		a->report.nr_keys = (size_t)n;
	for (size_t i = 0; i < a->report.nr_keys; i++)
		if (a->report.keys[i]->of_wait)
			usage_error(state,
				    "--sort %s is of waits: 'ringtail report --off-cpu' shows them",
				    a->report.keys[i]->name);
	for (size_t i = 0; a->report.children && i < a->report.columns.nr_shown; i++) {
		const struct field *f = a->report.columns.shown[i].field;

		if (f && f->whole && f->kind != FIELD_LATENCY)
			usage_error(state,
				    "%s is of samples, not of their callers: leave out --children",
				    f->name);
	}
	show_check(state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct view_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case 's': parse_list(state, a, true, arg); break;
	case 'F': parse_list(state, a, false, arg); break;
	case 'g': parse_graph(state, a, arg); break;
	case 'n': a->columns.samples = true; break;
	case OPT_CHILDREN: a->report.children = true; break;
	case OPT_PERCENT_LIMIT:
		a->table.percent_limit = input_percent(state, "--percent-limit", arg);
		break;
	case OPT_PERCENTAGE:
		a->report.relative = !strcmp(arg, "relative");
		if (!a->report.relative && strcmp(arg, "absolute") != 0)
			usage_error(state, "--percentage: '%s' is neither relative nor absolute",
				    arg);
		break;
	case OPT_MAX_STACK: a->report.max_stack = report_max_stack(state, arg); break;
	case ARGP_KEY_ARG: command_take_path(state, &a->input, arg); break;
	case ARGP_KEY_END: finish(state, a); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Tracepoints and their fields are known only now. */
static int prepare_columns(struct view_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = columns_resolve(&a->columns, t, &err);

	if (!rc)
		rc = columns_arrange(&a->columns, &a->report.columns, a->report.keys, &err);
	if (rc < 0) {
		input_refuse(&a->input, rc, &err);
		return rc;
	}
	a->report.nr_keys = (size_t)rc;
	rc = filter_check(&a->report.filter, t->evlist, &err);
	if (!rc)
		rc = sort_keys_check(a->report.keys, a->report.nr_keys, t->evlist, &err);
	if (!rc)
		rc = report_check_history(&a->report, t, &err);
	if (!rc)
		rc = columns_check(&a->report.columns, t->evlist, &err);
	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	t->parallelism = report_needs_parallelism(&a->report);
	t->namespaces = report_needs_namespaces(&a->report);
	if (!t->parallelism || trace_has_switches(t))
		return 0;
	complain("latencies need the switches of threads: record them with 'ringtail record "
		 "--latency'");
	return -EINVAL;
}

static int show(void *args, struct trace *t)
{
	struct view_args *a = args;
	int rc;

	a->report.graph = a->graph.order;
	if (!a->graph.given && !report_has_callchains(t))
		a->report.graph = REPORT_GRAPH_NONE;
	rc = prepare_columns(a, t);
	return rc ?: show_recording(&a->input, t, &a->report, &a->table, NULL);
}

int cmd_view(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Walk through a recording on the terminal; ? shows the keys.",
		.children = children,
	};
	struct view_args a = {.report = {.max_stack = MAX_STACK}, .graph = GRAPH_SPEC_INIT};
	struct itrace_opts itrace;
	char **args = graph_spec_join(&argc, argv);
	int status;

	if (!args)
		return EXIT_ERROR;
	input_init(&a.input);
	itrace_opts_all(&itrace);
	input_itrace_default(&a.input, &itrace);
	columns_parse_sort(&a.columns, "comm,dso,sym", NULL);
	a.columns.sorted = false;
	if (argp_parse(&argp, argc, args, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.report.filter = a.input.filter;
	a.report.inlined = !a.input.no_inline;
	a.report.graph_key = a.graph.key;
	a.report.history = a.graph.branches;
	status = command_run(&a.input, show, &a);
	columns_release(&a.columns);
	graph_spec_join_free(args, argv);
	return status;
}
