// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/itrace/samples.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/files/cmd-dump.h"
#include "base/buf.h"
#include "cli/cmd-export-file.h"
#include "cli/cmd-script-filter.h"
#include "cli/input/command.h"
#include "cli/terminal/terminal.h"
#include "render/header.h"
#include "render/lines.h"
#include "sys/kernel/limits.h"

#define MAX_STACK      127
#define MAX_FIELD_ARGS 32
#define CALL_DSO_WIDTH (-50) /* left-aligned, as in perf */
#define OTHER_FILES    64    /* descriptors beside those of dumps */

struct script_args {
	struct input input;
	struct script_opts script;
	const char *fields[MAX_FIELD_ARGS]; /* -F, applied once the events are known */
	size_t nr_fields;
	struct lines lines;
	struct lines_opts line;
	struct script_filter own;
	bool header, header_only, full_header, dump, per_event, kernel_path;
	uint64_t range; /* --addr-range, bytes; 0: not given */
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
	OPT_SHOW_NAMESPACES,
	OPT_SHOW_CGROUPS,
	OPT_SHOW_BPF,
	OPT_SHOW_POKES,
	OPT_SHOW_ROUNDS,
	OPT_STOP_BT,
	OPT_DUMP_UNSORTED,
	OPT_NOTHING,
	OPT_MAX_BLOCKS,
	OPT_ADDR_RANGE,
	OPT_PER_EVENT,
	OPT_INSN_TRACE,
	OPT_CALL_TRACE,
	OPT_CALL_RET_TRACE,
	OPT_KERNEL_PATH,
	OPT_GRAPH_FUNCTION,
	OPT_XED,
	OPT_DLFILTER,
	OPT_DLARG,
	OPT_LIST_DLFILTERS,
	OPT_REFUSED = 0x2100,
};

#define OWN_SCRIPTS                                                                            \
	"ringtail runs no scripts; a script can read its output: 'ringtail script | SCRIPT'; " \
	"'ringtail export' writes what many of perf's scripts write"
#define OF_GUESTS \
	"ringtail shows guests' samples without names; record inside of the guest for them"

