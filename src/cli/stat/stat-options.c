// SPDX-License-Identifier: Apache-2.0
#include "cli/stat/stat-options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "cli/input/input.h"
#include "cli/stat/stat-events.h"
#include "event/parse/event.h"
#include "symbol/resolve/locate.h"

const struct event_env stat_events_here = {.symbols = &locate_symbols};

enum {
	KEY_FILTER = 256,
	KEY_ALL_USER,
	KEY_ALL_KERNEL,
	KEY_PER_CORE,
	KEY_PER_DIE,
	KEY_PER_SOCKET,
	KEY_PER_NODE,
	KEY_PER_THREAD,
	KEY_INTERVAL_COUNT,
	KEY_INTERVAL_CLEAR,
	KEY_TIMEOUT,
	KEY_APPEND,
	KEY_LOG_FD,
	KEY_NO_BIG_NUM,
	KEY_NOTHING,
	KEY_REFUSED,
};

// clang-format off
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Most used:", 1},
	{"event", 'e', "EVENT[,EVENT...]", 0, "Events, as perf spells them: see ringtail-events(5). May be repeated", 0},
	{"all-cpus", 'a', NULL, 0, "Count the whole system (default without a command)", 0},
	{"pid", 'p', "PID[,PID...]", 0, "Count these processes with all their threads", 0},
	{"repeat", 'r', "N", 0, "Run the command N times (0: until Ctrl-C) and print means and their errors", 0},
	{"interval-print", 'I', "MS", 0, "Print what was counted every MS milliseconds", 0},
	{"detailed", 'd', NULL, 0, "Count events of caches, too; -d -d and -d -d -d count more of them", 0},
	{"output", 'o', "FILE", 0, "Write to FILE instead of standard error", 0},

	{NULL, 0, NULL, 0, "Events:", 2},
	{"filter", KEY_FILTER, "FILTER", 0, "Filter the tracepoints or probes named just before it", 0},
	{"all-user", KEY_ALL_USER, NULL, 0, "Limit all events to user space", 0},
	{"all-kernel", KEY_ALL_KERNEL, NULL, 0, "Limit all events to the kernel", 0},
	{"null", 'n', NULL, 0, "Count nothing but the time", 0},
	{"group", 'g', NULL, 0, "Count all events as one group", 0},
	{"scale", KEY_NOTHING, NULL, 0, "Accepted: counts of events that took turns are always scaled", 0},
	{"affinity", KEY_NOTHING, NULL, 0, "Accepted: counters are read from any CPU", 0},

	{NULL, 0, NULL, 0, "Tasks and CPUs:", 3},
	{"tid", 't', "TID[,TID...]", 0, "Count these threads", 0},
	{"cpu", 'C', "LIST", 0, "Count these CPUs: 0-3,5", 0},
	{"no-inherit", 'i', NULL, 0, "Do not count children that start later", 0},

	{NULL, 0, NULL, 0, "Rows:", 4},
	{"no-aggr", 'A', NULL, 0, "A row for each CPU (-a or -C)", 0},
	{"per-core", KEY_PER_CORE, NULL, 0, "A row for each core", 0},
	{"per-die", KEY_PER_DIE, NULL, 0, "A row for each die", 0},
	{"per-socket", KEY_PER_SOCKET, NULL, 0, "A row for each socket", 0},
	{"per-node", KEY_PER_NODE, NULL, 0, "A row for each NUMA node", 0},
	{"per-thread", KEY_PER_THREAD, NULL, 0, "A row for each thread (-p or -t)", 0},

	{NULL, 0, NULL, 0, "When:", 5},
	{"delay", 'D', "MS", 0, "Start MS milliseconds after the command", 0},
	{"timeout", KEY_TIMEOUT, "MS", 0, "Stop after MS milliseconds, and end the command", 0},
	{"interval-count", KEY_INTERVAL_COUNT, "N", 0, "Stop after N intervals of -I", 0},
	{"interval-clear", KEY_INTERVAL_CLEAR, NULL, 0, "Clear the screen before each interval of -I", 0},

	{NULL, 0, NULL, 0, "Output:", 6},
	{"field-separator", 'x', "TEXT", 0, "Print values separated by TEXT", 0},
	{"json", 'j', NULL, 0, "Print a JSON object for each count", 0},
	{"json-output", 0, NULL, OPTION_ALIAS, NULL, 0},
	{"append", KEY_APPEND, NULL, 0, "Append to the FILE of -o", 0},
	{"log-fd", KEY_LOG_FD, "FD", 0, "Write to this open descriptor", 0},
	{"big-num", 'B', NULL, 0, "Separate thousands (default)", 0},
	{"no-big-num", KEY_NO_BIG_NUM, NULL, 0, "Do not separate thousands", 0},
	{"quiet", 'q', NULL, 0, "Print no counts", 0},
	{"no-csv-summary", KEY_NOTHING, NULL, 0, "Accepted: intervals have no summary", 0},
	{"verbose", 'v', NULL, OPTION_HIDDEN, NULL, 0},

	REFUSED("metrics", 'M', "ringtail has no metrics; name their events with -e"),
	REFUSED("metric-only", KEY_REFUSED, "ringtail has no metrics; name their events with -e"),
	REFUSED("topdown", KEY_REFUSED + 1, "ringtail has no metrics; name their events with -e"),
	REFUSED("transaction", 'T', "ringtail has no metrics; -e tx-start,tx-commit,tx-abort counts transactions"),
	REFUSED("cgroup", 'G', "ringtail does not select by cgroup; -p \"$(paste -sd, DIR/cgroup.procs)\" counts the processes of one"),
	REFUSED("for-each-cgroup", KEY_REFUSED + 2, "ringtail does not select by cgroup; -p counts processes"),
	REFUSED("bpf-counters", KEY_REFUSED + 3, "ringtail counts by perf_event_open(2) alone"),
	REFUSED("bpf-prog", 'b', "ringtail does not count BPF programs; -e bpf_trace:* counts their traces"),
	REFUSED("control", KEY_REFUSED + 4, "ringtail stat takes no commands; -D and --timeout choose the time"),
	REFUSED("sync", 'S', "run sync(1) before each command"),
	REFUSED("pre", KEY_REFUSED + 5, "put it into the command: sh -c 'PRE; COMMAND'"),
	REFUSED("post", KEY_REFUSED + 6, "put it behind the command: sh -c 'COMMAND; POST'"),
	REFUSED("smi-cost", KEY_REFUSED + 7, "-e msr/smi/,msr/aperf/ counts them"),
	REFUSED("table", KEY_REFUSED + 8, "ringtail prints means and their errors"),
	REFUSED("summary", KEY_REFUSED + 9, "-I prints intervals alone; without -I the counts are of the whole time"),
	REFUSED("no-scale", KEY_REFUSED + 10, "counts of events that took turns are always scaled; -x and -j print the share of the time that they ran"),
	REFUSED("no-merge", KEY_REFUSED + 11, "-A has a row for each CPU"),
	REFUSED("hybrid-merge", KEY_REFUSED + 12, "name the PMU in the event: -e cpu_core/cycles/"),
	REFUSED("cputype", KEY_REFUSED + 13, "name the PMU in the event: -e cpu_core/cycles/"),
	REFUSED("pmu-filter", KEY_REFUSED + 14, "name the PMU in the event: -e PMU/TERMS/"),
	REFUSED("per-cache", KEY_REFUSED + 15, "--per-core, --per-die and --per-socket are there"),
	REFUSED("per-cluster", KEY_REFUSED + 16, "--per-core, --per-die and --per-socket are there"),
	REFUSED("percore-show-thread", KEY_REFUSED + 17, "-A has a row for each hardware thread"),
	REFUSED("metric-no-group", KEY_REFUSED + 18, "ringtail has no metrics; name their events with -e"),
	REFUSED("metric-no-merge", KEY_REFUSED + 19, "ringtail has no metrics; name their events with -e"),
	REFUSED("metric-no-threshold", KEY_REFUSED + 20, "ringtail has no metrics; name their events with -e"),
	REFUSED("td-level", KEY_REFUSED + 21, "ringtail has no metrics; name their events with -e"),
	REFUSED("iostat", KEY_REFUSED + 22, "ringtail has no metrics; 'ringtail list uncore' names what the PMUs count"),
	REFUSED("record-tpebs", KEY_REFUSED + 23, "ringtail has no metrics of retirement latencies"),
	REFUSED("tpebs-mode", KEY_REFUSED + 24, "ringtail has no metrics of retirement latencies"),
	{0},
};
// clang-format on

