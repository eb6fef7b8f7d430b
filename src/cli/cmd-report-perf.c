// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-perf.h"

#include <stddef.h>
#include <string.h>

#include "cli/cmd-report-options.h"
#include "cli/input/input.h"
#include "render/stats.h"

enum {
	OPT_NOTHING = 0x2200,
	OPT_UNUSED,
	OPT_GTK,
	OPT_NS,
	OPT_SKIP_EMPTY,
	OPT_NO_SKIP_EMPTY,
	OPT_RAW_TRACE,
	OPT_IGNORE_VMLINUX,
	OPT_PRETTY,
	OPT_TOTAL_CYCLES,
	OPT_REFUSED,
};

static const struct argp_option options[] = {
	{"ns", OPT_NS, NULL, 0, "With --sort time: nine digits of seconds", HELP_OUTPUT},
	{"skip-empty", OPT_SKIP_EMPTY, NULL, 0, "No table for events without samples (the default)",
	 HELP_OUTPUT},
	{"no-skip-empty", OPT_NO_SKIP_EMPTY, NULL, 0, "Also a table for events without samples",
	 HELP_OUTPUT},
	{"raw-trace", OPT_RAW_TRACE, NULL, 0,
	 "Show fields of tracepoints as numbers, not by the kernel's format", HELP_OUTPUT},
	{"disable-order", OPT_NOTHING, NULL, 0, "Accepted: samples are counted in any order",
	 HELP_INPUT},
	{"ignore-vmlinux", OPT_IGNORE_VMLINUX, NULL, 0, "Read a vmlinux only if --vmlinux names it",
	 HELP_SYMBOLS},
	{"addr2line-style", OPT_UNUSED, "STYLE", 0,
	 "Accepted: ringtail reads debug information itself", HELP_SYMBOLS},
	{"source", OPT_NOTHING, NULL, 0, "Accepted: 'ringtail annotate' shows source lines",
	 HELP_OUTPUT},
	{"asm-raw", OPT_NOTHING, NULL, 0, "Accepted: 'ringtail annotate' shows code", HELP_OUTPUT},
	{"disassembler-style", 'M', "STYLE", 0, "Accepted: 'ringtail annotate -M' chooses it",
	 HELP_OUTPUT},
	{"objdump", OPT_UNUSED, "PATH", 0, "Accepted: 'ringtail annotate' decodes code itself",
	 HELP_OUTPUT},
	{"percent-type", OPT_UNUSED, "TYPE", 0,
	 "Accepted: 'ringtail annotate --percent-type' chooses it", HELP_OUTPUT},
	{"prefix", OPT_UNUSED, "PREFIX", 0, "Accepted: it is about source lines of annotated code",
	 HELP_OUTPUT},
	{"prefix-strip", OPT_UNUSED, "N", 0, "Accepted: it is about source lines of annotated code",
	 HELP_OUTPUT},
	{"pretty", OPT_PRETTY, "normal|raw", 0,
	 "With -T: a line for each thread, or for each of its counts", HELP_OUTPUT},
	{"samples", OPT_UNUSED, "N", 0, "Accepted: it is about a browser of single samples",
	 HELP_OUTPUT},
	REFUSED("gtk", OPT_GTK,
		"'ringtail view' is for terminals, 'ringtail report --html FILE' for browsers"),
	REFUSED("output", 'o', "the report goes to standard output: 'ringtail report > FILE'"),
	REFUSED("show-ref-call-graph", OPT_REFUSED + 1, "each event shows its own call chains"),
	{"stitch-lbr", OPT_NOTHING, NULL, 0, "Accepted: each branch stack is used as it is",
	 HELP_OUTPUT},
	{"total-cycles", OPT_TOTAL_CYCLES, NULL, 0,
	 "Show the basic blocks with most cycles, by the branch stacks (record -b)", HELP_OUTPUT},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case OPT_NS: a->input.trace.nanoseconds = true; break;
	case OPT_SKIP_EMPTY: a->table.empty = false; break;
	case OPT_NO_SKIP_EMPTY: a->table.empty = true; break;
	case OPT_RAW_TRACE: a->input.trace.raw_tracing = true; break;
	case OPT_IGNORE_VMLINUX: a->input.trace.ignore_vmlinux = true; break;
	case OPT_PRETTY:
		a->raw_counts = !strcmp(arg, "raw");
		if (!a->raw_counts && strcmp(arg, "normal") != 0)
			usage_error(state, "--pretty: '%s' is neither normal nor raw", arg);
		break;
	case OPT_TOTAL_CYCLES: a->report.total_cycles = a->report.branches = true; break;
	case OPT_NOTHING:
	case OPT_UNUSED:
	case 'M': break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

const struct argp report_perf_argp = {.options = options, .parser = parse};

int report_threads(struct trace *t, bool raw)
{
	struct thread_counts counts = {0};
	struct error err = ERROR_INIT;
	int rc = thread_counts_read(t, &counts, &err);

	if (rc < 0)
		complain("%s", err.text);
	else if (!counts.nr)
		complain("%s: -T: the recording has no counts of threads; 'ringtail record -s' "
			 "records those of child threads and processes, when they end",
			 t->opts.path);
	else if (raw)
		thread_counts_render_raw(stdout, t, &counts);
	else
		thread_counts_render(stdout, t, &counts);
	thread_counts_release(&counts);
	return rc;
}
