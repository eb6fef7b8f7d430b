// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/dump.h"
#include "cli/graph-spec.h"
#include "cli/input.h"
#include "render/header.h"
#include "render/json.h"
#include "render/stats.h"
#include "render/table.h"

#define MAX_STACK     127  /* perf's and the kernel's default */
#define MAX_MAX_STACK 1024 /* what drawing and JSON nest */
#define MIN_WIDTH     40

struct report_args {
	struct input input;
	struct report_opts report;
	struct table_opts table;
	bool header, header_only, full_header, stats, json, dump;
	struct graph_spec graph;
};

enum {
	OPT_STDIO = 0x2000,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_PERCENT_LIMIT,
	OPT_MAX_STACK,
	OPT_HEADER,
	OPT_HEADER_ONLY,
	OPT_STATS,
	OPT_JSON,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Output:", 1},
	{"stdio", OPT_STDIO, NULL, 0, "Text on standard output (the default)", 1},
	{"sort", 's', "KEYS", 0,
	 "Tell samples apart by these: comm, pid, tid, dso, sym, cpu, event (default comm,dso,sym)",
	 1},
	{"children", OPT_CHILDREN, NULL, 0,
	 "Also count for each function what its callees were sampled for", 1},
	{"no-children", OPT_NO_CHILDREN, NULL, 0, "Count each sample once (the default)", 1},
	{"call-graph", 'g', "SPEC", OPTION_ARG_OPTIONAL,
	 "Call graphs: [TYPE,]PERCENT[,LIMIT][,ORDER][,VALUE]; TYPE is graph, fractal, folded or "
	 "none, PERCENT the least that a branch must have (0.5), LIMIT the most branches, ORDER "
	 "caller (from the outermost caller down; the default) or callee (from the function up)",
	 1},
	{"show-nr-samples", 'n', NULL, 0, "A column with the number of samples", 1},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0, "Leave out rows below this", 1},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Look at N frames of a chain (default 127)", 1},
	{"header", OPT_HEADER, NULL, 0, "Begin with the header of the recording", 1},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Show only the header", 1},
	{"show-info", 'I', NULL, 0, "Show the long parts of the header too", 1},
	{"stats", OPT_STATS, NULL, 0, "Show only counts of records", 1},
	{"json", OPT_JSON, NULL, 0, "Write JSON", 1},
	{"dump-raw-trace", 'D', NULL, 0, "As 'ringtail dump'", 1},
	{0},
};

static double parse_percent(struct argp_state *state, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= 0 && v <= 100))
		argp_error(state, "'%s' is not a percentage", arg);
	return v;
}

static size_t parse_max_stack(struct argp_state *state, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) < 0 || n < 1 || n > MAX_MAX_STACK)
		argp_error(state, "--max-stack: from 1 to %d", MAX_MAX_STACK);
	return n;
}

static void parse_sort(struct argp_state *state, struct report_args *a, const char *arg)
{
	struct error err = ERROR_INIT;
	int n = sort_keys_parse(arg, a->report.keys, &err);

	if (n < 0)
		argp_error(state, "%s", err.text);
	else
		a->report.nr_keys = n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;
	struct error err = ERROR_INIT;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case OPT_STDIO: break;
	case 's': parse_sort(state, a, arg); break;
	case OPT_CHILDREN: a->report.children = true; break;
	case OPT_NO_CHILDREN: a->report.children = false; break;
	case 'g':
		if (graph_spec_parse(arg, &a->graph, &err) < 0)
			argp_error(state, "-g: %s", err.text);
		break;
	case 'n': a->table.show_samples = true; break;
	case OPT_PERCENT_LIMIT: a->table.percent_limit = parse_percent(state, arg); break;
	case OPT_MAX_STACK: a->report.max_stack = parse_max_stack(state, arg); break;
	case OPT_HEADER: a->header = true; break;
	case OPT_HEADER_ONLY: a->header_only = true; break;
	case 'I': a->full_header = true; break;
	case OPT_STATS: a->stats = true; break;
	case OPT_JSON: a->json = true; break;
	case 'D': a->dump = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "more than one recording");
		a->input.trace.path = arg;
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static time_t captured(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtime : 0;
}

static int show_report(struct report_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	struct report *r = NULL;
	json_t *header = NULL;
	int rc;

	a->report.graph = a->graph.order;
	if (!a->graph.given)
		a->report.graph =
			report_has_callchains(t) ? REPORT_GRAPH_CALLER : REPORT_GRAPH_NONE;
	rc = report_run(t, &a->report, &r, &err);
	input_progress_end(&a->input);
	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	if (a->json) {
		if (a->header)
			header = header_json(t, captured(t->opts.path));
		rc = json_report(stdout, r, header, &a->table);
	} else {
		rc = table_render(stdout, r, &a->table);
	}
	input_explain_symbols(&a->input, t);
	report_free(r);
	return rc;
}

/* What was asked for must be in the samples. */
static int check_fields(const struct report_args *a, const struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = 0;

	if (a->stats)
		return 0;
	rc = filter_check(&a->report.filter, t->evlist, &err);
	if (!rc)
		rc = sort_keys_check(a->report.keys, a->report.nr_keys, t->evlist, &err);
	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

static int show(struct report_args *a, struct trace *t)
{
	int rc;

	if (a->header_only && a->json)
		return json_write(stdout, header_json(t, captured(t->opts.path)));
	if ((a->header || a->header_only) && !a->json)
		header_render(stdout, t, captured(t->opts.path), a->full_header);
	if (a->header_only)
		return 0;
	rc = check_fields(a, t);
	if (!rc)
		rc = input_prepare(&a->input, t);
	if (rc < 0)
		return rc;
	if (a->stats) {
		input_progress_end(&a->input);
		if (a->json)
			rc = json_write(stdout, json_stats(t));
		else
			stats_render(stdout, t);
	} else {
		rc = show_report(a, t);
	}
	if (!a->stats)
		input_explain_stacks(&a->input, t);
	return rc;
}

static void limit_width(struct table_opts *table)
{
	struct winsize ws;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col)
		table->width = ws.ws_col < MIN_WIDTH ? MIN_WIDTH : ws.ws_col;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show where the samples of a recording fell.",
		.children = children,
	};
	struct report_args a = {
		.report = {.max_stack = MAX_STACK},
		.graph = GRAPH_SPEC_INIT,
	};
	struct trace *t = NULL;
	char **args = graph_spec_join(&argc, argv);
	int rc, status;

	if (!args)
		return EXIT_ERROR;
	input_init(&a.input);
	a.report.nr_keys = sort_keys_parse("comm,dso,sym", a.report.keys, NULL);
	if (argp_parse(&argp, argc, args, 0, NULL, &a))
		return EXIT_USAGE;
	a.report.filter = a.input.filter;
	a.table.quiet = a.input.quiet;
	a.table.graph_style = a.graph.style;
	a.table.graph_value = a.graph.value;
	a.table.graph_percent = a.graph.percent;
	a.table.graph_limit = a.graph.limit;
	limit_width(&a.table);
	rc = input_open(&a.input, &t);
	if (!rc)
		rc = a.dump ? dump_all(&a.input, t) : show(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	graph_spec_join_free(args, argv);
	return status;
}
