// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-record-options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/input/input.h"
#include "cli/cmd-record-checks.h"
#include "cli/cmd-record-values.h"
#include "event/parse/address_filter.h"
#include "record/plan/aux_rules.h"
#include "record/plan/off_cpu.h"
#include "record/plan/trigger_spec.h"
#include "render/attr_text.h"

// clang-format off
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Most used:", 1},
	{"event", 'e', "EVENT[,EVENT...]", 0,
	 "Events, as perf spells them: cycles:u, cpu-clock, page-faults, sched:sched_switch, 'sched:*', "
	 "cpu/event=0x3c/, {a,b}, uprobe:FILE:FUNCTION, mem:FILE:VARIABLE:w. May be repeated. Default: cycles, or cpu-clock without a PMU", 0},
	{"freq", 'F', "HZ|max", 0, "Take HZ samples a second (default 4000; tracepoints: every event)", 0},
	{"all-cpus", 'a', NULL, 0, "Record the whole system (default without a command)", 0},
	{"pid", 'p', "PID[,PID...]", 0, "Record these processes with all their threads", 0},
	{NULL, 'g', NULL, 0, "Call chains by frame pointers", 0},
	{"call-graph", KEY_CALL_GRAPH, "fp|dwarf[,SIZE][,online]|lbr", 0,
	 "Call chains by frame pointers, by SIZE bytes of user stack (default 8192) for DWARF, or by the processor's branch stack. "
	 "online: unwinds the stacks while recording, and writes the callers in their place", 0},
	{"output", 'o', "FILE", 0,
	 "Write to FILE (default perf.data) and keep the previous one as FILE.old. - is a pipe, DIR/ a directory", 0},
	{"memory", 'M', "SIZE", 0,
	 "Keep the newest SIZE of samples (64M) in memory. SIGUSR2 or 'ctl snapshot' writes them as a "
	 "snapshot", 0},

	{NULL, 0, NULL, 0, "Events:", 2},
	{"count", 'c', "N", 0, "Take a sample every N events", 0},
	{"filter", KEY_FILTER, "FILTER", 0, "Filter the tracepoints or probes named just before it; or the addresses that a hardware trace covers: 'filter FUNCTION @ FILE'", 0},
	{"strict-freq", KEY_STRICT_FREQ, NULL, 0, "Fail if the kernel does not allow the frequency of -F", 0},
	{"no-samples", 'n', NULL, 0, "Take no samples; with -s, count", 0},
	{"group", KEY_GROUP, NULL, 0, "Make one group of all events, as {a,b}", 0},
	{"exclude-perf", KEY_EXCLUDE_PERF, NULL, 0, "Leave ringtail itself out of tracepoints", 0},
	{"all-user", KEY_ALL_USER, NULL, 0, "Limit all events to user space", 0},
	{"all-kernel", KEY_ALL_KERNEL, NULL, 0, "Limit all events to the kernel", 0},

	{NULL, 0, NULL, 0, "Tasks and CPUs:", 3},
	{"tid", 't', "TID[,TID...]", 0, "Record these threads", 0},
	{"cpu", 'C', "LIST", 0, "Record these CPUs: 0-3,5", 0},
	{"uid", 'u', "USER", 0, "Record the processes of this user, a name or a number", 0},
	{"cgroup", 'G', "NAME[,NAME...]", 0,
	 "Record the events before it in these cgroups, one each; one name is for all events. Needs -a or -C", 0},
	{"for-each-cgroup", KEY_FOR_EACH_CGROUP, "NAME[,NAME...]", 0, "Record all events in each of these cgroups", 0},
	{"no-inherit", 'i', NULL, 0, "Do not record children that start later", 0},
	{"per-thread", KEY_PER_THREAD, NULL, 0, "As -i: a ring for each thread", 0},

	{NULL, 0, NULL, 0, "What each sample carries:", 4},
	{"user-callchains", KEY_USER_CALLCHAINS, NULL, 0, "Only the callers in user space", 0},
	{"kernel-callchains", KEY_KERNEL_CALLCHAINS, NULL, 0, "Only the callers in the kernel", 0},
	{"data", 'd', NULL, 0, "Data addresses, and the maps of data", 0},
	{"sample-mem-info", KEY_SAMPLE_MEM_INFO, NULL, 0, "The source of data (also with -d)", 0},
	{"data-mmap", KEY_DATA_MMAP, NULL, 0, "The maps of data (also with -d)", 0},
	{"phys-data", KEY_PHYS_DATA, NULL, 0, "Physical data addresses", 0},
	{"data-page-size", KEY_DATA_PAGE, NULL, 0, "The size of the page of data addresses", 0},
	{"code-page-size", KEY_CODE_PAGE, NULL, 0, "The size of the page of code addresses", 0},
	{"weight", 'W', NULL, 0, "The cost of memory accesses, of events that measure it", 0},
	{"transaction", KEY_TRANSACTION, NULL, 0, "The flags of memory transactions", 0},
	{"branch-any", 'b', NULL, 0, "The branches taken before, if the processor keeps them", 0},
	{"branch-filter", 'j', "FILTER[,FILTER...]", 0,
	 "Of these branches only such: any, any_call, any_ret, ind_call, call, cond, u, k, ...", 0},
	{"intr-regs", 'I', "REGISTER[,REGISTER...]", OPTION_ARG_OPTIONAL,
	 "Registers at the sample; all without an argument; -I? lists them", 0},
	{"user-regs", KEY_USER_REGS, "REGISTER[,REGISTER...]", OPTION_ARG_OPTIONAL, "Registers of user space", 0},
	{"all-cgroups", KEY_ALL_CGROUPS, NULL, 0, "The cgroup", 0},
	{"stat", 's', NULL, 0, "Counts of each thread, when it ends, for 'ringtail report -T'", 0},
	{"running-time", KEY_RUNNING_TIME, NULL, 0, "The times of counts in samples (:S)", 0},
	{"switch-events", KEY_SWITCH_EVENTS, NULL, 0, "Switches of threads, beside the samples", 0},
	{"period", 'P', NULL, 0, "The period", 0},
	{"raw-samples", 'R', NULL, 0, "Raw data (tracepoints: always)", 0},
	{"sample-cpu", KEY_SAMPLE_CPU, NULL, 0, "The CPU", 0},
	{"latency", KEY_LATENCY, NULL, 0, "Switches of threads, for 'ringtail report --latency'", 0},
	{"sample-identifier", KEY_SAMPLE_IDENTIFIER, NULL, 0, "The number of the event (always)", 0},
	{"off-cpu", KEY_OFF_CPU, "wakers", OPTION_ARG_OPTIONAL,
	 "Why threads wait, for how long, and who wakes them, for 'ringtail report --off-cpu'; with call chains, of wakeups too if =wakers", 0},
	{"timestamp", 'T', NULL, 0, "The time (always)", 0},
	{"namespaces", KEY_NAMESPACES, NULL, 0, "Namespaces of tasks (always, if they are readable)", 0},
	{"clockid", 'k', "CLOCK", 0, "Clock of the times: monotonic, monotonic_raw, realtime, boottime, "
	 "tai or a number", 0},

	{NULL, 0, NULL, 0, "Build-ids:", 5},
	{"no-build-ids", 'B', NULL, 0, "No build-ids of mapped files", 0},
	{"no-buildid", 0, NULL, OPTION_ALIAS, NULL, 0},
	{"buildid-all", KEY_BUILDID_ALL, NULL, 0, "Build-ids of all mapped files (always)", 0},
	{"buildid-mmap", KEY_BUILDID_MMAP, NULL, 0,
	 "Let the kernel write build-ids into map records; disturbs a perf record that runs meanwhile", 0},
	{"no-buildid-cache", 'N', NULL, 0, "No copies of mapped files (ringtail makes none)", 0},
	{"debuginfod", KEY_DEBUGINFOD, "URLS", OPTION_ARG_OPTIONAL, "Accepted: only reports ask debuginfod", 0},
	{"vmlinux", KEY_VMLINUX, "FILE", 0, "Take the kernel's names from this vmlinux", 0},

	{NULL, 0, NULL, 0, "Output:", 6},
	{"switch-output", KEY_SWITCH_OUTPUT, "WHEN", OPTION_ARG_OPTIONAL,
	 "Rotate: begin a new FILE at SIGUSR2 and 'ctl rotate' (signal, the default), also after a size "
	 "(100M) or time (30s, 5m, 1h, 1d). The finished one becomes FILE.YYYYMMDDhhmmsscc", 0},
	{"switch-output-event", KEY_SWITCH_OUTPUT_EVENT, "EVENT", 0,
	 "Rotate each time EVENT happens; EVENT is not recorded. --filter may follow", 0},
	{"switch-max-files", KEY_SWITCH_MAX_FILES, "N[,all]", 0,
	 "Keep the newest N files of --switch-output; all: count those of earlier recordings", 0},
	{"timestamp-boundary", KEY_TIMESTAMP_BOUNDARY, NULL, 0, "Record the times of the first and of the last sample (always done)", 0},
	{"timestamp-filename", KEY_TIMESTAMP_FILENAME, NULL, 0, "Rename the finished FILE like this even without a rotation", 0},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0, "Stop when FILE has this much data: 500M. The rings are still "
	 "drained then", 0},
	{"symbols", KEY_SYMBOLS, "names|lines|none", 0,
	 "Keep names of sampled functions in FILE, so that reports need no other file (default); lines: also source "
	 "lines and inlined functions", 0},
	{"symbols-budget", KEY_SYMBOLS_BUDGET, "SIZE", 0,
	 "Keep at most SIZE of names: 64M. Default: 3% of FILE, but at least 256K and at most 64M", 0},
	{"kcore", KEY_KCORE, NULL, 0,
	 "Copy the kernel's code and symbols, so that any machine can show them; FILE is a directory", 0},
	{"compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL,
	 "Compress with zstd, level 1 (default) to 22; a lower level while rings fill", 0},
	{"flush-interval", KEY_FLUSH_INTERVAL, "TIME", 0,
	 "Flush the file this often: 500ms, 2s (default 1s)", 0},

	{NULL, 0, NULL, 0, "Snapshots:", 7},
	{"trigger", KEY_TRIGGER, "WHAT[,after=TIME][,limit=N/TIME][,reason=TEXT]", 0,
	 "Take a snapshot (-M) when WHAT happens: 'EVENT[ FILTER]', psi:cpu|memory|io:SOME_MS/WINDOW_MS, "
	 "'latency:START-EVENT..END-EVENT>TIME', load:N, every:TIME. May be repeated", 0},
	{"last", KEY_LAST, "TIME|SIZE|all", 0,
	 "Limit a snapshot to the newest 10s, 500ms, or about 16M bytes. Default: all that is in memory",
	 0},
	{"since-last", KEY_SINCE_LAST, NULL, 0,
	 "Leave out of each file of --switch-output the samples that earlier snapshots wrote (-M)", 0},
	{"snapshot-on-exit", KEY_SNAPSHOT_ON_EXIT, NULL, 0, "Take a snapshot at the end (-M)", 0},
	{"snapshot-on-crash", KEY_SNAPSHOT_ON_CRASH, NULL, 0,
	 "Take a snapshot at the end if the command dies by a signal (-M)", 0},

	{NULL, 0, NULL, 0, "Hardware traces:", 8},
	{"snapshot", 'S', "SIZE[e]", OPTION_ARG_OPTIONAL,
	 "Let a hardware trace overwrite itself; SIGUSR2 or 'ctl snapshot' writes the newest SIZE of each "
	 "AUX area (default: all). e: also at the end", 0},
	{"snapshot-scope", KEY_SNAPSHOT_SCOPE, "area|active|window:TIME|all", 0,
	 "AUX data that a snapshot writes: the newest of all areas together (area, the default), that of "
	 "running events, of runs that ended in the last TIME or go on, or all", 0},
	{"aux-sample", KEY_AUX_SAMPLE, "SIZE", OPTION_ARG_OPTIONAL,
	 "Add the newest SIZE of hardware trace to each sample (default 4096)", 0},

	{NULL, 0, NULL, 0, "Rings and threads:", 9},
	{"mmap-pages", 'm', "[PAGES|SIZE][,AUX]", 0, "Size of each CPU's ring: pages, or bytes with B, K, M, G "
	 "(default 8M, if that much may be locked). AUX: size of each AUX area of a hardware trace (default 4M, "
	 "or 128K)", 0},
	{"realtime", 'r', "PRIORITY", 0, "Read the rings with this SCHED_FIFO priority, 1 to 99", 0},
	{"affinity", KEY_AFFINITY, "sys|node|cpu", 0, "Drain a ring on its own CPU, or on its NUMA node", 0},
	{"mmap-flush", KEY_MMAP_FLUSH, "SIZE", 0,
	 "Drain a ring only when it holds SIZE, or for a flush: bytes, or with B, K, M, G", 0},
	{"no-buffering", KEY_NO_BUFFERING, NULL, 0, "Drain each event as soon as it happens", 0},
	{"overwrite", KEY_OVERWRITE, NULL, 0,
	 "Let the rings overwrite old samples; write the rest at the end and at each rotation", 0},
	{"synth", KEY_SYNTH, "no|all|task|mmap|cgroup", 0,
	 "Which records to write of what existed before: tasks, their maps, cgroups (default all)", 0},
	{"no-bpf-event", KEY_NO_BPF_EVENT, NULL, 0, "Record no BPF programs that are loaded", 0},
	{"num-thread-synthesize", KEY_NUM_THREAD_SYNTHESIZE, "N", 0, "Accepted: one thread reads /proc", 0},
	{"proc-map-timeout", KEY_PROC_MAP_TIMEOUT, "MS", 0, "Accepted: ringtail reads all maps", 0},
	{"off-cpu-thresh", KEY_OFF_CPU_THRESH, "MS", 0, "Accepted: --off-cpu records waits of any length", 0},
	{"tail-synthesize", KEY_TAIL_SYNTHESIZE, NULL, 0,
	 "Synthesize maps and names for the newest samples (always)", 0},
	{"threads", KEY_THREADS, "SPEC", OPTION_ARG_OPTIONAL,
	 "Drain with a thread for each cpu (default), core, socket or numa node, or for masks such as "
	 "0-3/0:4-7/4 (CPUs drained/runs on); FILE is a directory", 0},
	{"aio", KEY_AIO, "N", OPTION_ARG_OPTIONAL,
	 "Write asynchronously, up to N writes at a time (default 4)", 0},
	{"buffer-memory", KEY_BUFFER_MEMORY, "SIZE", 0,
	 "Memory for drained data that is not written yet: 64M (default 256M, or a 16th of "
	 "memory if that is less)", 0},
	{"max-cpu", KEY_MAX_CPU, "PERCENT", 0, "Lower the sampling frequency while the recorder uses more of a "
	 "CPU: 1%, 0.5%", 0},

	{NULL, 0, NULL, 0, "Start and control:", 10},
	{"delay", 'D', "MS|FROM-TO[,FROM-TO...]", 0,
	 "Begin MS milliseconds after the start; -1: when 'enable' is sent; or record only these spans", 0},
	{"duration", KEY_DURATION, "TIME", 0, "End after TIME: 500ms, 10s, 5m", 0},
	{"exit-with-parent", KEY_EXIT_WITH_PARENT, NULL, 0, "End when the process that started ringtail ends", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "Check options and events, and record nothing; -v prints the attributes", 0},
	{"control", KEY_CONTROL, "fd:N[,ACK]|fifo:PATH[,ACK]", 0,
	 "Read commands (enable, disable, stop, ...) there, and answer them on ACK", 0},
	{"no-control-socket", KEY_NO_CONTROL_SOCKET, NULL, 0, "Do not listen to 'ringtail ctl'", 0},

	{NULL, 0, NULL, 0, "Status and messages:", 11},
	{"fail-on-loss", KEY_FAIL_ON_LOSS, NULL, 0, "Exit with status 3 if anything was lost", 0},
	{"propagate-status", KEY_PROPAGATE_STATUS, NULL, 0, "Exit with the status of the command (the default)", 0},
	{"no-propagate-status", KEY_NO_PROPAGATE_STATUS, NULL, 0, "Exit with 0 whatever the status of the command is", 0},
	{"quiet", 'q', NULL, 0, "Print only errors and losses", 0},
	{"verbose", 'v', NULL, 0, "Print details", 0},

	REFUSED("max-stack", KEY_MAX_STACK, "it is a term of an event: -e cpu/cycles,max-stack=N/"),
	REFUSED("clang-opt", KEY_CLANG_OPT, "ringtail compiles no BPF programs"),
	REFUSED("clang-path", KEY_CLANG_PATH, "ringtail compiles no BPF programs"),
	REFUSED("setup-filter", KEY_SETUP_FILTER,
		"ringtail filters tracepoints in the kernel without BPF: --filter needs no setup"),
	{0},
};

