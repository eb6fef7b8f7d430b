// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/cmd-report-html.h"
#include "cli/commands.h"
#include "cli/input/input.h"
#include "cli/input/output.h"
#include "cli/terminal/terminal.h"
#include "render/json_diff.h"
#include "render/table_diff.h"
#include "report/diff/diff.h"
#include "report/diff/stacks.h"

#define MAX_FILES	   64
#define MAX_STACK	   127
#define DEFAULT_CONFIDENCE 95

struct diff_args {
	struct input input;
	struct diff_opts diff;
	struct diff_table_opts table;
	const char *path[MAX_FILES];
	size_t nr_paths;
	bool relative, folded, json;
	const char *html; /* path of the page; NULL: none */
};

enum {
	OPT_CONFIDENCE = 0x2000,
	OPT_FOLDED,
	OPT_HTML,
	OPT_P_VALUE,
	OPT_CHANGED,
	OPT_RATE,
	OPT_JSON,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_STREAM,
	OPT_CYCLES_HIST,
	OPT_CALL_GRAPH,
	OPT_CPU,
};

static const struct argp_option options[] = {
	{"sort", 's', "KEYS", 0,
	 "Compare rows by these keys of 'ringtail report' (default dso,sym); a plus before them "
	 "adds them to the default",
	 HELP_MOST_USED},
	{"changed", OPT_CHANGED, NULL, 0, "Show only rows with a change beyond sampling error",
	 HELP_MOST_USED},
	{"compute", 'c', "HOW", 0,
	 "Order rows by delta-abs (the size of the change of the share; the default), delta, ratio "
	 "or wdiff:W1,W2 (period after times W2, less period before times W1)",
	 HELP_MOST_USED},
	{"folded", OPT_FOLDED, NULL, 0,
	 "Write call chains as folded stacks with the samples of each recording, for difffolded",
	 HELP_MOST_USED},
	{"html", OPT_HTML, "FILE", 0,
	 "Write a page for browsers: the second recording as by 'report --html', compared with the "
	 "first; '-' is standard output",
	 HELP_MOST_USED},
	{"p-value", OPT_P_VALUE, NULL, 0, "Add a column with the corrected p-value",
	 HELP_MOST_USED},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0,
	 "Leave out rows below PERCENT in all recordings", HELP_MOST_USED},
	{"confidence", OPT_CONFIDENCE, "PERCENT", 0,
	 "Mark changes beyond sampling error at this confidence for a whole table (default 95)",
	 HELP_OUTPUT},
	{"order", 'o', "N", 0,
	 "Order rows by the Nth recording after the first (default 1); 0: by the shares before",
	 HELP_OUTPUT},
	{"baseline-only", 'b', NULL, 0, "Show only rows that the first recording has", HELP_OUTPUT},
	{"period", 'p', NULL, 0, "Add columns with the sums of periods", HELP_OUTPUT},
	{"show-nr-samples", 'n', NULL, 0, "Add columns with the numbers of samples", HELP_OUTPUT},
	{"rate", OPT_RATE, NULL, 0, "Add columns with the periods per second of recording",
	 HELP_OUTPUT},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "Percentages of the compared samples, or of all (the default)", HELP_OUTPUT},
	{"field-separator", 't', "CHAR", 0, "Put CHAR between the columns and no spaces",
	 HELP_OUTPUT},
	{"json", OPT_JSON, NULL, 0, "Write JSON", HELP_OUTPUT},
	{"comms", 'C', "LIST", 0, "of commands with these names", HELP_SAMPLES},
	{"comm", 'C', NULL, OPTION_ALIAS, NULL, HELP_SAMPLES},
	{"cpu", OPT_CPU, "LIST", 0, "on these CPUs", HELP_SAMPLES},
	{"modules", 'm', NULL, 0, "Symbols of the kernel's modules, too (always)", HELP_SYMBOLS},
	{"force", 'f', NULL, 0, "Read recordings of other users, too", HELP_INPUT},
	{"quiet", 'q', NULL, 0, "Print no comments, and only warnings of damage", HELP_INPUT},
	REFUSED("formula", 'F', "-p shows the periods, and -n the samples, that it computes with"),
	REFUSED("dump-raw-trace", 'D', "'ringtail dump' shows the records of a recording"),
	REFUSED("stream", OPT_STREAM, "--folded compares call chains"),
	REFUSED("cycles-hist", OPT_CYCLES_HIST, "ringtail compares no basic blocks"),
	REFUSED("call-graph", OPT_CALL_GRAPH, "--folded compares call chains"),
	{0},
};