static const struct argp_option options[] = {
	{"fields", 'F', "[TYPE:]FIELDS", 0,
	 "Show these fields: comm, tid, pid, time, cpu, event, trace, ip, sym, symoff, dso, dsoff "
	 "(dso "
	 "with "
	 "offset), srcline, addr, period, brstack, brstacksym, data_src, weight, ins_lat, "
	 "phys_addr, "
	 "data_page_size, "
	 "code_page_size, cgroup, misc, flags, insn, insnlen, disasm, brstackinsn, "
	 "brstackinsnlen, brstackdisasm, srccode, ipc, callindent; +FIELD and -FIELD "
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
	{"insn-trace", OPT_INSN_TRACE, "raw|disasm", OPTION_ARG_OPTIONAL,
	 "Show each instruction of hardware trace; as --itrace=i0nse -F +insn,-event,-period; with "
	 "disasm as -F +disasm",
	 HELP_OUTPUT},
	{"call-trace", OPT_CALL_TRACE, NULL, 0,
	 "Show calls in hardware trace, indented; as --itrace=bewp --ns -F "
	 "+callindent,-event,-period,-ip,-addr without other branches",
	 HELP_OUTPUT},
	{"call-ret-trace", OPT_CALL_RET_TRACE, NULL, 0,
	 "As --call-trace, with returns and -F +flags", HELP_OUTPUT},
	{"dump-raw-trace", 'D', NULL, 0, "As 'ringtail dump'", HELP_OUTPUT},
	{"show-mmap-events", OPT_SHOW_MMAPS, NULL, 0, "Show maps, too", HELP_OUTPUT},
	{"show-task-events", OPT_SHOW_TASKS, NULL, 0, "Show new names, forks and exits of tasks",
	 HELP_OUTPUT},
	{"show-switch-events", OPT_SHOW_SWITCHES, NULL, 0, "Show switches of threads", HELP_OUTPUT},
	{"show-lost-events", OPT_SHOW_LOST, NULL, 0, "Show losses where they happened",
	 HELP_OUTPUT},
	{"show-namespace-events", OPT_SHOW_NAMESPACES, NULL, 0, "Show namespaces of tasks",
	 HELP_OUTPUT},
	{"show-cgroup-events", OPT_SHOW_CGROUPS, NULL, 0, "Show new cgroups", HELP_OUTPUT},
	{"show-bpf-events", OPT_SHOW_BPF, NULL, 0,
	 "Show BPF programs and kernel code as they come and go", HELP_OUTPUT},
	{"show-text-poke-events", OPT_SHOW_POKES, NULL, 0, "Show changes of the kernel's code",
	 HELP_OUTPUT},
	{"show-round-events", OPT_SHOW_ROUNDS, NULL, 0, "Show the marks of the order of records",
	 HELP_OUTPUT},
	{"stop-bt", OPT_STOP_BT, "FUNCTIONS", 0, "End call chains at these functions", HELP_OUTPUT},
	{"dump-unsorted-raw-trace", OPT_DUMP_UNSORTED, NULL, 0, "As 'ringtail dump'", HELP_OUTPUT},
	{"addr-range", OPT_ADDR_RANGE, "N", 0,
	 "With -S ADDRESS: show samples of N bytes from there on", HELP_SAMPLES},
	{"dlfilter", OPT_DLFILTER, "FILE", 0,
	 "Let a filter, a shared object with perf's interface for filters, choose the samples",
	 HELP_SAMPLES},
	{"dlarg", OPT_DLARG, "WORD", 0, "A word for the filter; may be given several times",
	 HELP_SAMPLES},
	{"list-dlfilters", OPT_LIST_DLFILTERS, NULL, 0,
	 "List the filters of the current folder and of perf; with -v described at length",
	 HELP_SAMPLES},
	{"per-event-dump", OPT_PER_EVENT, NULL, 0,
	 "Write the samples of each event to a file FILE.EVENT.dump", HELP_OUTPUT},
	{"stitch-lbr", OPT_NOTHING, NULL, 0, "Accepted: each branch stack is used as it is",
	 HELP_INPUT},
	{"all-cpus", 'a', NULL, 0, "Accepted: a recording is shown as it is", HELP_INPUT},
	{"debug-mode", OPT_NOTHING, NULL, 0,
	 "Print losses, damage and records out of order (always done)", HELP_OUTPUT},
	{"show-kernel-path", OPT_KERNEL_PATH, NULL, 0,
	 "Show the paths of kernel modules, and that of --vmlinux", HELP_OUTPUT},
	{"graph-function", OPT_GRAPH_FUNCTION, "FUNCTIONS", 0,
	 "With --call-trace or --call-ret-trace: only what these functions call, in depth",
	 HELP_OUTPUT},
	{"xed", OPT_XED, NULL, 0, "Show instructions as text; as -F +disasm", HELP_OUTPUT},
	{"merge-callchains", OPT_NOTHING, NULL, 0,
	 "Accepted: call chains are shown as they are recorded", HELP_INPUT},
	{"max-blocks", OPT_MAX_BLOCKS, "N", 0,
	 "Of brstackinsn: show the newest N blocks of each branch stack (default: all)",
	 HELP_OUTPUT},
	{"Latency", 'L', NULL, 0, "Show eight letters of a task's name, and CPUs without brackets",
	 HELP_OUTPUT},
	REFUSED("script", 's', OWN_SCRIPTS),
	REFUSED("gen-script", 'g', OWN_SCRIPTS),
	REFUSED("list", 'l', OWN_SCRIPTS),
	REFUSED("guestmount", OPT_REFUSED + 3, OF_GUESTS),
	REFUSED("guestkallsyms", OPT_REFUSED + 4, OF_GUESTS),
	REFUSED("guestmodules", OPT_REFUSED + 5, OF_GUESTS),
	REFUSED("guestvmlinux", OPT_REFUSED + 6, OF_GUESTS),
	REFUSED("guest-code", OPT_REFUSED + 7, OF_GUESTS),
	{0},
};

/* What perf's own scripts do, and who does it here; @arg is the first word, "report" or "record",
 * or one of the scripts that perf runs without it. */
static void refuse_script(const struct argp_state *state, const char *arg)
{
	static const struct {
		const char *script, *instead;
	} known[] = {
		{"flamegraph", "'ringtail report --html FILE' writes a flame graph, and 'ringtail "
			       "export --to folded' stacks for other tools"},
		{"gecko", "'ringtail export --to firefox' writes a file for profiler.firefox.com"},
		{"stackcollapse", "'ringtail export --to folded' writes such lines"},
		{"export-to-sqlite", "'ringtail export --to parquet' writes a table"},
		{"export-to-postgresql", "'ringtail export --to parquet' writes a table"},
	};
	const char *script = state->next < state->argc ? state->argv[state->next] : "";

	if (!access(arg, F_OK))
		return;
	if (!strcmp(arg, "flamegraph") || !strcmp(arg, "gecko")) {
		script = arg;
		arg = "report";
	}
	if ((strcmp(arg, "report") != 0 && strcmp(arg, "record") != 0) || !*script)
		return;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(script, known[i].script))
			usage_error(state, "there is no script '%s': %s", script, known[i].instead);
	usage_error(state, "there is no script '%s': " OWN_SCRIPTS, script);
}

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