// clang-format on

#define usage(state, ...) usage_error(state, __VA_ARGS__)

struct option_parser {
	struct record_command *cmd;
	struct event_list *last; /* the list that --filter applies to; NULL: no event yet */
	size_t last_event;	 /* its first event that --filter applies to */
};

static void add_events(struct argp_state *state, struct option_parser *p, struct event_list *events,
		       const char *option, const char *arg)
{
	struct error err = ERROR_INIT;

	p->last = events;
	p->last_event = events->count;
	if (event_parse(events, arg, &record_events_here, &err) == -EINVAL)
		usage(state, "%s %s: %s", option, arg, err.text);
	else if (err.code)
		record_fail("%s %s: %s", option, arg, err.text);
}

static void add_switch_events(struct argp_state *state, struct option_parser *p, const char *arg)
{
	struct record_opts *opts = &p->cmd->opts;
	struct error err = ERROR_INIT;

	add_events(state, p, &opts->triggers.rotations, "--switch-output-event", arg);
	for (size_t i = p->last_event; i < opts->triggers.rotations.count; i++)
		if (trigger_spec_check_event(&opts->triggers.rotations.specs[i], &err))
			usage(state, "--switch-output-event: %s", err.text);
	opts->output.rotation.enabled = true;
}

static void add_trigger(struct argp_state *state, struct option_parser *p, const char *arg)
{
	struct error err = ERROR_INIT;

	p->last = NULL; /* its filter is in it */
	if (trigger_specs_add(&p->cmd->opts.triggers.snapshots, arg, &record_events_here, &err) ==
	    -EINVAL)
		usage(state, "--trigger %s: %s", arg, err.text);
	else if (err.code)
		record_fail("--trigger %s: %s", arg, err.text);
}

