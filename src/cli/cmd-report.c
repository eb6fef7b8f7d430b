// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "cli/commands.h"
#include "cli/files/cmd-dump.h"
#include "cli/cmd-report-html.h"
#include "cli/cmd-report-options.h"
#include "cli/cmd-report-perf.h"
#include "cli/cmd-report-view.h"
#include "cli/terminal/terminal.h"
#include "render/aux.h"
#include "render/header.h"
#include "render/json.h"
#include "render/latency/latency.h"
#include "render/stats.h"
#include "render/table.h"

static int show_report(struct report_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	struct report *r = NULL;
	json_t *header = NULL;
	int rc = report_run(t, &a->report, &r, &err);
	input_output(&a->input);
	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	if (a->json) {
		if (a->header)
			header = header_json(t, input_captured(t->opts.path));
		rc = json_report(stdout, r, header, &a->table);
	} else {
		rc = table_render(stdout, r, &a->table);
	}
	if (!rc && a->threads && !a->json)
		rc = report_threads(t, a->raw_counts);
	input_explain_symbols(&a->input, t);
	if (a->report.waits)
		waits_explain(&a->input, &r->waits);
	if (report_is_empty(r))
		input_explain_nothing(&a->input, t);
	report_free(r);
	return rc;
}

/* Leaves out the weights of --mem-mode where the samples have none. */
static void fit_mem_keys(struct report_args *a, const struct trace *t)
{
	const uint64_t weights = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	int n;

	if (!a->mem_keys || pd_evlist_sample_type(t->evlist) & weights)
		return;
	columns_parse_sort(&a->columns, REPORT_MEM_KEYS, NULL);
	n = columns_arrange(&a->columns, &a->report.columns, a->report.keys, NULL);
	a->report.nr_keys = n < 0 ? 0 : (size_t)n;
}

/* As perf, shows latencies beside the shares where the recording has switches for them. */
static void add_latencies(struct report_args *a, const struct trace *t)
{
	int n;

	if (a->report.waits || !trace_has_switches(t) || a->columns.strict ||
	    a->columns.latency_first || t->itrace ||
	    (a->report.columns.nr_order && !(pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_TIME)))
		return;
	a->serial_columns = a->report.columns;
	a->columns.latency = true;
	n = columns_arrange(&a->columns, &a->report.columns, a->report.keys, NULL);
	a->report.columns.first_member = a->group_sort;
	a->report.nr_keys = n < 0 ? 0 : (size_t)n;
	a->report.serial_columns = &a->serial_columns;
}

/* Switches tell how many threads ran. */
static int check_switches(const struct report_args *a, const struct trace *t)
{
	if (!report_needs_parallelism(&a->report) || trace_has_switches(t))
		return 0;
	complain("latencies and parallelism need the switches of threads: record them with "
		 "'ringtail record --latency'");
	return -EINVAL;
}