struct stat_parser {
	struct stat_command *cmd;
	size_t last_event; /* the first that --filter applies to */
	bool event_given;
};

static uint64_t number(const struct argp_state *state, const char *option, const char *arg,
		       uint64_t max)
{
	uint64_t value;

	if (parse_u64(arg, &value) || value > max)
		usage_error(state, "%s %s: not a number from 0 to %llu", option, arg,
			    (unsigned long long)max);
	return value;
}

static void __attribute__((noreturn)) fail(const struct error *err, const char *option)
{
	complain("%s: %s", option, err->text);
	exit(EXIT_ERROR);
}

static void add_events(struct argp_state *state, struct stat_parser *p, const char *arg)
{
	struct error err = ERROR_INIT;

	p->last_event = p->cmd->events.count;
	p->event_given = true;
	if (event_parse(&p->cmd->events, arg, &stat_events_here, &err) == -EINVAL)
		usage_error(state, "-e %s: %s", arg, err.text);
	else if (err.code)
		fail(&err, "-e");
}

static void set_filter(struct argp_state *state, struct stat_parser *p, const char *arg)
{
	struct error err = ERROR_INIT;

	if (!p->event_given)
		usage_error(state, "--filter must follow the events that it filters");
	if (event_set_filter(&p->cmd->events, p->last_event, arg, &err))
		usage_error(state, "--filter: %s", err.text);
}