static double parse_confidence(struct argp_state *state, const char *arg)
{
	double v = input_percent(state, "--confidence", arg);

	if (v <= 0 || v >= 100)
		usage_error(state, "--confidence: '%s' is not between 0 and 100", arg);
	return v;
}

static void parse_sort(struct argp_state *state, struct diff_args *a, const char *arg)
{
	struct error err = ERROR_INIT;
	int n;

	if (!strncmp(arg, "delta", 5) || !strcmp(arg, "ratio"))
		usage_error(state, "--sort: '%s' is no key of rows; -c %s orders them", arg, arg);
	n = sort_keys_parse(arg, a->diff.keys, a->diff.nr_keys, &err);
	if (n < 0)
		usage_error(state, "%s", err.text);
	else
		a->diff.nr_keys = (size_t)n;
}

static void parse_wdiff(struct argp_state *state, struct diff_args *a, const char *arg)
{
	char *end;

	a->diff.order = DIFF_WDIFF;
	errno = 0;
	a->diff.weight[0] = strtoll(arg, &end, 10);
	if (end == arg || *end != ',')
		usage_error(state, "-c: wdiff needs two weights: wdiff:W1,W2");
	arg = end + 1;
	a->diff.weight[1] = strtoll(arg, &end, 10);
	if (end == arg || *end || errno)
		usage_error(state, "-c: wdiff needs two weights: wdiff:W1,W2");
}

static void parse_compute(struct argp_state *state, struct diff_args *a, const char *arg)
{
	if (!strcmp(arg, "delta-abs"))
		a->diff.order = DIFF_DELTA_ABS;
	else if (!strcmp(arg, "delta"))
		a->diff.order = DIFF_DELTA;
	else if (!strcmp(arg, "ratio"))
		a->diff.order = DIFF_RATIO;
	else if (!strncmp(arg, "wdiff:", 6))
		parse_wdiff(state, a, arg + 6);
	else
		usage_error(state, "-c: '%s' is none of delta-abs, delta, ratio, wdiff:W1,W2", arg);
}

static void parse_order(struct argp_state *state, struct diff_args *a, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) < 0 || n >= MAX_FILES)
		usage_error(state, "-o: '%s' is no number of a recording", arg);
	a->diff.order_by = n;
}

static void parse_percentage(struct argp_state *state, struct diff_args *a, const char *arg)
{
	a->relative = !strcmp(arg, "relative");
	if (!a->relative && strcmp(arg, "absolute") != 0)
		usage_error(state, "--percentage: '%s' is neither relative nor absolute", arg);
}

/* Accepts a tab as perf spells it (\t), and as shells pass it. */
static void parse_separator(struct argp_state *state, struct diff_args *a, const char *arg)
{
	a->table.separator = strcmp(arg, "\\t") ? *arg : '\t';
	if (!*arg || *arg == '.' || (arg[1] && a->table.separator != '\t'))
		usage_error(state, "-t: '%s' is not a single character other than '.'", arg);
}