static void set_filter(struct argp_state *state, struct option_parser *p, const char *arg)
{
	struct error err = ERROR_INIT;

	if (!p->last)
		usage(state, "--filter must follow the events that it filters");
	else if (address_filter_set(p->last, p->last_event, arg, &record_events_here, &err))
		usage(state, "--filter: %s", err.text);
}

static void add_cgroups(struct argp_state *state, struct option_parser *p, const char *arg)
{
	struct error err = ERROR_INIT;

	if (event_list_cgroups(&p->cmd->opts.plan.events, arg, &err))
		usage(state, "-G %s: %s", arg, err.text);
}

static void take_command(struct argp_state *state, struct record_opts *opts)
{
	opts->plan.target.command = (const char *const *)&state->argv[state->next - 1];
	state->next = state->argc;
}

static bool names_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !slash[1];
}

/*
 * Leaves out the threads of a recorder, by their names: those of this one are not there yet when
 * the events are opened.
 */
#define NOT_RINGTAIL                                                                   \
	"COMM != \"ringtail\" && !(COMM ~ \"reader-*\") && !(COMM ~ \"writer-*\") && " \
	"COMM != \"build-ids\" && COMM != \"perf-maps\" && COMM != \"unwind-files\""

/* Options that are about all events, wherever they stand. */
static void change_events(struct argp_state *state, struct record_command *cmd)
{
	struct event_list *events = &cmd->opts.plan.events;
	struct error err = ERROR_INIT;
	int rc = 0;

	for (size_t i = 0; !rc && cmd->exclude_self && i < events->count; i++)
		if (events->specs[i].attr.type == PERF_TYPE_TRACEPOINT)
			rc = event_spec_narrow(&events->specs[i], NOT_RINGTAIL, &err);
	for (size_t i = 0; cmd->one_group && i < events->count; i++)
		events->specs[i].leader = 0;
	if (cmd->each_cgroup && !events->count)
		usage(state, "--for-each-cgroup: name the events with -e");
	if (!rc && cmd->each_cgroup)
		rc = event_list_each_cgroup(events, cmd->each_cgroup, &err);
	if (rc)
		usage(state, "%s", err.text);
}

