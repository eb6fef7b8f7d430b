// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-options.h"

#include <string.h>
#include <unistd.h>

#include "cli/cmd-report-perf.h"
#include "cli/input/command.h"
#include "cli/terminal/terminal.h"
#include "cli/view/show.h"

#define MAX_STACK      127		      /* perf's and the kernel's default */
#define DEFAULT_PARENT "^sys_|^do_page_fault" /* perf's */
#define HISTORY_KEYS   "callchain_branch_predicted,callchain_branch_abort,callchain_branch_cycles"
#define SLOWEST	       3

enum {
	OPT_STDIO = 0x2000,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_PERCENT_LIMIT,
	OPT_MAX_STACK,
	OPT_HEADER,
	OPT_HEADER_ONLY,
	OPT_STATS,
	OPT_AUX,
	OPT_JSON,
	OPT_NO_CALL_GRAPH,
	OPT_PERCENTAGE,
	OPT_SHOW_PERIOD,
	OPT_SYMBOL_FILTER,
	OPT_TUI,
	OPT_TASKS,
	OPT_GROUP,
	OPT_NO_GROUP,
	OPT_GROUP_SORT_IDX,
	OPT_MMAPS,
	OPT_MEM_MODE,
	OPT_IGNORE_CALLEES,
	OPT_TIME_QUANTUM,
	OPT_AUX_LATENCY,
	OPT_LATENCY,
	OPT_PARALLELISM,
	OPT_SLOWEST,
	OPT_HTML,
	OPT_OFF_CPU,
	OPT_WALL,
	OPT_UTILIZATION,
	OPT_BRANCH_HISTORY,
};

