// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-top-perf.h"

#include <stdint.h>
#include <string.h>

#include "cli/input/input.h"

enum {
	OPT_NOTHING = 0x2300,
	OPT_UNUSED,
	OPT_TUI,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_FIELDS,
	OPT_PERIOD,
	OPT_PERCENTAGE,
	OPT_COMMS,
	OPT_DSOS,
	OPT_SYMBOLS,
	OPT_IGNORE_CALLEES,
	OPT_KALLSYMS,
	OPT_FILTER,
	OPT_ALL_CGROUPS,
	OPT_GROUP,
	OPT_NO_BPF_EVENT,
	OPT_MAX_STACK,
	OPT_REFUSED,
};

// clang-format off
static const struct argp_option options[] = {
	{"tui", OPT_TUI, NULL, 0, "The view on the terminal (the default)", HELP_OUTPUT},
	{"children", OPT_CHILDREN, NULL, 0, "Add to each function the samples of its callees", HELP_OUTPUT},
	{"no-children", OPT_NO_CHILDREN, NULL, 0, "Count each sample once (the default)", HELP_OUTPUT},
	{"fields", OPT_FIELDS, "FIELDS", 0, "Show these columns, as of 'ringtail report'", HELP_OUTPUT},
	{"show-total-period", OPT_PERIOD, NULL, 0, "Add a column with the sum of their periods", HELP_OUTPUT},
	{"column-widths", 'w', "WIDTHS", 0, "With --stdio: the widths of the columns, separated by commas", HELP_OUTPUT},
	{"percentage", OPT_PERCENTAGE, "relative|absolute", 0,
	 "With --stdio: percentages of the shown samples, or of all (the default)", HELP_OUTPUT},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Use N frames of a chain (default 127)", HELP_OUTPUT},
	{"ignore-callees", OPT_IGNORE_CALLEES, "REGEX", 0,
	 "Count samples for the outermost function that matches, not for what it called", HELP_OUTPUT},
	{"zero", 'z', NULL, 0, "Accepted: each table has the samples of --window alone", HELP_OUTPUT},
	{"asm-raw", OPT_NOTHING, NULL, 0, "Accepted: 'ringtail annotate' shows code", HELP_OUTPUT},
	{"source", OPT_NOTHING, NULL, 0, "Accepted: 'ringtail annotate' shows source lines", HELP_OUTPUT},
	{"disassembler-style", OPT_UNUSED, "STYLE", 0, "Accepted: 'ringtail annotate -M' chooses it", HELP_OUTPUT},
	{"objdump", OPT_UNUSED, "PATH", 0, "Accepted: ringtail decodes code itself", HELP_OUTPUT},
	{"prefix", OPT_UNUSED, "PREFIX", 0, "Accepted: it is about source lines of annotated code", HELP_OUTPUT},
	{"prefix-strip", OPT_UNUSED, "N", 0, "Accepted: it is about source lines of annotated code", HELP_OUTPUT},
	{"raw-trace", OPT_NOTHING, NULL, 0, "Accepted: fields of tracepoints are those of their formats", HELP_OUTPUT},
	{"stitch-lbr", OPT_NOTHING, NULL, 0, "Accepted: each branch stack is used as it is", HELP_OUTPUT},

	{"uid", 'u', "USER", 0, "of this user's processes", HELP_SAMPLES},
	{"cgroup", 'G', "CGROUP[,CGROUP...]", 0, "of the tasks in these cgroups (with -a)", HELP_SAMPLES},
	{"filter", OPT_FILTER, "FILTER", 0, "of the tracepoint just before it that match", HELP_SAMPLES},
	{"no-inherit", 'i', NULL, 0, "not of children that start later", HELP_SAMPLES},
	{"branch-any", 'b', NULL, 0, "with the branches taken before, for the keys of branches of --sort", HELP_SAMPLES},
	{"branch-filter", 'j', "FILTER[,FILTER...]", 0, "with such branches only", HELP_SAMPLES},
	{"group", OPT_GROUP, NULL, 0, "of all events as one group, counted at the same times", HELP_SAMPLES},
	{"all-cgroups", OPT_ALL_CGROUPS, NULL, 0, "with their cgroup, for the key cgroup", HELP_SAMPLES},
	{"mmap-pages", 'm', "PAGES|SIZE", 0, "in rings of this size", HELP_SAMPLES},
	{"realtime", 'r', "PRIORITY", 0, "read with this SCHED_FIFO priority, 1 to 99", HELP_SAMPLES},
	{"no-bpf-event", OPT_NO_BPF_EVENT, NULL, 0, "without names of BPF programs that are loaded", HELP_SAMPLES},
	{"comms", OPT_COMMS, "LIST", 0, "of commands with these names", HELP_SAMPLES},
	{"dsos", OPT_DSOS, "LIST", 0, "in these shared objects", HELP_SAMPLES},
	{"symbols", OPT_SYMBOLS, "LIST", 0, "in these symbols", HELP_SAMPLES},
	{"namespaces", OPT_NOTHING, NULL, 0, "Accepted: namespaces are recorded where they are readable", HELP_SAMPLES},
	{"overwrite", OPT_NOTHING, NULL, 0, "Accepted: the newest samples replace the oldest in memory", HELP_SAMPLES},
	{"num-thread-synthesize", OPT_UNUSED, "N", 0, "Accepted: one thread reads /proc", HELP_SAMPLES},
	{"proc-map-timeout", OPT_UNUSED, "MS", 0, "Accepted: ringtail reads all maps", HELP_SAMPLES},

	{NULL, 0, NULL, 0, "Symbols:", HELP_SYMBOLS},
	{"kallsyms", OPT_KALLSYMS, "FILE", 0, "The kernel's kallsyms", HELP_SYMBOLS},
	{"vmlinux", 'k', "FILE", 0, "The kernel's vmlinux", HELP_SYMBOLS},
	{"ignore-vmlinux", OPT_NOTHING, NULL, 0, "Accepted: a vmlinux is read only with --vmlinux", HELP_SYMBOLS},
	{"demangle-kernel", OPT_NOTHING, NULL, 0, "Accepted: names of the kernel are demangled like all others", HELP_SYMBOLS},
	{"addr2line", OPT_UNUSED, "PATH", 0, "Accepted: ringtail reads debug information itself", HELP_SYMBOLS},
	{"force", OPT_NOTHING, NULL, 0, "Accepted: top reads no files of other users", HELP_SYMBOLS},
	{"verbose", 'v', NULL, 0, "Accepted: warnings are always printed", HELP_SYMBOLS},

	REFUSED("dump-symtab", 'D', "'ringtail report -v' says which files have no symbols"),
	REFUSED("entries", 'E', "the view scrolls; --percent-limit leaves rows out"),
	REFUSED("count-filter", 'f', "--percent-limit leaves out rows with few samples"),
	REFUSED("hide_kernel_symbols", 'K', "-e cycles:u samples user space alone"),
	REFUSED("hide_user_symbols", 'U', "-e cycles:k samples the kernel alone"),
	REFUSED("hierarchy", 'H', "its rows are not nested; 'ringtail report --hierarchy' nests those of a recording"),
	REFUSED("group-sort-idx", OPT_REFUSED, "each event has a table of its own; 'ringtail report' has it"),
	REFUSED("branch-history", OPT_REFUSED + 1, "call chains are shown without branches: 'ringtail record -b', then 'ringtail report --branch-history', shows them; -b counts branches"),
	REFUSED("switch-on", OPT_REFUSED + 2, "'ringtail report --switch-on' shows a span of a recording"),
	REFUSED("switch-off", OPT_REFUSED + 3, "'ringtail report --switch-off' shows a span of a recording"),
	REFUSED("show-on-off-events", OPT_REFUSED + 4, "it belongs to --switch-on, which 'ringtail report' has"),
	REFUSED("sym-annotate", OPT_REFUSED + 5, "the key a shows the code of a row's function"),
	{0},
};
// clang-format on