/* Checks that the samples have the fields that the options need. */
static int check_fields(const struct report_args *a, const struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = 0;

	if (a->stats || a->tasks)
		return 0;
	if (a->report.branches && !(pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_BRANCH_STACK)) {
		complain("%s: the samples of this recording have no branch stacks",
			 a->report.total_cycles ? "--total-cycles" : "-b");
		return -EINVAL;
	}
	if (a->report.by_weight && !(pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_DATA_SRC)) {
		complain("--mem-mode: the samples of this recording have no sources of data");
		return -EINVAL;
	}
	rc = check_switches(a, t);
	if (rc)
		return rc;
	rc = filter_check(&a->report.filter, t->evlist, &err);
	if (!rc)
		rc = sort_keys_check(a->report.keys, a->report.nr_keys, t->evlist, &err);
	if (!rc)
		rc = report_check_history(&a->report, t, &err);
	if (!rc)
		rc = columns_check(&a->report.columns, t->evlist, &err);
	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

/* Tracepoints and their fields are known only now. */
static int resolve_columns(struct report_args *a, const struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = columns_resolve(&a->columns, t, &err);

	if (!rc)
		rc = columns_arrange(&a->columns, &a->report.columns, a->report.keys, &err);
	if (rc < 0) {
		input_refuse(&a->input, rc, &err);
		return rc;
	}
	a->report.columns.first_member = a->group_sort;
	a->report.nr_keys = (size_t)rc;
	return 0;
}

static void set_graph(struct report_args *a, const struct trace *t)
{
	a->report.graph = a->graph.order;
	if (!a->graph.given)
		a->report.graph =
			report_has_callchains(t) || a->history ? a->graph.order : REPORT_GRAPH_NONE;
}

/* Who asked for what only call chains tell. */
static void explain_chains(const struct report_args *a, const struct trace *t)
{
	bool graph = a->graph.given && a->graph.order != REPORT_GRAPH_NONE;

	if ((graph || a->report.children) && !a->input.quiet && !a->report.history &&
	    !report_has_callchains(t))
		complain("%s: the samples have no call chains; 'ringtail record -g' records them",
			 t->opts.path);
}

static void show_header(struct report_args *a, const struct trace *t)
{
	input_output(&a->input);
	if (!a->json)
		header_render(stdout, t, input_captured(t->opts.path), a->full_header);
	else if (a->header_only)
		json_write(stdout, header_json(t, input_captured(t->opts.path)));
}

static int show_stats(struct report_args *a, struct trace *t)
{
	input_output(&a->input);
	if (a->json)
		return json_write(stdout, json_stats(t));
	stats_render(stdout, t);
	return 0;
}

static int show_tasks(struct report_args *a, struct trace *t)
{
	input_output(&a->input);
	return a->json ? json_write(stdout, json_tasks(t, a->maps))
		       : tasks_render(stdout, t, a->maps);
}

static int show_latency(struct report_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	struct call_latency *l = NULL;
	int rc = call_latency_run(t, &a->latency, &l, &err);

	input_output(&a->input);
	if (rc < 0)
		complain("%s", err.text);
	else if (a->json)
		rc = json_write(stdout, latency_json(l));
	else
		rc = latency_render(stdout, l, a->graph.percent);
	input_explain_symbols(&a->input, t);
	call_latency_free(l);
	return rc;
}

static int show(struct report_args *a, struct trace *t)
{
	bool header = a->header || a->header_only;
	/* The header lists snapshots, which are known only after pass 1. */
	bool late = header && snapshots_may_be_in(t->df);
	int rc = 0;

	if (header && !late)
		show_header(a, t);
	if (a->header_only && !late)
		return 0;
	set_graph(a, t);
	if (!a->header_only)
		rc = resolve_columns(a, t);
	if (rc < 0)
		return rc;
	fit_mem_keys(a, t);
	add_latencies(a, t);
	t->parallelism = report_needs_parallelism(&a->report);
	t->namespaces = report_needs_namespaces(&a->report);
	if (!a->stats && !a->tasks && !a->header_only && !a->latency.function && !a->html)
		t->digest = report_takes_digests(t, &a->report);
	if (!a->header_only)
		rc = check_fields(a, t);
	if (!rc && a->view)
		return waits_view(&a->input, t, &a->report, &a->table);
	if (!rc)
		rc = input_prepare(&a->input, t);
	if (rc < 0)
		return rc;
	a->report.filter = a->input.filter; /* with the times of --time's parts */
	if (late)
		show_header(a, t);
	if (a->header_only)
		return 0;
	if (a->stats)
		return show_stats(a, t);
	if (a->tasks)
		return show_tasks(a, t);
	if (a->latency.function)
		return show_latency(a, t);
	rc = a->html ? report_html(&a->input, t, &a->report, a->html, NULL) : show_report(a, t);
	if (!rc)
		explain_chains(a, t);
	input_explain_stacks(&a->input, t);
	return rc;
}

static int show_dump(struct report_args *a, struct trace *t)
{
	int rc = 0;

	if (a->header && snapshots_may_be_in(t->df))
		rc = input_prepare(&a->input, t);
	if (rc < 0)
		return rc;
	if (a->header)
		show_header(a, t);
	return dump_all(&a->input, t);
}

static int show_aux(struct report_args *a, struct trace *t)
{
	struct aux_rings rings;
	int rc = aux_rings_read(t->df, &rings);

	if (rc < 0)
		complain("%s: cannot read it to the end", t->opts.path);
	else if (a->json)
		rc = json_write(stdout, aux_json(&rings));
	else
		aux_render(stdout, &rings);
	if (!rc && !rings.nr && !a->input.quiet)
		complain("%s: the recording has no AUX area", t->opts.path);
	aux_rings_release(&rings);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct report_args a;
	struct trace *t = NULL;
	char **args;
	int rc, status;

	if (cmd_report_view(argc, argv, &status))
		return status;
	args = graph_spec_join(&argc, argv);
	if (!args)
		return EXIT_ERROR;
	report_args_init(&a);
	if (argp_parse(&report_argp, argc, args, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.report.filter = a.latency.filter = a.input.filter;
	a.report.inlined = !a.input.no_inline;
	a.table.quiet = a.input.quiet;
	a.report.verbose = a.table.mark_guesses = a.input.verbose;
	a.report.graph_key = a.graph.key;
	a.table.graph_style = a.graph.style;
	a.table.graph_value = a.graph.value;
	a.table.graph_percent = a.graph.percent;
	a.table.graph_limit = a.graph.limit;
	a.table.width = terminal_width();
	a.table.colors = terminal_colors() && !a.table.separator;
	rc = input_open(&a.input, &t);
	if (!rc && a.aux)
		rc = show_aux(&a, t);
	else if (!rc)
		rc = a.dump && !a.header_only ? show_dump(&a, t) : show(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	report_args_release(&a);
	graph_spec_join_free(args, argv);
	return status;
}