static const struct argp_option options[] = {
	{"sort", 's', "KEYS", 0,
	 "Group samples by these keys: comm, pid, tid, dso, sym, cpu, event, srcline, socket, "
	 "cgroup, time, "
	 "trace and others (default comm,dso,sym); a plus before them adds them to the default",
	 HELP_MOST_USED},
	{"call-graph", 'g', "SPEC", OPTION_ARG_OPTIONAL,
	 "Call graphs: [TYPE,]PERCENT[,LIMIT][,ORDER][,KEY][,VALUE]; TYPE is graph, flat, fractal, "
	 "folded or none, PERCENT the least that a branch must have (0.5), LIMIT the most "
	 "branches, ORDER "
	 "caller (from the outermost caller down; the default) or callee (from the function up), "
	 "KEY function (the default), address or srcline, which tells frames apart, and branch, "
	 "which adds the branches of branch stacks, VALUE "
	 "of branches and folded chains percent (the default), period or count",
	 HELP_MOST_USED},
	{"children", OPT_CHILDREN, NULL, 0, "Add to each function the samples of its callees",
	 HELP_MOST_USED},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0,
	 "Leave out rows and branches of call graphs below PERCENT", HELP_MOST_USED},
	{"show-nr-samples", 'n', NULL, 0, "Add a column with the number of samples",
	 HELP_MOST_USED},
	{"header", OPT_HEADER, NULL, 0, "Begin with the header of the recording", HELP_MOST_USED},
	{"html", OPT_HTML, "FILE", 0,
	 "Write the recording as one HTML page to FILE, for a browser; - is standard output",
	 HELP_MOST_USED},
	{"off-cpu", OPT_OFF_CPU, NULL, 0,
	 "Show how long threads waited, for what and for whom (needs 'record --off-cpu'); further "
	 "keys: kind, waker, waker_tid, waker_stack",
	 HELP_OUTPUT},
	{"wall", OPT_WALL, NULL, 0,
	 "As --off-cpu, with the samples of what ran: all time of all threads", HELP_OUTPUT},
	{"stats", OPT_STATS, NULL, 0, "Show only counts of records", HELP_MOST_USED},
	{"tasks", OPT_TASKS, NULL, 0, "Show only the tasks, below those that made them",
	 HELP_OUTPUT},
	{"mmaps", OPT_MMAPS, NULL, 0, "Show only the tasks and their maps", HELP_OUTPUT},
	{"stdio", OPT_STDIO, NULL, 0,
	 "Text on standard output (the default, where that is no terminal)", HELP_OUTPUT},
	{"no-children", OPT_NO_CHILDREN, NULL, 0, "Count each sample once (the default)",
	 HELP_OUTPUT},
	{"inverted", 'G', NULL, 0, "Call graphs from the outermost caller down (the default)",
	 HELP_OUTPUT},
	{"no-call-graph", OPT_NO_CALL_GRAPH, NULL, 0, "As -g none", HELP_OUTPUT},
	{"show-total-period", OPT_SHOW_PERIOD, NULL, 0,
	 "Add a column with the sum of their periods", HELP_OUTPUT},
	{"branch-stack", 'b', NULL, 0,
	 "Count the branches of branch stacks, by comm,dso_from,symbol_from,dso_to,symbol_to; "
	 "further keys: mispredict, in_tx, abort, cycles",
	 HELP_OUTPUT},
	{"branch-history", OPT_BRANCH_HISTORY, NULL, 0,
	 "Call chains begin with the branches that led to the sample, newest first; by "
	 "srcline,sym,dso and the predictions and cycles of these branches",
	 HELP_OUTPUT},
	{"mem-mode", OPT_MEM_MODE, NULL, 0,
	 "Show memory accesses: by local_weight," REPORT_MEM_KEYS, HELP_OUTPUT},
	{"latency", OPT_LATENCY, NULL, 0,
	 "Order rows by their share of the time that passed, not of that of CPUs (needs 'record "
	 "--latency')",
	 HELP_OUTPUT},
	{"time-quantum", OPT_TIME_QUANTUM, "TIME", 0,
	 "The span of a row of the sort key time, with ns, us, ms or s (default 100ms)",
	 HELP_OUTPUT},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Percentages of the shown samples, or of all (the default)", HELP_OUTPUT},
	{"field-separator", 't', "CHAR", 0,
	 "Print only rows, with CHAR between the columns and no spaces", HELP_OUTPUT},
	{"fields", 'F', "FIELDS", 0,
	 "Show these columns: overhead, overhead_sys, overhead_us, overhead_guest_sys, "
	 "overhead_guest_us, overhead_children, sample, period, weight1, weight2, weight3 and keys "
	 "of --sort; a plus before them adds them to the default",
	 HELP_OUTPUT},
	{"group", OPT_GROUP, NULL, 0,
	 "Show the events of a group side by side; all events, if the recording has no groups",
	 HELP_OUTPUT},
	{"no-group", OPT_NO_GROUP, NULL, 0, "Show a table for each event (the default)",
	 HELP_OUTPUT},
	{"group-sort-idx", OPT_GROUP_SORT_IDX, "N", 0,
	 "With --group: order rows by event N of the group, from 0", HELP_OUTPUT},
	{"hierarchy", 'H', NULL, 0,
	 "Nest the rows: below the rows of the first key of --sort those of the next", HELP_OUTPUT},
	{"column-widths", 'w', "WIDTHS", 0,
	 "The widths of the columns, separated by commas; 0: as wide as their contents",
	 HELP_OUTPUT},
	{"parent", 'p', "REGEX", 0,
	 "Group samples also by the innermost function of their chains that matches", HELP_OUTPUT},
	{"ignore-callees", OPT_IGNORE_CALLEES, "REGEX", 0,
	 "Count samples for the outermost function that matches, not for what it called",
	 HELP_OUTPUT},
	{"max-stack", OPT_MAX_STACK, "N", 0,
	 "Use N frames of a chain, from where the graph begins (default 127)", HELP_OUTPUT},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Show only the header", HELP_OUTPUT},
	{"show-info", 'I', NULL, 0, "Show the long parts of the header too", HELP_OUTPUT},
	{"aux", OPT_AUX, NULL, 0, "Show only the AUX rings, and what each snapshot took of them",
	 HELP_OUTPUT},
	{"aux-latency", OPT_AUX_LATENCY, "FUNCTION", 0,
	 "Show how long the calls of a function took, by its calls and returns in hardware trace, "
	 "and what the slowest ones called",
	 HELP_OUTPUT},
	{"slowest", OPT_SLOWEST, "N", 0, "With --aux-latency: show N calls (default 3)",
	 HELP_OUTPUT},
	{"json", OPT_JSON, NULL, 0, "Write JSON", HELP_OUTPUT},
	{"dump-raw-trace", 'D', NULL, 0, "As 'ringtail dump'", HELP_OUTPUT},
	{"symbol-filter", OPT_SYMBOL_FILTER, "TEXT", 0, "in symbols with TEXT in their names",
	 HELP_SAMPLES},
	{"parallelism", OPT_PARALLELISM, "LIST", 0, "while so many threads ran: 1-2,4",
	 HELP_SAMPLES},
	{"exclude-other", 'x', NULL, 0, "with a function that --parent matches", HELP_SAMPLES},
	{"hide-unresolved", 'U', NULL, 0, "in known functions", HELP_SAMPLES},
	{"modules", 'm', NULL, 0, "Symbols of the kernel's modules, too (always)", HELP_SYMBOLS},
	{"tui", OPT_TUI, NULL, 0, "As 'ringtail view' (the default on a terminal)", HELP_OUTPUT},
	{"threads", 'T', NULL, 0, "Add the counts of threads, of 'record -s'", HELP_OUTPUT},
	{"show-cpu-utilization", OPT_UTILIZATION, NULL, 0,
	 "Add columns with the shares of kernel and user space", HELP_OUTPUT},
	{"showcpuutilization", OPT_UTILIZATION, NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static void parse_sort(struct argp_state *state, struct report_args *a, const char *arg)
{
	struct error err = ERROR_INIT;

	if (columns_parse_sort(&a->columns, arg, &err) < 0)
		usage_error(state, "%s", err.text);
}

static void parse_fields(struct argp_state *state, struct report_args *a, const char *arg)
{
	struct error err = ERROR_INIT;

	if (columns_parse_fields(&a->columns, arg, &err) < 0)
		usage_error(state, "%s", err.text);
	a->table.named_fields = a->columns.strict;
}

static void parse_graph(struct argp_state *state, struct report_args *a, const char *arg)
{
	struct error err = ERROR_INIT;

	if (graph_spec_parse(arg, &a->graph, &err) < 0)
		usage_error(state, "-g: %s", err.text);
}

static void parse_percentage(struct argp_state *state, struct report_args *a, const char *arg)
{
	a->report.relative = !strcmp(arg, "relative");
	if (!a->report.relative && strcmp(arg, "absolute") != 0)
		usage_error(state, "--percentage: '%s' is neither relative nor absolute", arg);
}

static void parse_parent(struct argp_state *state, struct report_args *a, const char *arg)
{
	report_regex(state, "--parent", arg, &a->parent);
	a->by_parent = true;
}

/* As perf, adds the key to those of --sort. */
static void add_parent_key(struct argp_state *state, struct report_args *a)
{
	const bool sorted = a->columns.sorted;
	struct error err = ERROR_INIT;
	bool there = false;

	for (size_t i = 0; i < a->columns.nr_sort; i++)
		there |= a->columns.sort[i].key && a->columns.sort[i].key->of_parent;
	if (a->by_parent && !there && columns_parse_sort(&a->columns, "+parent", &err) < 0)
		usage_error(state, "%s", err.text);
	a->columns.sorted = sorted;
	if (!a->parent.given)
		report_regex(state, "--parent", DEFAULT_PARENT, &a->parent);
	if (there || a->by_parent || a->report.exclude_other)
		a->report.parent = &a->parent.regex;
	a->report.ignore_callees = a->ignore_callees.given ? &a->ignore_callees.regex : NULL;
}

static void parse_parallelism(struct argp_state *state, struct report_args *a, const char *arg)
{
	if (filter_ranges_parse(arg, &a->input.filter.parallelism) < 0)
		usage_error(state,
			    "--parallelism: '%s' is no list of numbers of threads such as 1-2,4",
			    arg);
}

/* perf's keys, but for latencies that few processors have. */
static void check_mem_mode(struct argp_state *state, struct report_args *a)
{
	if (!a->report.by_weight)
		return;
	if (a->report.branches)
		usage_error(state, "-b and --mem-mode exclude each other: choose one");
	a->mem_keys = !a->columns.sorted;
	if (a->mem_keys)
		columns_parse_sort(&a->columns, "local_weight," REPORT_MEM_KEYS, NULL);
}

/* The table of blocks has columns and an order of its own, as with perf. */
static void check_total_cycles(struct argp_state *state, const struct report_args *a)
{
	if (a->report.total_cycles && (a->html || a->report.nested || a->report.grouped ||
				       a->report.children || a->history || a->graph.branches))
		usage_error(
			state,
			"--total-cycles shows a table of blocks, which has no other form: leave "
			"out --html, --hierarchy, --group, --children and --branch-history");
}

/* Branches have no call chains. */
static void check_branches(struct argp_state *state, struct report_args *a)
{
	if (!a->report.branches)
		return;
	if (a->report.children)
		usage_error(state, "-b and --children exclude each other: choose one");
	if (!a->columns.sorted)
		columns_parse_sort(&a->columns, "comm,dso_from,symbol_from,dso_to,symbol_to", NULL);
}

/* As perf, tells frames apart by address and shows how well the branches went. */
static void check_history(struct argp_state *state, struct report_args *a)
{
	a->report.history = a->history || a->graph.branches;
	if (a->report.history && a->report.branches)
		usage_error(state, "-b counts branches, and --branch-history shows them in call "
				   "chains: choose one");
	if (!a->history)
		return;
	if (!a->graph.ordered && a->graph.order == REPORT_GRAPH_CALLER)
		a->graph.order = REPORT_GRAPH_CALLEE;
	if (!a->graph.keyed)
		a->graph.key = CALLGRAPH_BY_ADDRESS;
	if (!a->columns.sorted)
		columns_parse_sort(&a->columns,
				   a->report.children ? "srcline,sym,dso"
						      : "srcline,sym,dso," HISTORY_KEYS,
				   NULL);
}

/* Sums that the trees of --children do not have. */
static void check_fields_of_children(struct argp_state *state, const struct report_args *a)
{
	const struct columns *c = &a->report.columns;

	for (size_t i = 0; a->report.children && i < c->nr_shown; i++)
		if (c->shown[i].field && c->shown[i].field->whole &&
		    c->shown[i].field->kind != FIELD_LATENCY)
			usage_error(state,
				    "%s is of samples, not of their callers: leave out --children",
				    c->shown[i].field->name);
}

/* perf refuses the one and ignores the other. */
static void check_hierarchy(struct argp_state *state, const struct report_args *a)
{
	if (a->report.nested && a->columns.nr_fields)
		usage_error(state, "--hierarchy and --fields exclude each other: choose one");
	if (a->report.nested && a->report.children)
		usage_error(state, "--hierarchy and --children exclude each other: choose one");
}

static void arrange_columns(struct argp_state *state, struct report_args *a)
{
	struct error err = ERROR_INIT;
	int n;

	a->columns.children = a->report.children;
	if (a->columns.strict && !a->columns.sorted)
		a->columns.nr_sort = 0;
	n = columns_arrange(&a->columns, &a->report.columns, a->report.keys, &err);
	if (n < 0)
		usage_error(state, "%s", err.text);
	else
		a->report.nr_keys = (size_t)n;
	a->report.columns.first_member = a->group_sort;
	if (a->report.nested && !n)
		usage_error(state, "--hierarchy: give --sort a key whose rows can be nested");
	check_fields_of_children(state, a);
}

/* The page has all tables of its own. */
static void check_html(struct argp_state *state, const struct report_args *a)
{
	if (!a->html)
		return;
	if (a->json || a->stats || a->tasks || a->header_only || a->aux || a->dump ||
	    a->latency.function || a->header)
		usage_error(state, "--html writes a page and no other output: leave out the other");
	if (a->history || a->graph.branches)
		usage_error(state, "--html shows call chains without branches: leave out "
				   "--branch-history and -g branch; 'ringtail report --stdio' "
				   "shows branches in chains");
	if (!strcmp(a->html, "-") && isatty(STDOUT_FILENO))
		usage_error(state, "--html: a page is no text for a terminal: give a FILE");
}

/* What the view does not show is text. */
static bool is_text(const struct report_args *a)
{
	return a->json || a->stats || a->tasks || a->threads || a->header || a->header_only ||
	       a->full_header || a->aux || a->dump || a->html || a->latency.function ||
	       a->input.quiet || a->report.total_cycles || a->report.nested || a->report.grouped ||
	       a->table.separator || a->table.nr_widths ||
	       (a->graph.given && a->graph.style != GRAPH_TREE);
}

static void check_itrace(struct argp_state *state, struct report_args *a)
{
	if ((a->header_only || a->dump || a->stats || a->aux || a->tasks) &&
	    !a->input.trace.itrace_asked)
		a->input.trace.itrace = NULL;
	if (!a->report.branches && !a->report.history)
		a->input.itrace.last = a->input.itrace.last_recorded = false;
	if (a->report.max_stack < a->input.itrace.chain_max)
		a->report.max_stack = a->input.itrace.chain_max;
	if (a->input.trace.itrace && a->input.itrace.skip)
		usage_error(state, "--itrace: s, which skips samples, is for 'ringtail script'");
}

static void ask_view(struct argp_state *state, struct report_args *a)
{
	show_check(state);
	a->view = true;
}

/* After the last option. */
static void settle(struct argp_state *state, struct report_args *a)
{
	check_total_cycles(state, a);
	check_branches(state, a);
	check_mem_mode(state, a);
	check_history(state, a);
	check_hierarchy(state, a);
	check_html(state, a);
	a->view = a->view && !is_text(a);
	add_parent_key(state, a);
	report_waits_settle(state, &a->waits, &a->columns, &a->report);
	arrange_columns(state, a);
	report_waits_check_keys(state, &a->waits, &a->report);
	if (a->latency.function)
		input_itrace(state, &a->input, "be");
	check_itrace(state, a);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &a->input;
		state->child_inputs[2] = a;
		break;
	case OPT_STDIO: a->view = false; break;
	case OPT_TUI: ask_view(state, a); break;
	case 'm': break;
	case 's': parse_sort(state, a, arg); break;
	case OPT_CHILDREN: a->report.children = true; break;
	case OPT_NO_CHILDREN: a->report.children = false; break;
	case 'g': parse_graph(state, a, arg); break;
	case 'b': a->report.branches = true; break;
	case OPT_TIME_QUANTUM: a->input.trace.time_quantum = report_quantum(state, arg); break;
	case 'G': parse_graph(state, a, "caller"); break;
	case OPT_NO_CALL_GRAPH: parse_graph(state, a, "none"); break;
	case OPT_PERCENTAGE: parse_percentage(state, a, arg); break;
	case 't': report_separator(state, arg, &a->table); break;
	case 'U': a->input.filter.resolved = true; break;
	case OPT_SYMBOL_FILTER: a->input.filter.symbol_part = arg; break;
	case 'F': parse_fields(state, a, arg); break;
	case 'w': report_widths(state, arg, &a->table); break;
	case OPT_GROUP: a->report.grouped = true; break;
	case OPT_NO_GROUP: a->report.grouped = false; break;
	case OPT_GROUP_SORT_IDX: a->group_sort = report_member(state, arg); break;
	case 'H': a->report.nested = true; break;
	case 'T': a->threads = true; break;
	case OPT_UTILIZATION: parse_fields(state, a, "+overhead_sys,overhead_us"); break;
	case 'n': a->columns.samples = true; break;
	case OPT_SHOW_PERIOD: a->columns.period = true; break;
	case OPT_PERCENT_LIMIT:
		/* The last of this option and of -g's percentage counts, as in perf. */
		a->table.percent_limit = a->graph.percent =
			input_percent(state, "--percent-limit", arg);
		break;
	case OPT_MAX_STACK: a->report.max_stack = report_max_stack(state, arg); break;
	case OPT_HEADER: a->header = true; break;
	case OPT_HEADER_ONLY: a->header_only = true; break;
	case 'I': a->full_header = true; break;
	case 'p': parse_parent(state, a, arg); break;
	case 'x': a->report.exclude_other = true; break;
	case OPT_IGNORE_CALLEES:
		report_regex(state, "--ignore-callees", arg, &a->ignore_callees);
		break;
	case OPT_LATENCY: a->columns.latency_first = true; break;
	case OPT_PARALLELISM: parse_parallelism(state, a, arg); break;
	case OPT_MEM_MODE: a->report.by_weight = true; break;
	case OPT_STATS: a->stats = true; break;
	case OPT_MMAPS: a->maps = a->tasks = true; break;
	case OPT_TASKS: a->tasks = true; break;
	case OPT_AUX: a->aux = true; break;
	case OPT_AUX_LATENCY: a->latency.function = arg; break;
	case OPT_SLOWEST: a->latency.slowest = report_slowest(state, arg); break;
	case OPT_BRANCH_HISTORY: a->history = true; break;
	case OPT_JSON: a->json = true; break;
	case OPT_OFF_CPU: a->waits.off_cpu = true; break;
	case OPT_WALL: a->waits.opts.wall = true; break;
	case OPT_HTML: a->html = arg; break;
	case 'D': a->dump = true; break;
	case ARGP_KEY_ARG: command_take_path(state, &a->input, arg); break;
	case ARGP_KEY_END: settle(state, a); break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

static const struct argp_child children[] = {
	{&input_argp, 0, NULL, 0},	 {&samples_argp, 0, NULL, 0},
	{&report_perf_argp, 0, NULL, 0}, {&color_argp, 0, "Terminal:", HELP_INPUT},
	{&help_argp, 0, NULL, 0},	 {0}};

const struct argp report_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "Show where the samples of a recording fell.",
	.children = children,
};

void report_args_init(struct report_args *a)
{
	struct itrace_opts itrace;

	*a = (struct report_args){
		.report = {.max_stack = MAX_STACK},
		.graph = GRAPH_SPEC_INIT,
		.latency.slowest = SLOWEST,
		.view = show_is_possible(),
	};
	input_init(&a->input);
	itrace_opts_all(&itrace);
	input_itrace_default(&a->input, &itrace);
	columns_parse_sort(&a->columns, "comm,dso,sym", NULL);
	a->columns.sorted = false;
}

void report_args_release(struct report_args *a)
{
	input_release(&a->input);
	columns_release(&a->columns);
	name_regex_release(&a->parent);
	name_regex_release(&a->ignore_callees);
}
