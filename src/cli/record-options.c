// SPDX-License-Identifier: Apache-2.0
#include "cli/record-options.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "record/compress.h"
#include "record/control_command.h"
#include "render/attr_text.h"
#include "sys/aio.h"

enum {
	KEY_AIO = 256,
	KEY_CALL_GRAPH,
	KEY_CONTROL,
	KEY_FAIL_ON_LOSS,
	KEY_FILTER,
	KEY_FLUSH_INTERVAL,
	KEY_NO_CONTROL_SOCKET,
	KEY_PROPAGATE_STATUS,
	KEY_SAMPLE_CPU,
	KEY_MAX_SIZE,
	KEY_SWITCH_MAX_FILES,
	KEY_SWITCH_OUTPUT,
	KEY_THREADS,
	KEY_TIMESTAMP_FILENAME,
};

// clang-format off
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to record:", 1},
	{"event", 'e', "EVENT[,EVENT...]", 0,
	 "Events, as perf spells them: cycles:u, cpu-clock, page-faults, sched:sched_switch, 'sched:*', "
	 "cpu/event=0x3c/, {a,b}. May be repeated. Default: cycles, or cpu-clock without a PMU", 0},
	{"filter", KEY_FILTER, "FILTER", 0, "Filter for the tracepoints of the -e before it", 0},
	{"freq", 'F', "HZ|max", 0, "Samples a second (default 4000; of tracepoints, each one)", 0},
	{"count", 'c', "N", 0, "A sample every N events", 0},

	{NULL, 0, NULL, 0, "Where:", 2},
	{"all-cpus", 'a', NULL, 0, "The whole system (the default without command)", 0},
	{"cpu", 'C', "LIST", 0, "These CPUs: 0-3,5", 0},
	{"pid", 'p', "PID[,PID...]", 0, "These processes with all their threads", 0},
	{"tid", 't', "TID[,TID...]", 0, "These threads", 0},
	{"no-inherit", 'i', NULL, 0, "Leave out children that are started meanwhile", 0},
	{"delay", 'D', "MS", 0, "Begin that much after the start; -1: when a command says so", 0},
	{"control", KEY_CONTROL, "fd:N[,ACK]|fifo:PATH[,ACK]", 0,
	 "Take commands (enable, disable, stop, ...) from there and acknowledge them on ACK", 0},
	{"no-control-socket", KEY_NO_CONTROL_SOCKET, NULL, 0, "No commands by 'ringtail ctl'", 0},

	{NULL, 0, NULL, 0, "What each sample carries:", 3},
	{NULL, 'g', NULL, 0, "Call chains by frame pointers", 0},
	{"call-graph", KEY_CALL_GRAPH, "fp|dwarf[,SIZE]", 0,
	 "Call chains by frame pointers, or SIZE bytes of user stack (default 8192) for DWARF", 0},
	{"data", 'd', NULL, 0, "Addresses of data, and the maps of data", 0},
	{"period", 'P', NULL, 0, "The period", 0},
	{"raw-samples", 'R', NULL, 0, "Raw data (of tracepoints: always)", 0},
	{"sample-cpu", KEY_SAMPLE_CPU, NULL, 0, "The CPU", 0},
	{"timestamp", 'T', NULL, 0, "The time (always)", 0},
	{"clockid", 'k', "CLOCK", 0, "Clock of the times: monotonic, monotonic_raw, realtime, boottime, "
	 "tai or a number", 0},

	{NULL, 0, NULL, 0, "Output:", 4},
	{"output", 'o', "FILE", 0,
	 "Default perf.data; an earlier one is kept as FILE.old. - is a pipe", 0},
	{"mmap-pages", 'm', "PAGES|SIZE", 0, "Ring of each CPU: pages, or bytes with B, K, M, G "
	 "(default 8M where that may be locked)", 0},
	{"flush-interval", KEY_FLUSH_INTERVAL, "TIME", 0,
	 "What is older is readable in the file at any time: 500ms, 2s (default 1s)", 0},
	{"aio", KEY_AIO, "N", OPTION_ARG_OPTIONAL,
	 "Write while recording goes on, up to N writes at a time (default 4)", 0},
	{"compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL,
	 "Compress with zstd, level 1 (default) to 22; lower while rings fill", 0},
	{"threads", KEY_THREADS, "SPEC", OPTION_ARG_OPTIONAL,
	 "A thread for each cpu (default), core, socket or numa node, or for masks such as "
	 "0-3/0:4-7/4 (CPUs read/runs on); FILE is a directory", 0},
	{"switch-output", KEY_SWITCH_OUTPUT, "signal|SIZE|TIME", OPTION_ARG_OPTIONAL,
	 "Go on in a new FILE at SIGUSR2 (default; 'ctl rotate' does it, too), also after SIZE (100M) "
	 "or TIME (30s, 5m, 1h, 1d); each is renamed to FILE.YYYYMMDDhhmmsscc when it is complete", 0},
	{"switch-max-files", KEY_SWITCH_MAX_FILES, "N", 0, "Keep the newest N of these", 0},
	{"timestamp-filename", KEY_TIMESTAMP_FILENAME, NULL, 0, "Rename FILE so in any case", 0},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0, "End when FILE has that much data: 500M; what rings hold "
	 "then still follows", 0},
	{"fail-on-loss", KEY_FAIL_ON_LOSS, NULL, 0, "Exit with 3 if anything was lost", 0},
	{"propagate-status", KEY_PROPAGATE_STATUS, NULL, 0, "Exit with the command's own status", 0},
	{"quiet", 'q', NULL, 0, "Say nothing but errors and losses", 0},
	{"verbose", 'v', NULL, 0, "Say more", 0},
	{0},
};