/* Waits without call chains would have no place. */
static void add_scheduling(struct argp_state *state, struct record_command *cmd)
{
	struct plan_opts *plan = &cmd->opts.plan;
	struct error err = ERROR_INIT;

	if (!cmd->off_cpu)
		return;
	if (plan->sample.all_user)
		usage(state, "--off-cpu records the kernel's scheduler, which --all-user leaves "
			     "out: choose one");
	if (plan->sample.no_samples)
		usage(state, "--off-cpu makes a sample of each switch, -n makes none: choose one");
	if (plan->target.cpus.nr)
		usage(state, "--off-cpu follows threads, which wait on no CPU: record all CPUs "
			     "(-a) instead of -C");
	if (!plan->sample.callgraph)
		plan->sample.callgraph = CALLGRAPH_FP;
	if (off_cpu_events(&plan->scheduling, cmd->off_cpu_wakers, &record_events_here, &err))
		record_fail("--off-cpu: %s", err.text);
}

/* As perf: -a has no effect, and a command only ends the recording. */
static void settle_user(struct record_command *cmd)
{
	struct target_opts *target = &cmd->opts.plan.target;

	if (!cmd->by_user)
		return;
	if (target->all_cpus)
		complain("-u: only this user's processes are recorded: -a has no effect");
	target->all_cpus = false;
	if (target->command && !cmd->quiet)
		complain("-u: this user's processes are recorded until '%s' ends; to record that "
			 "itself, leave out -u",
			 target->command[0]);
}