static void add_tasks(struct argp_state *state, struct stat_command *cmd, const char *option,
		      const char *arg, int (*add)(struct tasks *, pid_t, struct error *))
{
	char *copy = strdup(arg), *rest = copy, *one;
	struct error err = ERROR_INIT;

	while (copy && (one = strsep(&rest, ",")))
		if (add(&cmd->targets.tasks, (pid_t)number(state, option, one, INT_MAX), &err))
			fail(&err, option);
	free(copy);
}

static void set_cpus(struct argp_state *state, struct stat_command *cmd, const char *arg)
{
	struct error err = ERROR_INIT;

	cpus_release(&cmd->targets.cpus);
	if (cpus_parse(arg, &cmd->targets.cpus, &err))
		usage_error(state, "-C %s: %s", arg, err.text);
	cmd->cpus_given = true;
}

static void set_delay(struct argp_state *state, struct stat_command *cmd, const char *arg)
{
	if (!strcmp(arg, "-1"))
		usage_error(state,
			    "-D -1: nothing would start the counters: 'ringtail stat' takes no "
			    "commands");
	cmd->delay_ms = number(state, "-D", arg, INT_MAX);
}

static void set_rows(struct argp_state *state, struct stat_command *cmd, enum count_by by)
{
	if (cmd->by != COUNT_BY_ALL && cmd->by != by)
		usage_error(state, "-A and the options --per-* exclude one another");
	cmd->by = by;
}

/* -a is each CPU that is online; -C needs those of the list. */
static void find_cpus(struct stat_command *cmd)
{
	struct error err = ERROR_INIT;
	struct cpus online;

	if (cpus_online(&online, &err))
		fail(&err, "-a");
	if (!cmd->cpus_given) {
		cmd->targets.cpus = online;
		return;
	}
	for (size_t i = 0; i < cmd->targets.cpus.nr; i++) {
		if (cpus_has(&online, cmd->targets.cpus.ids[i]))
			continue;
		complain("-C: CPU %d is not online", cmd->targets.cpus.ids[i]);
		exit(EXIT_ERROR);
	}
	cpus_release(&online);
}