/* Clocks that the kernel takes for events, by perf's names. */
static const struct { const char *name; int id; } clocks[] = {
	{"realtime", CLOCK_REALTIME}, {"real", CLOCK_REALTIME},
	{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
	{"monotonic_raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
	{"boottime", CLOCK_BOOTTIME}, {"boot", CLOCK_BOOTTIME},
	{"tai", CLOCK_TAI},
};
// clang-format on

#define FLUSH_MS_MAX 3600000u /* an hour */

struct parser {
	struct record_command *cmd;
	size_t last_event; /* first spec of the last -e; SIZE_MAX: there was none */
};

/* Ends the program with 2 and what is wrong. argp prints the text and a hint at --help. */
#define usage(state, ...) argp_error(state, __VA_ARGS__)

/* Ends the program with 1: well asked, but it cannot be. */
static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...)
{
	va_list ap;

	fputs("ringtail: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_ERROR);
}

static uint64_t number(struct argp_state *state, const char *option, const char *arg, uint64_t max)
{
	uint64_t n = 0;

	if (parse_u64(arg, &n) || n > max)
		usage(state, "%s: '%s' is not a number%s", option, arg,
		      max < UINT64_MAX ? " in its range" : "");
	return n;
}

static void add_events(struct argp_state *state, struct parser *p, const char *arg)
{
	struct event_list *events = &p->cmd->opts.events;
	struct error err = ERROR_INIT;

	p->last_event = events->count;
	if (event_parse(events, arg, NULL, &err) == -EINVAL)
		usage(state, "-e %s: %s", arg, err.text);
	else if (err.code)
		fail("-e %s: %s", arg, err.text);
}

static void set_filter(struct argp_state *state, struct parser *p, const char *arg)
{
	struct error err = ERROR_INIT;

	if (p->last_event == SIZE_MAX)
		usage(state, "--filter belongs behind the -e of its tracepoints");
	else if (event_set_filter(&p->cmd->opts.events, p->last_event, arg, &err))
		usage(state, "--filter: %s", err.text);
}

static void set_frequency(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	opts->frequency_max = !strcmp(arg, "max");
	if (opts->frequency_max)
		return;
	opts->frequency = number(state, "-F", arg, UINT32_MAX);
	if (!opts->frequency)
		usage(state, "-F: a frequency is at least 1 Hz, or 'max'");
}

static void set_count(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	opts->period = number(state, "-c", arg, INT64_MAX);
	if (!opts->period)
		usage(state, "-c: a sample every 0 events cannot be");
}

static void set_cpus(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	struct error err = ERROR_INIT;

	cpus_release(&opts->cpus);
	if (cpus_parse(arg, &opts->cpus, &err))
		usage(state, "-C: %s", err.text);
}

static int add_process(struct record_opts *opts, pid_t pid, struct error *err)
{
	int code = tasks_add_threads(&opts->tasks, pid, err);

	return code ? code : tasks_add_thread(&opts->processes, pid, err);
}

static int add_thread(struct record_opts *opts, pid_t tid, struct error *err)
{
	return tasks_add_thread(&opts->tasks, tid, err);
}

/* Adds each of a comma list by @add. */
static void add_tasks(struct argp_state *state, struct record_opts *opts, const char *option,
		      const char *arg, int (*add)(struct record_opts *, pid_t, struct error *))
{
	char *copy = strdup(arg), *rest = copy, *one;
	struct error err = ERROR_INIT;

	while (copy && (one = strsep(&rest, ","))) {
		uint64_t id = number(state, option, one, INT_MAX);

		if (add(opts, (pid_t)id, &err))
			fail("%s: %s", option, err.text);
	}
	free(copy);
}

static void set_call_graph(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	uint64_t size = RECORD_STACK_SIZE;

	if (!strcmp(arg, "fp")) {
		opts->callgraph = CALLGRAPH_FP;
		return;
	}
	if (strncmp(arg, "dwarf", 5) || (arg[5] != '\0' && arg[5] != ','))
		usage(state, "--call-graph: '%s' is neither fp nor dwarf[,SIZE]", arg);
	if (arg[5] == ',')
		size = number(state, "--call-graph dwarf", arg + 6, UINT32_MAX);
	size = (size + 7) & ~7ull;
	if (!size || size > RECORD_STACK_SIZE_MAX)
		usage(state, "--call-graph dwarf: a stack dump has 8 to %u bytes",
		      RECORD_STACK_SIZE_MAX);
	opts->callgraph = CALLGRAPH_DWARF;
	opts->stack_size = (uint32_t)size;
}

static void set_clock(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	const char *name = strncasecmp(arg, "CLOCK_", 6) ? arg : arg + 6;
	uint64_t id = UINT64_MAX;

	opts->use_clockid = true;
	if (isdigit((unsigned char)*arg))
		id = number(state, "-k", arg, UINT64_MAX);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (!strcasecmp(name, clocks[i].name) || id == (uint64_t)clocks[i].id) {
			opts->clockid = clocks[i].id;
			return;
		}
	}
	usage(state,
	      "-k: '%s' is no clock of events: monotonic, monotonic_raw, realtime, boottime, tai",
	      arg);
}

/*
 * The largest ring, bytes: the kernel allocates the list of its pages in one piece, of up to 1024
 * pages (kernel/events/ring_buffer.c, rb_alloc()); it begins with some other fields.
 */
static uint64_t ring_size_max(uint64_t page)
{
	return 1024 * page / sizeof(void *) / 2 * page;
}

/* A plain number is pages, as perf has it. */
static void set_ring_size(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = 0, power = page;
	bool pages = arg[0] && !arg[strspn(arg, "0123456789")];
	int code = parse_size(arg, &size);

	if (code == -ERANGE || (pages && __builtin_mul_overflow(size, page, &size)))
		size = UINT64_MAX;
	else if (code)
		usage(state, "-m: '%s' is neither pages nor a size such as 16M", arg);
	if (!size)
		usage(state, "-m: a ring has at least one page, %llu bytes",
		      (unsigned long long)page);
	if (size > ring_size_max(page))
		usage(state, "-m: a ring of %s%s is more than the kernel makes: at most %lluG", arg,
		      pages ? " pages" : "", (unsigned long long)ring_size_max(page) >> 30);
	while (power < size)
		power *= 2;
	cmd->opts.ring_size = power;
	cmd->ring_asked = power == size ? NULL : arg;
}

/* "500ms", "2s", or a plain number of milliseconds. */
static void set_flush_interval(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	size_t digits = strspn(arg, "0123456789");
	uint64_t unit = !strcmp(arg + digits, "s") ? 1000 : 1, n = 0;
	char plain[16] = "";

	if (!digits || (arg[digits] && unit == 1 && strcmp(arg + digits, "ms")))
		usage(state, "--flush-interval: '%s' is no time such as 500ms or 2s", arg);
	memcpy(plain, arg, digits < sizeof(plain) ? digits : sizeof(plain) - 1);
	if (parse_u64(plain, &n) || !n || n > FLUSH_MS_MAX / unit)
		usage(state, "--flush-interval: '%s' is not within 1ms and 3600s", arg);
	opts->flush_ms = (unsigned int)(n * unit);
}

static void set_delay(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	uint64_t ms = 0;

	opts->start_disabled = !strcmp(arg, "-1");
	opts->delay_ms = 0;
	if (opts->start_disabled)
		return;
	if (strchr(arg, '-'))
		usage(state, "-D: '%s': ranges of time are not supported yet", arg);
	if (parse_u64(arg, &ms) || ms > UINT_MAX)
		usage(state, "-D: '%s' is no number of milliseconds", arg);
	opts->delay_ms = (unsigned int)ms;
}

static void set_compression(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	uint64_t level = COMPRESS_LEVEL_DEFAULT;

	if (arg)
		level = number(state, "-z", arg, UINT64_MAX);
	if (!level || level > COMPRESS_LEVEL_MAX)
		usage(state, "-z: levels are 1 (fast) to %d (small)", COMPRESS_LEVEL_MAX);
	opts->compression_level = (int)level;
}

static void set_aio(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	opts->aio = arg ? (unsigned int)number(state, "--aio", arg, UINT_MAX) : RECORD_AIO;
	if (!opts->aio || opts->aio > AIO_DEPTH_MAX)
		usage(state, "--aio: 1 to %u writes may be in flight; without --aio each is waited for",
		      AIO_DEPTH_MAX);
}

static void set_control(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	struct error err = ERROR_INIT;
	struct control_spec spec;

	if (control_spec_parse(arg, &spec, &err))
		usage(state, "--control: %s", err.text);
	opts->control = arg;
}

/* The data of a pipe and answers would be mixed. */
static void check_control(struct argp_state *state, const struct record_opts *opts)
{
	struct control_spec spec;

	if (!opts->control || strcmp(opts->output, "-") ||
	    control_spec_parse(opts->control, &spec, NULL))
		return;
	if (spec.fd == STDOUT_FILENO || spec.ack_fd == STDOUT_FILENO)
		usage(state, "--control: descriptor 1 is the output (-o -)");
}

/* A size needs its unit, as perf has it: 10M is a size, 10m a time. */
static bool size_with_unit(const char *arg, uint64_t *ret)
{
	size_t len = strlen(arg);

	return len > 1 && strchr("BKMG", arg[len - 1]) && !parse_size(arg, ret) && *ret;
}

static bool time_with_unit(const char *arg, uint64_t *ret_seconds)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t digits = strspn(arg, "0123456789");
	char plain[16] = "";
	uint64_t n;

	if (!digits || digits >= sizeof(plain) || strlen(arg) != digits + 1)
		return false;
	memcpy(plain, arg, digits);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (arg[digits] != units[i].unit || parse_u64(plain, &n) || !n || n > 1u << 30)
			continue;
		*ret_seconds = n * units[i].seconds;
		return true;
	}
	return false;
}