/* -S is an address then, as perf has it. */
static void choose_addresses(struct argp_state *state, struct script_args *a)
{
	struct filter_ranges *to = &a->input.filter.addresses;
	uint64_t first;

	if (!a->range)
		return;
	if (!a->input.filter.symbols || parse_u64(a->input.filter.symbols, &first) < 0)
		usage_error(state, "--addr-range: give -S the address that the range begins with, "
				   "such as 0xffffffff81000000");
	if (array_grow(&to->r, &to->cap, 1, sizeof(*to->r)))
		usage_error(state, "out of memory");
	to->r[to->nr++] = (struct filter_range){first, first + a->range - 1};
	a->input.filter.symbols = NULL;
}

static void check_filter(const struct argp_state *state, const struct script_args *a)
{
	if (a->own.nr_args && !a->own.path)
		usage_error(state, "--dlarg is a word for a filter: add --dlfilter FILE");
	if (a->own.path && a->per_event)
		usage_error(state, "--dlfilter and --per-event-dump exclude each other");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script_args *a = state->input;
	uint64_t n;

	if (key >= OPT_SHOW_MMAPS && key <= OPT_SHOW_ROUNDS) {
		a->script.records |= SCRIPT_SHOW_MAPS << (key - OPT_SHOW_MMAPS);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case 'F': add_fields(state, a, arg); break;
	case OPT_INSN_TRACE:
		input_itrace(state, &a->input, "i0nse");
		if (arg && strcmp(arg, "raw") != 0 && strcmp(arg, "disasm") != 0)
			usage_error(state, "--insn-trace: '%s' is neither raw nor disasm", arg);
		add_fields(state, a,
			   arg && *arg == 'd' ? "+disasm,-event,-period" : "+insn,-event,-period");
		break;
	case OPT_CALL_TRACE:
	case OPT_CALL_RET_TRACE: trace_calls(state, a, key == OPT_CALL_RET_TRACE); break;
	case OPT_KERNEL_PATH: a->kernel_path = true; break;
	case OPT_GRAPH_FUNCTION: a->script.graph_functions = arg; break;
	case OPT_DLFILTER: a->own.path = arg; break;
	case OPT_DLARG:
		if (script_filter_arg(&a->own, arg) < 0)
			usage_error(state, "out of memory");
		break;
	case OPT_LIST_DLFILTERS: a->own.list = true; break;
	case OPT_XED: add_fields(state, a, "+disasm"); break;
	case OPT_NS: a->line.ns = true; break;
	case OPT_RELTIME: parse_since(state, a, LINES_FIRST); break;
	case OPT_DELTATIME: parse_since(state, a, LINES_BEFORE); break;
	case OPT_HEADER: a->header = true; break;
	case OPT_HEADER_ONLY: a->header = a->header_only = true; break;
	case 'I': a->full_header = true; break;
	case OPT_DUMP_UNSORTED:
	case 'D': a->dump = true; break;
	case OPT_STOP_BT: a->script.stop_at = arg; break;
	case OPT_PER_EVENT: a->per_event = true; break;
	case OPT_ADDR_RANGE:
		if (parse_u64(arg, &a->range) < 0 || !a->range)
			usage_error(state, "--addr-range: '%s' is no number above 0", arg);
		break;
	case 'L': a->line.short_task = true; break;
	case OPT_NOTHING:
	case 'a': break;
	case OPT_MAX_BLOCKS:
		if (parse_u64(arg, &a->script.max_blocks) < 0 || !a->script.max_blocks ||
		    a->script.max_blocks > UINT32_MAX)
			usage_error(state, "--max-blocks: '%s' is no number from 1 to 4294967295",
				    arg);
		break;
	case 'G': a->script.no_callchain = true; break;
	case OPT_MAX_STACK:
		if (parse_u64(arg, &n) < 0 || n < 1 || n > 65536)
			usage_error(state, "--max-stack: '%s' is no number from 1 to 65536", arg);
		a->script.max_stack = n;
		break;
	case ARGP_KEY_ARG:
		refuse_script(state, arg);
		if (state->arg_num)
			usage_error(state, "too many arguments: ringtail reads one recording");
		a->input.trace.path = arg;
		break;
	case ARGP_KEY_END:
		choose_addresses(state, a);
		check_filter(state, a);
		if (a->script.graph_functions && !a->script.branches)
			usage_error(state, "--graph-function needs --call-trace or "
					   "--call-ret-trace");
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

static int write_lines(struct script_args *a, struct trace *t, struct format_out *outs, size_t nr)
{
	struct error err = ERROR_INIT;
	int rc = script_run(t, &a->script, put_sample, &a->lines, outs, &err);
	bool full = false;

	for (size_t i = 0; i < nr; i++)
		full |= ferror(outs[i].file) != 0;
	if (rc < 0 && rc != -EPIPE && full)
		complain("cannot write %s: %s",
			 outs->file == stdout ? "to standard output" : "a file", strerror(-rc));
	else if (rc < 0 && rc != -EPIPE)
		complain("%s", err.text);
	return rc;
}

/*
 * Makes FILE.EVENT.dump, or FILE.EVENT.2.dump for the second event of that name. A slash in the
 * name of an event becomes "_".
 */
static bool name_dump(const struct trace *t, const struct pd_evsel *event, char ret[PATH_MAX])
{
	char number[24] = "";
	unsigned int nr = 1;
	int n;

	for (size_t i = 0; pd_evlist_at(t->evlist, i) != event; i++)
		nr += !strcmp(pd_evlist_at(t->evlist, i)->name, event->name);
	if (nr > 1)
		snprintf(number, sizeof(number), ".%u", nr);
	n = snprintf(ret, PATH_MAX, "%s.%s%s.dump", t->opts.path, event->name, number);
	if (n < 0 || n >= PATH_MAX)
		return false;
	for (char *p = ret + strlen(t->opts.path) + 1; *p; p++)
		if (*p == '/')
			*p = '_';
	return true;
}

static int open_dump(const struct trace *t, const struct pd_evsel *event, struct format_out *ret)
{
	char path[PATH_MAX];

	if (!name_dump(t, event, path)) {
		complain("--per-event-dump: %s.%s.dump is too long for a path: move the recording",
			 t->opts.path, event->name);
		return -ENAMETOOLONG;
	}
	ret->file = export_file_open(t->opts.path, path, AT_FDCWD, path);
	return ret->file ? 0 : -EIO;
}

/* Closes the file, and removes it if @rc or the closing is an error. Returns that error. */
static int close_dump(const struct script_args *a, const struct trace *t,
		      const struct pd_evsel *event, const struct format_out *out, int rc)
{
	char path[PATH_MAX];

	name_dump(t, event, path);
	if (fclose(out->file) && !rc) {
		rc = -errno;
		complain("%s: %s", path, strerror(-rc));
	}
	if (rc)
		export_file_remove(AT_FDCWD, path);
	else if (!a->input.quiet)
		complain("%s: %" PRIu64 " bytes", path, out->bytes);
	return rc;
}

/* Sees to it that @nr files may be open. */
static int allow_dumps(size_t nr)
{
	uint64_t limit = limits_raise_files(nr + OTHER_FILES);

	if (limit >= nr + OTHER_FILES)
		return 0;
	complain("--per-event-dump: the recording has %zu events, a file each, and this process "
		 "may open %" PRIu64 ": raise the limit (ulimit -n)",
		 nr, limit);
	return -EMFILE;
}

/* Writes the samples of each event to a file of its own. */
static int dump_events(struct script_args *a, struct trace *t, uint64_t *ret_bytes)
{
	size_t nr = pd_evlist_count(t->evlist), opened = 0;
	struct format_out *outs = calloc(nr + 1, sizeof(*outs));
	int rc = outs ? allow_dumps(nr) : -ENOMEM;

	while (!rc && opened < nr) {
		rc = open_dump(t, pd_evlist_at(t->evlist, opened), &outs[opened]);
		opened += !rc;
	}
	a->script.by_event = true;
	if (!rc)
		rc = write_lines(a, t, outs, nr);
	for (size_t i = 0; i < opened; i++) {
		rc = close_dump(a, t, pd_evlist_at(t->evlist, i), &outs[i], rc);
		*ret_bytes += outs[i].bytes;
	}
	free(outs);
	return rc;
}

static int show(struct script_args *a, struct trace *t)
{
	struct format_out out = {.file = stdout};
	int rc;

	t->by_time = true;
	rc = input_prepare(&a->input, t);
	if (rc < 0)
		return rc;
	a->script.filter = a->input.filter; /* with the times of --time's parts */
	if (a->kernel_path)
		state_show_kernel_paths(t->state, t->opts.vmlinux);
	input_output(&a->input);
	if (a->header)
		header_render(stdout, t, input_captured(t->opts.path), a->full_header);
	if (a->header_only)
		return 0;
	__fsetlocking(stdout, FSETLOCKING_BYCALLER); /* no other thread writes */
	a->line.mark_guesses = a->input.verbose;
	lines_init(&a->lines, t, &a->line);
	a->script.in_sequence = a->script.graph_functions ||
				lines_in_sequence(&a->line, &a->script.fields, t->evlist);
	rc = a->per_event ? dump_events(a, t, &out.bytes) : write_lines(a, t, &out, 1);
	input_explain_symbols(&a->input, t);
	if (!rc && !out.bytes)
		input_explain_nothing(&a->input, t);
	input_explain_stacks(&a->input, t);
	return rc;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&pager_argp, 0, "Terminal:", HELP_INPUT},
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
	if (a.own.list)
		return script_filter_list(a.input.verbose);
	a.script.filter = a.input.filter;
	a.script.inlined = !a.input.no_inline;
	rc = script_filter_load(&a.own, &a.script.dlfilter);
	if (!rc)
		rc = input_open(&a.input, &t);
	if (!rc && !a.header_only && !a.dump)
		rc = settle_fields(&a, t);
	if (!rc)
		rc = a.dump ? dump_all(&a.input, t) : show(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	script_filter_release(&a.own, a.script.dlfilter);
	return status;
}