static void check_targets(struct argp_state *state, struct stat_command *cmd)
{
	bool cpus = cmd->all_cpus || cmd->cpus_given, tasks = cmd->targets.tasks.nr;

	if (cpus && tasks)
		usage_error(state, "-a and -C count CPUs, -p and -t tasks: choose one");
	if (cmd->by == COUNT_BY_THREAD && !tasks)
		usage_error(state, "--per-thread needs -p or -t");
	if (!cpus && !tasks && !cmd->command)
		cpus = cmd->all_cpus = true;
	if (cmd->by != COUNT_BY_ALL && cmd->by != COUNT_BY_THREAD && !cpus)
		usage_error(state, "rows of CPUs need -a or -C");
	if (cpus)
		find_cpus(cmd);
}

static void check_times(struct argp_state *state, const struct stat_command *cmd)
{
	if (cmd->repeat != 1 && !cmd->command)
		usage_error(state, "-r runs a command: name one");
	if (cmd->repeat != 1 && cmd->interval_ms)
		usage_error(state, "-r and -I exclude each other");
	if ((cmd->interval_count || cmd->interval_clear) && !cmd->interval_ms)
		usage_error(state, "--interval-count and --interval-clear need -I");
	if (cmd->output.json && cmd->output.separator)
		usage_error(state, "-j and -x exclude each other");
	if (cmd->output.append && !cmd->output.path)
		usage_error(state, "--append needs -o");
	if (cmd->all_user && cmd->all_kernel)
		usage_error(state, "--all-user and --all-kernel exclude each other");
}

bool stat_counts_command(const struct stat_command *cmd)
{
	return cmd->command && !cmd->all_cpus && !cmd->cpus_given && !cmd->processes &&
	       !cmd->threads;
}

static void finish(struct argp_state *state, struct stat_command *cmd)
{
	struct error err = ERROR_INIT;

	check_targets(state, cmd);
	check_times(state, cmd);
	cmd->targets.on_exec = stat_counts_command(cmd) && !cmd->delay_ms;
	if (!cmd->no_events && stat_events_complete(cmd, &err))
		fail(&err, "events");
	for (size_t i = 0; cmd->one_group && i < cmd->events.count; i++)
		cmd->events.specs[i].leader = 0;
}

static bool take_output(struct argp_state *state, struct stat_output *output, int key,
			const char *arg)
{
	switch (key) {
	case 'o': output->path = arg; return true;
	case KEY_APPEND: output->append = true; return true;
	case KEY_LOG_FD: output->fd = (int)number(state, "--log-fd", arg, INT_MAX); return true;
	case 'x':
		if (!*arg)
			usage_error(state, "-x: the separator is empty");
		output->separator = !strcmp(arg, "\\t") ? "\t" : arg;
		return true;
	case 'j': output->json = true; return true;
	case 'q': output->quiet = true; return true;
	case 'B': output->plain_numbers = false; return true;
	case KEY_NO_BIG_NUM: output->plain_numbers = true; return true;
	default: return false;
	}
}

static bool take_time(struct argp_state *state, struct stat_command *cmd, int key, const char *arg)
{
	switch (key) {
	case 'r': cmd->repeat = (unsigned int)number(state, "-r", arg, INT_MAX); return true;
	case 'I':
		cmd->interval_ms = number(state, "-I", arg, INT_MAX);
		if (!cmd->interval_ms)
			usage_error(state, "-I 0: an interval lasts 1 ms or more");
		return true;
	case KEY_INTERVAL_COUNT:
		cmd->interval_count = number(state, "--interval-count", arg, INT_MAX);
		return true;
	case KEY_INTERVAL_CLEAR: cmd->interval_clear = true; return true;
	case KEY_TIMEOUT: cmd->timeout_ms = number(state, "--timeout", arg, INT_MAX); return true;
	case 'D': set_delay(state, cmd, arg); return true;
	default: return false;
	}
}