static void set_switch_output(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	opts->switch_output = true;
	opts->switch_size = opts->switch_seconds = 0;
	if (arg && strcmp(arg, "signal") && !size_with_unit(arg, &opts->switch_size) &&
	    !time_with_unit(arg, &opts->switch_seconds))
		usage(state, "--switch-output: '%s' is neither signal, nor a size such as 100M (B, K, "
			     "M, G), nor a time such as 30s (s, m, h, d)",
		      arg);
}

static void set_max_size(struct argp_state *state, struct record_opts *opts, const char *arg)
{
	if (!size_with_unit(arg, &opts->max_size))
		usage(state, "--max-size: '%s' is no size such as 500M (B, K, M, G)", arg);
}

static void check_rotation(struct argp_state *state, const struct record_opts *opts)
{
	bool pipe = !strcmp(opts->output, "-");

	if (opts->switch_output && pipe)
		usage(state, "--switch-output makes files one after the other, which -o - cannot be: "
			     "leave out one of them");
	if (opts->timestamp_filename && pipe)
		usage(state, "--timestamp-filename is for a file, and -o - is a pipe: leave out one of "
			     "them");
	if (opts->switch_max_files && !opts->switch_output)
		usage(state, "--switch-max-files is about the files of --switch-output: add it");
}