/* As perf: without names the last two recordings here; one name replaces the newer one. */
static void complete(struct argp_state *state, struct diff_args *a)
{
	if (a->nr_paths < 2) {
		a->path[1] = a->nr_paths ? a->path[0] : "perf.data";
		a->path[0] = "perf.data.old";
		a->nr_paths = 2;
	}
	if (a->diff.order_by >= a->nr_paths)
		usage_error(state, "-o: there is no recording %zu after the first",
			    a->diff.order_by);
	if (a->folded + a->json + (a->html != NULL) > 1)
		usage_error(state, "--folded, --html and --json exclude each other: choose one");
	if (a->html && a->nr_paths != 2)
		usage_error(state, "--html compares two recordings, not %zu", a->nr_paths);
	/* Both recordings are open at a time, with one set of filters for the two. */
	if (a->html && (a->input.socket || a->input.switches.on || a->input.switches.off ||
			a->input.filter.nr_parts))
		usage_error(state,
			    "--html: --socket-filter, --switch-on, --switch-off and parts of "
			    "--time mean something else in each recording: leave them out");
	if (a->html && a->diff.confidence != DEFAULT_CONFIDENCE)
		usage_error(state, "--html: a page marks changes at 95 %%: leave out --confidence");
	if (a->html && !strcmp(a->html, "-") && isatty(STDOUT_FILENO))
		usage_error(state, "--html: a page is no text for a terminal: give a FILE");
	a->diff.nr_files = a->nr_paths;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case 's': parse_sort(state, a, arg); break;
	case 'c': parse_compute(state, a, arg); break;
	case 'o': parse_order(state, a, arg); break;
	case 'b': a->table.baseline = true; break;
	case 'p': a->table.show_period = true; break;
	case 'n': a->table.show_samples = true; break;
	case 't': parse_separator(state, a, arg); break;
	case 'C': a->input.filter.comms = arg; break;
	case OPT_CPU: input_cpus(state, &a->input, arg); break;
	case 'f': a->input.trace.force = true; break;
	case 'q': a->input.quiet = true; break;
	case 'm': break;
	case OPT_CONFIDENCE: a->diff.confidence = parse_confidence(state, arg); break;
	case OPT_FOLDED: a->folded = true; break;
	case OPT_HTML: a->html = arg; break;
	case OPT_P_VALUE: a->table.show_p = true; break;
	case OPT_CHANGED: a->table.changed = true; break;
	case OPT_RATE: a->table.show_rate = true; break;
	case OPT_JSON: a->json = true; break;
	case OPT_PERCENT_LIMIT:
		a->table.percent_limit = input_percent(state, "--percent-limit", arg);
		break;
	case OPT_PERCENTAGE: parse_percentage(state, a, arg); break;
	case ARGP_KEY_ARG:
		if (a->nr_paths == MAX_FILES)
			usage_error(state, "more than %d recordings", MAX_FILES);
		a->path[a->nr_paths++] = arg;
		break;
	case ARGP_KEY_END: complete(state, a); break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

/* Receives the recordings, one after the other. One of the two is not NULL. */
struct comparison {
	struct diff *diff;
	struct stacks *stacks;
};

/* Checks that the samples have the fields that the options need. */
static int check_fields(const struct report_opts *opts, const struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = filter_check(&opts->filter, t->evlist, &err);

	if (!rc)
		rc = sort_keys_check(opts->keys, opts->nr_keys, t->evlist, &err);
	if (rc < 0)
		complain("%s: %s", t->opts.path, err.text);
	return rc;
}

static int add_report(struct diff_args *a, struct comparison *c, struct trace *t,
		      const struct report_opts *opts)
{
	struct error err = ERROR_INIT;
	struct report *r = NULL;
	int rc = report_run(t, opts, &r, &err);

	input_progress_end(&a->input);
	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	rc = c->stacks ? stacks_add(c->stacks, r) : diff_add(c->diff, r);
	if (rc < 0)
		complain("%s: %s", t->opts.path, strerror(-rc));
	input_explain_symbols(&a->input, t);
	if (report_is_empty(r))
		input_explain_nothing(&a->input, t);
	report_free(r);
	return rc;
}

static int add_trace(struct diff_args *a, struct comparison *c, struct trace *t)
{
	struct report_opts opts = {
		.nr_keys = a->diff.nr_keys,
		.max_stack = MAX_STACK,
		.relative = a->relative,
		.filter = a->input.filter,
	};
	int rc;

	memcpy(opts.keys, a->diff.keys, sizeof(opts.keys));
	if (c->stacks) {
		stacks_report_opts(t, &opts);
		opts.inlined = !a->input.no_inline;
		if (!a->input.quiet && !report_has_callchains(t))
			complain("%s: the samples have no call chains; 'ringtail record -g' "
				 "records them",
				 t->opts.path);
	}
	t->digest = report_takes_digests(t, &opts);
	t->namespaces = report_needs_namespaces(&opts);
	rc = check_fields(&opts, t);
	if (!rc)
		rc = input_prepare(&a->input, t);
	opts.filter = a->input.filter; /* with the times of --time's parts */
	if (!rc)
		rc = add_report(a, c, t, &opts);
	return rc;
}

/* Adds a recording and closes it, so that one at a time is in memory. Returns the exit status. */
static int add_file(struct diff_args *a, struct comparison *c, const char *path)
{
	struct trace *t = NULL;
	int rc, status;

	a->input.trace.path = path;
	rc = input_open(&a->input, &t);
	if (!rc)
		rc = add_trace(a, c, t);
	if (t)
		input_explain_stacks(&a->input, t);
	status = input_end(&a->input, t, rc);
	trace_close(t);
	/* A damaged recording is compared as far as it goes. */
	return rc < 0 ? -EXIT_ERROR : status;
}

/* Names the events that cannot be compared, because only some recordings have them. */
static void explain_events(const struct diff_args *a, const struct diff *d)
{
	for (size_t i = 0; i < d->nr_events && !a->input.quiet; i++) {
		const struct diff_event *e = &d->event[i];
		size_t f = 0;

		if (diff_comparable(d, e))
			continue;
		while (f + 1 < d->opts.nr_files && !e->total[f].samples)
			f++;
		complain("event '%s' is not compared: %s has samples of it, %s", e->name,
			 d->files[f].path,
			 f ? "the first recording has none" : "no other recording has any");
	}
}

static int show(const struct diff_args *a, struct comparison *c)
{
	int rc;

	output_begin();
	if (c->stacks)
		return stacks_render(stdout, c->stacks, a->nr_paths);
	rc = diff_finish(c->diff);
	if (rc < 0)
		return rc;
	rc = a->json ? json_diff(stdout, c->diff, &a->table)
		     : diff_render(stdout, c->diff, &a->table);
	explain_events(a, c->diff);
	return rc;
}

static int run(struct diff_args *a)
{
	struct comparison c = {0};
	int status = EXIT_FINE, rc = 0;

	if (a->folded)
		rc = stacks_new(a->nr_paths, &c.stacks);
	else
		c.diff = diff_new(&a->diff);
	for (size_t i = 0; (c.stacks || c.diff) && i < a->nr_paths && status >= 0; i++) {
		int one = add_file(a, &c, a->path[i]);

		status = one ? one : status;
	}
	if (status >= 0)
		rc = c.stacks || c.diff ? show(a, &c) : -ENOMEM;
	if (rc < 0)
		complain("%s", strerror(-rc));
	if (input_end(&a->input, NULL, rc) != EXIT_FINE || status)
		status = EXIT_ERROR;
	stacks_free(c.stacks);
	diff_free(c.diff);
	return status;
}

/* Opens a recording, and sets what a page counts of it. Returns 0 or a negative errno. */
static int prepare_for_page(struct diff_args *a, const char *path, struct trace **ret,
			    struct report_opts *opts)
{
	int rc;

	a->input.trace.path = path;
	rc = input_open(&a->input, ret);
	if (rc < 0)
		return rc;
	*opts = (struct report_opts){.max_stack = MAX_STACK, .filter = a->input.filter};
	stacks_report_opts(*ret, opts);
	opts->inlined = !a->input.no_inline;
	rc = check_fields(opts, *ret) ?: input_prepare(&a->input, *ret);
	opts->filter = a->input.filter; /* with the times of --time's parts */
	return rc;
}

static uint64_t samples_of_event(const struct trace *t, const char *name)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < pd_evlist_count(t->evlist) && i < t->counts.nr_events; i++)
		if (!strcmp(pd_evlist_at(t->evlist, i)->name, name))
			samples += t->counts.by_event[i].samples;
	return samples;
}