static void finish_options(struct argp_state *state, struct record_command *cmd)
{
	struct record_opts *opts = &cmd->opts;

	settle_user(cmd);
	change_events(state, cmd);
	add_scheduling(state, cmd);
	aux_rules_group(&opts->plan.events, &opts->plan.aux);
	opts->plan.aux.snapshot |= opts->output.memory.bytes != 0;

	opts->output.directory = (opts->readers.threads && strcmp(opts->output.path, "-")) ||
				 opts->output.kcore || names_directory(opts->output.path);
	if (!*opts->output.path)
		usage(state, "-o: the name of the file is empty");
	record_options_check(state, opts);
	cmd->whole_by_default = !opts->plan.target.command && !opts->plan.target.tasks.nr &&
				!opts->plan.target.cpus.nr && !opts->plan.target.all_cpus;
	opts->plan.target.all_cpus |= cmd->whole_by_default;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct option_parser *p = state->input;

	switch (key) {
	case 'e': add_events(state, p, &p->cmd->opts.plan.events, "-e", arg); return 0;
	case KEY_FILTER: set_filter(state, p, arg); return 0;
	case KEY_SWITCH_OUTPUT_EVENT: add_switch_events(state, p, arg); return 0;
	case KEY_TRIGGER: add_trigger(state, p, arg); return 0;
	case 'G': add_cgroups(state, p, arg); return 0;
	case KEY_FOR_EACH_CGROUP: p->cmd->each_cgroup = arg; return 0;
	case ARGP_KEY_ARG: take_command(state, &p->cmd->opts); return 0;
	case ARGP_KEY_END: finish_options(state, p->cmd); return 0;
	default:
		return record_value_take(state, p->cmd, key, arg)
			       ? 0
			       : refuse_option(options, key, state);
	}
}