static bool take_rows(struct argp_state *state, struct stat_command *cmd, int key)
{
	switch (key) {
	case 'A': set_rows(state, cmd, COUNT_BY_CPU); return true;
	case KEY_PER_CORE: set_rows(state, cmd, COUNT_BY_CORE); return true;
	case KEY_PER_DIE: set_rows(state, cmd, COUNT_BY_DIE); return true;
	case KEY_PER_SOCKET: set_rows(state, cmd, COUNT_BY_SOCKET); return true;
	case KEY_PER_NODE: set_rows(state, cmd, COUNT_BY_NODE); return true;
	case KEY_PER_THREAD: set_rows(state, cmd, COUNT_BY_THREAD); return true;
	default: return false;
	}
}

/* Words that are commands of perf stat. Behind -- they name a command to run. */
static void refuse_files(const struct argp_state *state, const char *word)
{
	if (!strcmp(word, "record"))
		usage_error(state,
			    "there is no 'stat record': counts go into no recording; '-o FILE' "
			    "or '-j -o FILE' keeps them as text");
	if (!strcmp(word, "report"))
		usage_error(state,
			    "there is no 'stat report': use 'ringtail dump FILE' for what 'perf "
			    "stat record' wrote");
}

static bool take_target(struct argp_state *state, struct stat_command *cmd, int key,
			const char *arg)
{
	switch (key) {
	case 'a': cmd->all_cpus = true; return true;
	case 'C': set_cpus(state, cmd, arg); return true;
	case 'p':
		cmd->processes = arg;
		add_tasks(state, cmd, "-p", arg, tasks_add_threads);
		return true;
	case 't':
		cmd->threads = arg;
		add_tasks(state, cmd, "-t", arg, tasks_add_thread);
		return true;
	case 'i': cmd->targets.inherit = false; return true;
	case ARGP_KEY_ARG:
		if (!state->quoted)
			refuse_files(state, arg);
		cmd->command = (const char *const *)&state->argv[state->next - 1];
		state->next = state->argc;
		return true;
	default: return false;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct stat_parser *p = state->input;

	switch (key) {
	case 'e': add_events(state, p, arg); return 0;
	case KEY_FILTER: set_filter(state, p, arg); return 0;
	case 'd': p->cmd->details++; return 0;
	case 'n': p->cmd->no_events = true; return 0;
	case KEY_ALL_USER: p->cmd->all_user = true; return 0;
	case KEY_ALL_KERNEL: p->cmd->all_kernel = true; return 0;
	case 'g': p->cmd->one_group = true; return 0;
	case KEY_NOTHING:
	case 'v': return 0;
	case ARGP_KEY_END: finish(state, p->cmd); return 0;
	default: break;
	}
	if (take_target(state, p->cmd, key, arg) || take_rows(state, p->cmd, key) ||
	    take_time(state, p->cmd, key, arg) || take_output(state, &p->cmd->output, key, arg))
		return 0;
	return refuse_option(options, key, state);
}

void stat_options_parse(int argc, char **argv, struct stat_command *ret)
{
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.children = children,
		.options = options,
		.parser = parse_option,
		.args_doc = "[-- COMMAND [ARG...]]",
		.doc = "Count events of a command, of processes or of the whole system, without "
		       "samples.\v"
		       "Exit status: that of COMMAND; without one 0. 1 error, 2 usage.",
	};
	struct stat_parser p = {.cmd = ret};

	*ret = (struct stat_command){.repeat = 1, .targets.inherit = true, .output.fd = -1};
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p))
		exit(EXIT_USAGE);
}

void stat_options_release(struct stat_command *cmd)
{
	event_list_release(&cmd->events);
	cpus_release(&cmd->targets.cpus);
	tasks_release(&cmd->targets.tasks);
}
