// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-waits.h"

#include <inttypes.h>
#include <string.h>

#include "base/human.h"
#include "base/plural.h"
#include "cli/view/show.h"

#define WAIT_COLUMNS "comm,kind,sym"

static bool has_key(const struct columns_spec *c, const char *name)
{
	for (size_t i = 0; i < c->nr_sort; i++)
		if (c->sort[i].key && !strcmp(c->sort[i].key->name, name))
			return true;
	for (size_t i = 0; i < c->nr_fields; i++)
		if (c->fields[i].key && !strcmp(c->fields[i].key->name, name))
			return true;
	return false;
}

void report_waits_settle(struct argp_state *state, struct waits_args *w,
			 struct columns_spec *columns, struct report_opts *report)
{
	const char *name = w->opts.wall ? "--wall" : "--off-cpu";

	if (!waits_wanted(w))
		return;
	if (report->branches || report->by_weight)
		usage_error(state, "%s shows time, %s shows %s: choose one", name,
			    report->branches ? "-b" : "--mem-mode",
			    report->branches ? "branches" : "memory accesses");
	if (report->grouped)
		usage_error(state, "%s shows one table, --group the events of a group: choose one",
			    name);
	if (!columns->sorted)
		columns_parse_sort(columns, WAIT_COLUMNS, NULL);
	if (!columns->nr_fields)
		columns_parse_fields(columns, "+elapsed", NULL);
	w->opts.waker_stacks = has_key(columns, "waker_stack");
	report->waits = &w->opts;
}

void report_waits_check_keys(struct argp_state *state, const struct waits_args *w,
			     const struct report_opts *report)
{
	for (size_t i = 0; i < report->nr_keys; i++) {
		if (report->keys[i]->of_wait && !waits_wanted(w))
			usage_error(state, "--sort %s is of waits: add --off-cpu, or --wall",
				    report->keys[i]->name);
		if (report->keys[i]->of_wait && report->children)
			usage_error(state,
				    "--sort %s is of waits, not of their callers: leave out "
				    "--children",
				    report->keys[i]->name);
	}
}

void waits_refuse_code(struct argp_state *state, const struct filter *filter)
{
	if (filter->symbols || filter->dsos)
		usage_error(state, "-S and -d choose samples by their code, and switches and spans "
				   "of threads have none: leave them out");
}

static void say(uint64_t n, const char *one, const char *more, uint64_t ns)
{
	char number[HUMAN_COUNT_SIZE];

	if (n)
		complain("%s %s (%.6f s)", human_count(n, number), n == 1 ? one : more,
			 (double)ns / 1e9);
}

void waits_explain(const struct input *in, const struct waits_counts *counts)
{
	const struct pairing_counts *p = &counts->pairing;
	char begins[HUMAN_COUNT_SIZE], ends[HUMAN_COUNT_SIZE];

	if (p->unsure)
		say(p->unsure, "wait spans a loss of records and may be shorter",
		    "waits span losses of records and may be shorter", p->unsure_ns);
	if (p->unended || p->unbegun)
		complain("the begin of %s wait%s and the end of %s are not in the recording",
			 human_count(p->unbegun, begins), plural_s(p->unbegun),
			 human_count(p->unended, ends));
	if (counts->unkept)
		complain("memory for the stacks of waiting threads was full: the stacks of %s "
			 "switch%s or wakeups are not shown",
			 human_count(counts->unkept, begins), counts->unkept == 1 ? "" : "es");
	if (in->quiet)
		return;
	say(p->begun_before, "thread was off CPUs when the recording began: not counted",
	    "threads were off CPUs when the recording began: not counted", p->begun_before_ns);
	if (!counts->wakeups)
		complain("the recording has no wakeups: waits end when a thread runs again");
	if (counts->scale != 1 && counts->event)
		complain("a period of %s counts as %.6g ns, as threads ran %.6f s",
			 counts->event->name, counts->scale, (double)counts->ran_ns / 1e9);
}

int waits_view(struct input *in, struct trace *t, const struct report_opts *report,
	       const struct table_opts *table)
{
	struct waits_counts waits = {.wakeups = true, .scale = 1};
	int rc = show_recording(in, t, report, table, &waits);

	if (!rc && report->waits)
		waits_explain(in, &waits);
	return rc;
}