/* Says which events only @t has samples of: the page has nothing to compare them with. */
static void explain_lonely(const struct diff_args *a, const struct trace *t,
			   const struct trace *other)
{
	for (size_t i = 0; i < t->counts.nr_events && !a->input.quiet; i++) {
		const char *name = pd_evlist_at(t->evlist, i)->name;

		if (t->counts.by_event[i].samples && !samples_of_event(other, name))
			complain("event '%s' is not compared: only %s has samples of it", name,
				 t->opts.path);
	}
}

/* Writes the page; both recordings are open, because their names are joined. */
static int run_html(struct diff_args *a)
{
	struct trace *t[2] = {0};
	struct report_opts opts[2];
	struct html_before before;
	int rc = 0, status = EXIT_FINE;

	for (size_t i = 0; !rc && i < 2; i++)
		rc = prepare_for_page(a, a->path[i], &t[i], &opts[i]);
	if (!rc) {
		before = (struct html_before){
			.trace = t[0],
			.export = {.filter = opts[0].filter,
				   .max_stack = opts[0].max_stack,
				   .inlined = opts[0].inlined},
		};
		rc = report_html(&a->input, t[1], &opts[1], a->html, &before);
	}
	if (!rc) {
		explain_lonely(a, t[0], t[1]);
		explain_lonely(a, t[1], t[0]);
	}
	for (size_t i = 0; i < 2; i++) {
		int one = t[i] ? input_end(&a->input, t[i], rc) : EXIT_ERROR;

		status = status ?: one;
		trace_close(t[i]);
	}
	return status;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp_child children[] = {{&samples_lettered_argp, 0, NULL, 0},
						     {&pager_argp, 0, "Terminal:", HELP_INPUT},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[BEFORE [AFTER...]]",
		.doc = "Show which shares of samples differ between recordings, and which of them "
		       "by "
		       "more than sampling explains.",
		.children = children,
	};
	struct diff_args a = {
		.diff = {.confidence = DEFAULT_CONFIDENCE, .order_by = 1},
	};
	int status;

	input_init(&a.input);
	a.input.several = true;
	a.diff.nr_keys = (size_t)sort_keys_parse("dso,sym", a.diff.keys, 0, NULL);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.table.quiet = a.input.quiet;
	a.table.width = terminal_width();
	status = a.html ? run_html(&a) : run(&a);
	input_release(&a.input);
	return status;
}