void top_pass(struct argp_state *state, struct top_options *top, const char *option,
	      const char *arg)
{
	if (top->nr_words + 2 > TOP_WORDS)
		usage_error(state, "too many options");
	top->word[top->nr_words++] = (char *)(uintptr_t)option;
	if (arg)
		top->word[top->nr_words++] = (char *)(uintptr_t)arg;
}

static bool passed(struct argp_state *state, struct top_options *top, int key, const char *arg)
{
	static const struct {
		int key;
		const char *word;
	} words[] = {
		{'u', "-u"},
		{'G', "-G"},
		{'i', "-i"},
		{'b', "-b"},
		{'j', "-j"},
		{'m', "-m"},
		{'r', "-r"},
		{OPT_FILTER, "--filter"},
		{OPT_GROUP, "--group"},
		{OPT_ALL_CGROUPS, "--all-cgroups"},
		{OPT_NO_BPF_EVENT, "--no-bpf-event"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (words[i].key != key)
			continue;
		top_pass(state, top, words[i].word, arg);
		return true;
	}
	return false;
}

static void parse_fields(struct argp_state *state, struct top_options *top, const char *arg)
{
	struct error err = ERROR_INIT;

	if (columns_parse_fields(&top->columns, arg, &err) < 0)
		usage_error(state, "%s", err.text);
	top->table.named_fields = top->columns.strict;
}

static void parse_percentage(struct argp_state *state, struct top_options *top, const char *arg)
{
	top->report.relative = !strcmp(arg, "relative");
	if (!top->report.relative && strcmp(arg, "absolute") != 0)
		usage_error(state, "--percentage: '%s' is neither relative nor absolute", arg);
}

static bool take_report(struct argp_state *state, struct top_options *top, int key, char *arg)
{
	switch (key) {
	case OPT_TUI: top->stdio = false; break;
	case OPT_CHILDREN: top->report.children = true; break;
	case OPT_NO_CHILDREN: top->report.children = false; break;
	case OPT_FIELDS: parse_fields(state, top, arg); break;
	case OPT_PERIOD: top->columns.period = true; break;
	case 'w': report_widths(state, arg, &top->table); break;
	case OPT_PERCENTAGE: parse_percentage(state, top, arg); break;
	case OPT_MAX_STACK: top->report.max_stack = report_max_stack(state, arg); break;
	case OPT_IGNORE_CALLEES:
		report_regex(state, "--ignore-callees", arg, &top->ignore_callees);
		top->report.ignore_callees = &top->ignore_callees.regex;
		break;
	case OPT_COMMS: top->report.filter.comms = arg; break;
	case OPT_DSOS: top->report.filter.dsos = arg; break;
	case OPT_SYMBOLS: top->report.filter.symbols = arg; break;
	case OPT_KALLSYMS: top->trace.kallsyms = arg; break;
	case 'k': top->trace.vmlinux = arg; break;
	default: return false;
	}
	return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_options *top = state->input;

	if (key == OPT_NOTHING || key == OPT_UNUSED || key == 'v' || key == 'z' ||
	    passed(state, top, key, arg) || take_report(state, top, key, arg))
		return 0;
	return refuse_option(options, key, state);
}

const struct argp top_perf_argp = {.options = options, .parser = parse};