/* Keeps the command line as typed: argv[0] is "ringtail record" here. If memory runs out, the
 * header has none. */
static void keep_command_line(int argc, char **argv, struct record_opts *opts)
{
	const char **line = calloc((size_t)argc + 1, sizeof(*line));

	if (!line)
		return;
	line[0] = "ringtail";
	line[1] = "record";
	for (int i = 1; i < argc; i++)
		line[i + 1] = argv[i];
	opts->output.argv = line;
	opts->output.argc = argc + 1;
}

/* By the name perf, a pipe gets the recording without -o. */
static const char *default_output(void)
{
	struct stat st;

	return input_as_perf() && !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode) ? "-"
										     : "perf.data";
}

void record_options_parse(int argc, char **argv, struct record_command *ret)
{
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.children = children,
		.options = options,
		.parser = parse_option,
		.args_doc = "[-- COMMAND [ARG...]]",
		.doc = "Record events of a command, of processes or of the whole system.\v"
		       "Exit status: that of the command; 0 without one; 1 error, 2 usage, 3 loss "
		       "with --fail-on-loss.",
	};
	struct option_parser p = {.cmd = ret};

	*ret = (struct record_command){.opts = {.plan.raise_files = true,
						.output.path = default_output(),
						.output.symbols.names = true,
						.control.attr_text = attr_text}};
	keep_command_line(argc, argv, &ret->opts);
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p))
		exit(EXIT_USAGE);
}

void record_options_release(struct record_command *cmd)
{
	free((void *)(uintptr_t)cmd->opts.output.argv);
	free(cmd->spans);
	event_list_release(&cmd->opts.plan.events);
	event_list_release(&cmd->opts.plan.scheduling);
	event_list_release(&cmd->opts.triggers.rotations);
	trigger_specs_release(&cmd->opts.triggers.snapshots);
	cpus_release(&cmd->opts.plan.target.cpus);
	tasks_release(&cmd->opts.plan.target.tasks);
	tasks_release(&cmd->opts.plan.target.processes);
}