static void take_command(struct argp_state *state, struct record_opts *opts)
{
	opts->command = (const char *const *)&state->argv[state->next - 1];
	state->next = state->argc;
}

static void finish_options(struct argp_state *state, struct record_command *cmd)
{
	struct record_opts *opts = &cmd->opts;

	check_control(state, opts);
	check_rotation(state, opts);
	if (opts->period && (opts->frequency || opts->frequency_max))
		usage(state, "-F asks for a number of samples a second, -c for one every N events: "
			     "choose one");
	if (opts->threads && !strcmp(opts->output, "-"))
		usage(state, "--threads makes a directory, which -o - cannot be: leave out one of them");
	if (opts->tasks.nr && (opts->all_cpus || opts->cpus.nr))
		usage(state, "-a and -C take all tasks of CPUs, -p and -t those named: choose one");
	cmd->whole_by_default =
		!opts->command && !opts->tasks.nr && !opts->cpus.nr && !opts->all_cpus;
	opts->all_cpus |= cmd->whole_by_default;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parser *p = state->input;
	struct record_opts *opts = &p->cmd->opts;

	switch (key) {
	case 'e': add_events(state, p, arg); break;
	case KEY_FILTER: set_filter(state, p, arg); break;
	case 'F': set_frequency(state, opts, arg); break;
	case 'c': set_count(state, opts, arg); break;
	case 'a': opts->all_cpus = true; break;
	case 'C': set_cpus(state, opts, arg); break;
	case 'p': add_tasks(state, opts, "-p", arg, add_process); break;
	case 't': add_tasks(state, opts, "-t", arg, add_thread); break;
	case 'i': opts->no_inherit = true; break;
	case 'D': set_delay(state, opts, arg); break;
	case KEY_CONTROL: set_control(state, opts, arg); break;
	case KEY_NO_CONTROL_SOCKET: opts->no_control_socket = true; break;
	case 'g':
		if (opts->callgraph == CALLGRAPH_NONE)
			opts->callgraph = CALLGRAPH_FP;
		break;
	case KEY_AIO: set_aio(state, opts, arg); break;
	case KEY_CALL_GRAPH: set_call_graph(state, opts, arg); break;
	case 'd': opts->sample_address = true; break;
	case 'P': opts->sample_period = true; break;
	case 'R': opts->sample_raw = true; break;
	case KEY_SAMPLE_CPU: opts->sample_cpu = true; break;
	case 'T': break;
	case 'k': set_clock(state, opts, arg); break;
	case 'o': opts->output = arg; break;
	case 'z': set_compression(state, opts, arg); break;
	case 'm': set_ring_size(state, p->cmd, arg); break;
	case KEY_FLUSH_INTERVAL: set_flush_interval(state, opts, arg); break;
	case KEY_SWITCH_OUTPUT: set_switch_output(state, opts, arg); break;
	case KEY_SWITCH_MAX_FILES:
		opts->switch_max_files = number(state, "--switch-max-files", arg, INT_MAX);
		break;
	case KEY_TIMESTAMP_FILENAME: opts->timestamp_filename = true; break;
	case KEY_MAX_SIZE: set_max_size(state, opts, arg); break;
	case KEY_THREADS:
		opts->threads = arg ? arg : "";
		opts->directory = true;
		break;
	case KEY_FAIL_ON_LOSS: p->cmd->fail_on_loss = true; break;
	case KEY_PROPAGATE_STATUS: p->cmd->propagate_status = true; break;
	case 'q': p->cmd->quiet = true; break;
	case 'v': p->cmd->verbose = true; break;
	case ARGP_KEY_ARG: take_command(state, opts); break;
	case ARGP_KEY_END: finish_options(state, p->cmd); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* As it was typed: argv[0] is "ringtail record" here. Without memory the header has none. */
static void keep_command_line(int argc, char **argv, struct record_opts *opts)
{
	const char **line = calloc((size_t)argc + 1, sizeof(*line));

	if (!line)
		return;
	line[0] = "ringtail";
	line[1] = "record";
	for (int i = 1; i < argc; i++)
		line[i + 1] = argv[i];
	opts->argv = line;
	opts->argc = argc + 1;
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
		       "Exit status: 0 fine, 1 error, 2 usage, 3 loss with --fail-on-loss.",
	};
	struct parser p = {.cmd = ret, .last_event = SIZE_MAX};

	*ret = (struct record_command){.opts = {.output = "perf.data", .attr_text = attr_text}};
	keep_command_line(argc, argv, &ret->opts);
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p))
		exit(EXIT_USAGE);
}

void record_options_release(struct record_command *cmd)
{
	free((void *)(uintptr_t)cmd->opts.argv);
	event_list_release(&cmd->opts.events);
	cpus_release(&cmd->opts.cpus);
	tasks_release(&cmd->opts.tasks);
	tasks_release(&cmd->opts.processes);
}
