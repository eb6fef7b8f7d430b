// SPDX-License-Identifier: Apache-2.0
#include "cli/input/input.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/human.h"
#include "base/parse.h"
#include "base/plural.h"
#include "cli/input/beside.h"
#include "cli/input/memory_limit.h"
#include "cli/input/output.h"
#include "cli/input/wall_time.h"
#include "report/trace/itrace.h"
#include "symbol/recorded/recorded.h"

static const char default_input[] = "perf.data";

#define PROGRESS_AFTER_NS 500000000ull /* shorter work shows no bar */
#define PROGRESS_EVERY_NS 100000000ull
#define PROGRESS_COLUMNS  50
#define JOBS_MAX	  1024 /* more are taken for an error; fewer are used */

enum {
	OPT_SYMFS = 0x1000,
	OPT_KALLSYMS,
	OPT_NO_DEMANGLE,
	OPT_DEMANGLE,
	OPT_INLINE,
	OPT_NO_INLINE,
	OPT_PID,
	OPT_TID,
	OPT_TIME,
	OPT_SNAPSHOT,
	OPT_ITRACE,
	OPT_NO_ITRACE,
	OPT_SWITCH_ON,
	OPT_SWITCH_OFF,
	OPT_SHOW_ON_OFF,
	OPT_SOCKET,
	OPT_MAX_MEMORY,
	OPT_DEMANGLE_KERNEL,
	OPT_NO_DEMANGLE_KERNEL,
	OPT_FULL_PATH,
	OPT_UNUSED_ARG,
};

static const struct argp_option input_options[] = {
	{"input", 'i', "FILE", 0, "The recording (default perf.data; - is standard input)",
	 HELP_MOST_USED},
	{"force", 'f', NULL, 0, "Read recordings of other users, too", HELP_INPUT},
	{"quiet", 'q', NULL, 0, "Print no comments, and only warnings of damage", HELP_INPUT},
	{0},
};

static const struct argp_option samples_options[] = {
	/* perf diff has other letters for these, and so has ours. */
	{"comms", 'c', "LIST", 0, "of commands with these names", HELP_SAMPLES},
	{"comm", 'c', NULL, OPTION_ALIAS, NULL, HELP_SAMPLES},
	{"cpu", 'C', "LIST", 0, "on these CPUs", HELP_SAMPLES},
#define NR_LETTERED 3
	{NULL, 0, NULL, 0, "Most used:", HELP_MOST_USED},
	{NULL, 0, NULL, 0, "Output:", HELP_OUTPUT},
	{NULL, 0, NULL, 0, "Only samples:", HELP_SAMPLES},
	{NULL, 0, NULL, 0, "Symbols:", HELP_SYMBOLS},
	{NULL, 0, NULL, 0, "Input and messages:", HELP_INPUT},

	{"symfs", OPT_SYMFS, "DIR", 0, "Look for files with symbols below DIR", HELP_SYMBOLS},
	{"kallsyms", OPT_KALLSYMS, "FILE", 0, "The recorded kernel's kallsyms", HELP_SYMBOLS},
	{"vmlinux", 'k', "FILE", 0, "The recorded kernel's vmlinux", HELP_SYMBOLS},
	{"no-demangle", OPT_NO_DEMANGLE, NULL, 0,
	 "Show C++ and Rust names as they are in the symbol table", HELP_SYMBOLS},
	{"demangle", OPT_DEMANGLE, NULL, 0,
	 "Show C++ and Rust names as in the source (the default)", HELP_SYMBOLS},
	{"inline", OPT_INLINE, NULL, 0, "Show inlined functions in call chains (the default)",
	 HELP_SYMBOLS},
	{"no-inline", OPT_NO_INLINE, NULL, 0, "Count inlined functions as part of their callers",
	 HELP_SYMBOLS},
	{"dsos", 'd', "LIST", 0, "in these shared objects", HELP_SAMPLES},
	{"dso", 'd', NULL, OPTION_ALIAS, NULL, HELP_SAMPLES},
	{"symbols", 'S', "LIST", 0, "in these symbols", HELP_SAMPLES},
	{"symbol", 'S', NULL, OPTION_ALIAS, NULL, HELP_SAMPLES},
	{"pid", OPT_PID, "LIST", 0, "of these processes", HELP_SAMPLES},
	{"tid", OPT_TID, "LIST", 0, "of these threads", HELP_SAMPLES},
	{"time", OPT_TIME, "START,STOP", 0,
	 "between these times, in seconds or as 14:03:05; either may be empty; several such pairs "
	 "with spaces between; or in parts of the recording, such as 10%/2 or 0%-30%",
	 HELP_SAMPLES},
	{"snapshot", OPT_SNAPSHOT, "N[-M]", 0,
	 "of snapshot N of a recording with -M, or of those from N to M", HELP_SAMPLES},
	{"itrace", OPT_ITRACE, "LETTERS", OPTION_ARG_OPTIONAL,
	 "Samples to make of hardware trace: i (instructions), b (branches), c (calls), r "
	 "(returns), e (errors), l (branch stacks), ...",
	 HELP_SAMPLES},
	{"no-itrace", OPT_NO_ITRACE, NULL, 0, "Do not decode hardware trace", HELP_SAMPLES},
	{"switch-on", OPT_SWITCH_ON, "EVENT", 0, "from each sample of EVENT on", HELP_SAMPLES},
	{"switch-off", OPT_SWITCH_OFF, "EVENT", 0, "until a sample of EVENT", HELP_SAMPLES},
	{"show-on-off-events", OPT_SHOW_ON_OFF, NULL, 0,
	 "of the events of --switch-on and --switch-off, too", HELP_SAMPLES},
	{"socket-filter", OPT_SOCKET, "N", 0, "on the CPUs of this socket", HELP_SAMPLES},
	{"demangle-kernel", OPT_DEMANGLE_KERNEL, NULL, 0,
	 "Show names of the kernel as in the source, too (the default)", HELP_SYMBOLS},
	{"no-demangle-kernel", OPT_NO_DEMANGLE_KERNEL, NULL, 0,
	 "Show names of the kernel and its modules as they are in the symbol table", HELP_SYMBOLS},
	{"full-source-path", OPT_FULL_PATH, NULL, 0,
	 "Show source lines with the path that the debug information has", HELP_SYMBOLS},
	{"addr2line", OPT_UNUSED_ARG, "PATH", 0,
	 "Accepted: ringtail reads debug information itself", HELP_SYMBOLS},
	{"unwind-style", OPT_UNUSED_ARG, "STYLE", 0, "Accepted: ringtail unwinds stacks itself",
	 HELP_SYMBOLS},
	{"jobs", 'j', "N", 0,
	 "Use N threads (default: one for each CPU that the process may use); the output is the "
	 "same",
	 HELP_INPUT},
	{"max-memory", OPT_MAX_MEMORY, "SIZE", 0,
	 "Read, sort and keep at most SIZE, at least 32M, beside the answer itself", HELP_INPUT},
	{"verbose", 'v', NULL, 0, "Print why a shared object has no symbols, mark guessed callers",
	 HELP_INPUT},
	{0},
};

static void parse_ranges(struct argp_state *state, const char *arg, struct filter_ranges *ret)
{
	if (filter_ranges_parse(arg, ret) < 0)
		usage_error(state, "'%s' is no list of numbers such as 1,3-5", arg);
}

static error_t parse_input(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_END: in->command = state->name; break;
	case 'i': in->trace.path = arg; break;
	case 'f': in->trace.force = true; break;
	case 'q': in->quiet = true; break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void input_itrace_default(struct input *in, const struct itrace_opts *opts)
{
	in->itrace = in->itrace_default = *opts;
	in->trace.itrace = &in->itrace;
}

void input_itrace(struct argp_state *state, struct input *in, const char *letters)
{
	struct error err = ERROR_INIT;

	in->itrace = in->itrace_default;
	if (itrace_opts_parse(letters, &in->itrace, &err) < 0)
		usage_error(state, "--itrace: %s", err.text);
	in->trace.itrace = &in->itrace;
	in->trace.itrace_asked = true;
}

/* "3" or "1-11". */
static void parse_snapshots(struct argp_state *state, const char *arg, struct input *in)
{
	struct filter_ranges ranges = {0};
	int rc = filter_ranges_parse(arg, &ranges);

	if (rc < 0 || ranges.nr != 1 || !ranges.r->first)
		usage_error(state,
			    "--snapshot: '%s' is neither a number above 0 nor a range such as 1-11",
			    arg);
	in->trace.snapshot = ranges.r->first;
	in->trace.snapshot_last = ranges.r->last;
	free(ranges.r);
}

static error_t parse_samples(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;
	uint64_t jobs;

	switch (key) {
	case OPT_SYMFS: in->trace.symfs = arg; break;
	case OPT_KALLSYMS: in->trace.kallsyms = arg; break;
	case 'k': in->trace.vmlinux = arg; break;
	case OPT_NO_DEMANGLE: in->trace.no_demangle = true; break;
	case OPT_DEMANGLE: in->trace.no_demangle = false; break;
	case OPT_INLINE: in->no_inline = false; break;
	case OPT_NO_INLINE: in->no_inline = true; break;
	case 'c': in->filter.comms = arg; break;
	case 'd': in->filter.dsos = arg; break;
	case 'S': in->filter.symbols = arg; break;
	case OPT_PID: parse_ranges(state, arg, &in->filter.pids); break;
	case OPT_TID: parse_ranges(state, arg, &in->filter.tids); break;
	case 'C': parse_ranges(state, arg, &in->filter.cpus); break;
	case OPT_TIME:
		in->wall_time = wall_time_is(arg) ? arg : NULL;
		if (in->wall_time)
			break;
		if (filter_time_parse(arg, &in->filter) < 0)
			usage_error(
				state,
				"--time: '%s' is neither START,STOP in seconds or as 14:03:05, nor "
				"parts such as 10%%/2 or 0%%-30%%",
				arg);
		break;
	case OPT_SNAPSHOT: parse_snapshots(state, arg, in); break;
	case OPT_SWITCH_ON: in->switches.on = arg; break;
	case OPT_SWITCH_OFF: in->switches.off = arg; break;
	case OPT_SHOW_ON_OFF: in->switches.show = true; break;
	case OPT_SOCKET:
		if (parse_u64(arg, &jobs) || jobs > INT_MAX)
			usage_error(state, "--socket-filter: '%s' is no number", arg);
		in->socket = arg;
		break;
	case OPT_DEMANGLE_KERNEL: in->trace.no_demangle_kernel = false; break;
	case OPT_NO_DEMANGLE_KERNEL: in->trace.no_demangle_kernel = true; break;
	case OPT_FULL_PATH: in->trace.full_paths = true; break;
	case OPT_UNUSED_ARG: break;
	case OPT_ITRACE: input_itrace(state, in, arg ? arg : ""); break;
	case OPT_NO_ITRACE: in->trace.itrace = NULL; break;
	case 'j':
		if (parse_u64(arg, &jobs) || !jobs || jobs > JOBS_MAX)
			usage_error(state, "-j: '%s' is no number from 1 to %d", arg, JOBS_MAX);
		in->trace.workers = (unsigned int)jobs;
		break;
	case OPT_MAX_MEMORY:
		if (memory_limit_parse(arg, &in->trace.max_memory))
			usage_error(state,
				    "--max-memory: '%s' is no size such as 512M, or below 32M",
				    arg);
		break;
	case 'v': in->verbose = true; break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp input_argp = {.options = input_options, .parser = parse_input};
const struct argp samples_argp = {.options = samples_options, .parser = parse_samples};
const struct argp samples_lettered_argp = {.options = samples_options + NR_LETTERED,
					   .parser = parse_samples};

void input_cpus(struct argp_state *state, struct input *in, const char *list)
{
	parse_ranges(state, list, &in->filter.cpus);
}

static void progress(unsigned int pass, uint64_t done, uint64_t total, void *arg)
{
	struct progress *p = arg;
	uint64_t now;
	int n;

	if (!p->enabled || pthread_mutex_trylock(&p->lock))
		return; /* another thread is reporting */
	now = now_ns(CLOCK_MONOTONIC);
	if (now - p->start_ns < PROGRESS_AFTER_NS || now - p->last_ns < PROGRESS_EVERY_NS) {
		pthread_mutex_unlock(&p->lock);
		return;
	}
	p->last_ns = now;
	p->shown = true;
	n = total ? (int)(PROGRESS_COLUMNS * ((double)done / (double)total)) : 0;
	n = n > PROGRESS_COLUMNS ? PROGRESS_COLUMNS : n;
	fprintf(stderr, "\r%s [%.*s%*s]", pass == 1 ? "Reading" : "Counting", n,
		"##################################################", PROGRESS_COLUMNS - n, "");
	pthread_mutex_unlock(&p->lock);
}

void input_progress_end(struct input *in)
{
	if (in->progress.shown)
		fputs("\r\033[K", stderr);
	in->progress.shown = false;
}

void input_output(struct input *in)
{
	input_progress_end(in);
	if (isatty(STDOUT_FILENO))
		in->progress.enabled = false; /* lines would run into the bar */
	output_begin();
}

double input_percent(const struct argp_state *state, const char *option, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= 0 && v <= 100))
		usage_error(state, "%s: '%s' is no percentage from 0 to 100", option, arg);
	return v;
}

void input_init(struct input *in)
{
	*in = (struct input){.trace.path = default_input};
	itrace_opts_all(&in->itrace_default);
	in->trace.progress = progress;
}

void input_release(struct input *in)
{
	filter_release(&in->filter);
}

/* Only on a terminal that can erase a line; a console's log cannot. */
static bool shows_progress(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* As perf, reads a pipe on standard input without an option. */
static bool piped_in(const struct input *in)
{
	struct stat st;

	return in->trace.path == default_input && !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode);
}

bool input_as_perf(void)
{
	return !strcmp(program_invocation_short_name, "perf");
}

int input_open(struct input *in, struct trace **ret)
{
	struct error err = ERROR_INIT;
	int rc;

	in->progress = (struct progress){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.enabled = shows_progress(),
		.start_ns = now_ns(CLOCK_MONOTONIC),
	};
	in->trace.progress_arg = &in->progress;
	if (input_as_perf() && piped_in(in))
		in->trace.path = "-";
	rc = trace_open(&in->trace, ret, &err);
	if (rc < 0)
		complain("%s", err.text);
	if (rc == -ENOENT && piped_in(in))
		complain("to read the pipe on standard input, add '-i -'");
	if (!rc && !in->quiet && piped_in(in))
		complain("ringtail reads ./%s; to read the pipe on standard input instead, add '-i "
			 "-'",
			 default_input);
	return rc;
}

/* Makes CPUs of --socket-filter. */
static int choose_socket(struct input *in, const struct trace *t, struct error *err)
{
	struct filter_ranges *cpus = &in->filter.cpus;
	int socket;

	if (!in->socket)
		return 0;
	if (cpus->nr)
		return error_set(err, -EINVAL,
				 "--cpu and --socket-filter exclude each other: "
				 "choose one");
	socket = atoi(in->socket);
	for (uint32_t cpu = 0; cpu < t->topology.nr_ids; cpu++) {
		if (trace_socket(t, cpu) != socket)
			continue;
		if (array_grow(&cpus->r, &cpus->cap, cpus->nr + 1, sizeof(*cpus->r)))
			return error_sys(err, -ENOMEM, "%s", t->opts.path);
		cpus->r[cpus->nr++] = (struct filter_range){cpu, cpu};
	}
	return cpus->nr ? 0
			: error_set(err, -EINVAL,
				    "--socket-filter: the recording names no CPU of "
				    "socket %d",
				    socket);
}

/* Forgets what an earlier recording brought: each has CPUs and times of its own. */
static void forget_choice(struct input *in)
{
	if (in->is_chosen && in->socket)
		in->filter.cpus.nr = 0;
	if (in->is_chosen && (in->switches.on || in->switches.off))
		in->filter.times.nr = 0;
	in->is_chosen = true;
}

int input_choose(struct input *in, struct trace *t, struct error *err)
{
	int rc;

	forget_choice(in);
	if (in->filter.nr_parts && !t->counts.last_time)
		return error_set(err, -EINVAL,
				 "%s: parts of the time need samples that were recorded with "
				 "times, and there are none: give --time START,STOP",
				 t->opts.path);
	rc = filter_place_parts(&in->filter, t->counts.first_time, t->counts.last_time);
	if (rc < 0)
		return error_sys(err, rc, "%s", t->opts.path);
	rc = choose_socket(in, t, err);
	if (!rc && in->wall_time)
		rc = wall_time_apply(in->wall_time, t, &in->filter, &in->time_guessed, err);
	if (rc || (!in->switches.on && !in->switches.off))
		return rc;
	if (in->filter.times.nr)
		return error_set(err, -EINVAL,
				 "--switch-on and --switch-off go with one span of --time only");
	if (t->untimed_samples)
		return error_set(err, -EINVAL,
				 "%s: --switch-on and --switch-off need samples that were recorded "
				 "with times, and there are none",
				 t->opts.path);
	return switches_find(t, &in->switches, &in->filter, err);
}

void input_explain_time(const struct input *in, const struct trace *t)
{
	if (in->time_guessed && !in->quiet)
		complain("%s: the recording does not relate its clock to the time of day; ringtail "
			 "takes its last sample to be as old as the file ('record -k mono' relates "
			 "them)",
			 t->opts.path);
}

int input_prepare(struct input *in, struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc;

	/* input_choose() will tell samples apart by their times, which digests do not keep. */
	if (in->wall_time || in->switches.on || in->switches.off)
		t->digest = DIGEST_NONE;
	rc = trace_prepare(t, &err);
	if (rc < 0)
		input_progress_end(in);
	else
		rc = input_choose(in, t, &err);
	input_explain_time(in, t);
	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

time_t input_captured(const char *path)
{
	char data[PATH_MAX];
	struct stat st;

	snprintf(data, sizeof(data), "%s/data", path);
	return !stat(data, &st) || !stat(path, &st) ? st.st_mtime : 0;
}

void input_explain_stacks(const struct input *in, const struct trace *t)
{
	if (in->quiet || !t->cfi || unwind_arch_known(t->arch))
		return;
	complain("call chains lack the callers in user space: ringtail cannot unwind the stacks of "
		 "a machine '%s'",
		 t->arch ? t->arch : "like this one");
}

/* Writes the span of the samples' times, for a user whose filters passed none. */
static const char *time_span(const struct trace_counts *c, char *ret, size_t size)
{
	const uint64_t s = 1000000000;

	snprintf(ret, size,
		 ": their times are from %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 " s",
		 c->first_time / s, c->first_time % s, c->last_time / s, c->last_time % s);
	return ret;
}

static void explain_filters(const struct input *in, const struct trace *t)
{
	const struct filter *f = &in->filter;
	const struct {
		const char *option, *value;
		bool given;
	} parts[] = {
		{"--comms", f->comms, f->comms},
		{"--dsos", f->dsos, f->dsos},
		{"--symbols", f->symbols, f->symbols},
		{"--pid", NULL, f->pids.nr},
		{"--tid", NULL, f->tids.nr},
		{"--cpu", NULL, f->cpus.nr},
		{"--time", in->wall_time, f->start || f->stop || f->nr_parts},
		{"--snapshot", NULL, in->trace.snapshot},
		{"--symbol-filter", f->symbol_part, f->symbol_part},
		{"--hide-unresolved", NULL, f->resolved},
	};
	bool in_time = (f->start || f->stop || f->nr_parts) && t->counts.first_time;
	char count[HUMAN_COUNT_SIZE], span[96];
	struct buf all = {0};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].given)
			buf_printf(&all, "%s%s%s%s", all.len ? ", " : "", parts[i].option,
				   parts[i].value ? " " : "", parts[i].value ? parts[i].value : "");
	if (all.len && t->counts.samples)
		complain("%s%snone of %s samples matches %.*s%s", in->several ? t->opts.path : "",
			 in->several ? ": " : "", human_count(t->counts.samples, count),
			 (int)all.len, (const char *)all.data,
			 in_time ? time_span(&t->counts, span, sizeof(span)) : "");
	buf_release(&all);
}

/* As far as the header says what was typed. */
static bool kept_in_memory(const struct trace *t)
{
	struct pd_strings words = {0};
	const uint8_t *p;
	size_t len;
	bool is = false;

	if (!data_feature(t->df, HEADER_CMDLINE, &p, &len))
		pd_feature_strings_decode(p, len, data_swapped(t->df), &words);
	for (size_t i = 0; i < words.nr && strcmp(words.s[i], "--"); i++)
		is |= !strncmp(words.s[i], "-M", 2) || !strncmp(words.s[i], "--memory", 8);
	pd_strings_release(&words);
	return is;
}

bool input_explain_no_snapshot(const struct trace *t)
{
	char *newest;
	size_t nr;

	if (!kept_in_memory(t))
		return false;
	nr = outputs_beside(t->opts.path, &newest);
	if (newest)
		complain("%s: the recording took no snapshot into this file; %zu other output%s "
			 "beside it, the newest: %s",
			 t->opts.path, nr, nr == 1 ? " is" : "s are", newest);
	else
		complain("%s: the recording kept its samples in memory (-M) and took no snapshot",
			 t->opts.path);
	free(newest);
	return true;
}

void input_explain_nothing(const struct input *in, const struct trace *t)
{
	if (in->quiet)
		return;
	explain_filters(in, t);
	if (!t->counts.samples && !snapshots_are_in(t->df))
		input_explain_no_snapshot(t);
}

static void warn_loss(const struct input *in, const struct trace *t)
{
	uint64_t lost = trace_loss_total(&t->counts.loss, &t->counts.loss);
	const char *path = in->several ? t->opts.path : "";
	const char *colon = in->several ? ": " : "";
	uint64_t records = t->counts.loss.records;
	double share;

	if (records)
		complain("%s%s%" PRIu64
			 " record%s of stops and switches of the hardware trace %s lost: "
			 "'ringtail report --aux' shows of which rings",
			 path, colon, records, plural_s(records), records == 1 ? "was" : "were");
	if (!lost)
		return;
	if (trace_loss_share(t, lost, &share))
		complain("%s%s%" PRIu64 " sample%s lost, %.2f%% of all samples", path, colon, lost,
			 lost == 1 ? " was" : "s were", share);
	else
		complain("%s%s%" PRIu64
			 " sample%s lost in the whole recording; the file holds only its snapshots",
			 path, colon, lost, lost == 1 ? " was" : "s were");
}

/* Says whether a recording whose file is cut has names of this machine, and why. */
static void warn_cut(const struct input *in, const struct trace *t)
{
	const struct origin *o = &t->origin;

	if (o->kind != ORIGIN_HERE) {
		complain("%s: the file ends before the description of its machine, and ringtail "
			 "takes no names from this one but of files with the recorded build-id or "
			 "inode: %s; report it where it was made, or name files with --symfs, "
			 "--kallsyms or --vmlinux",
			 t->opts.path, origin_why_not(o));
		return;
	}
	complain("%s: the file ends before the description of its machine, and ringtail takes "
		 "names from the files of this one; 'ringtail recover %s' completes it",
		 t->opts.path, t->opts.path);
	if (in->verbose)
		complain("%s: it is of this machine: %zu of its files have the recorded inodes "
			 "here%s",
			 t->opts.path, o->same,
			 o->moved ? ", and its kernel is at the random address of the running one"
				  : "");
}

static void warn(const struct input *in, const struct trace *t)
{
	size_t n;
	const struct data_finding *findings = data_findings(t->df, &n);

	for (size_t i = 0; i < n; i++) {
		const struct data_finding *f = &findings[i];
		char times[48] = "";

		if (in->quiet && f->severity == DATA_ODD)
			continue;
		if (f->count > 1)
			snprintf(times, sizeof(times), " (%" PRIu64 " times)", f->count);
		complain("%s: offset 0x%" PRIx64 ": %s%s", data_segment_path(t->df, f->segment),
			 f->offset, f->text, times);
	}
	if (!in->quiet && data_features_cut(t->df))
		warn_cut(in, t);
	if (!in->quiet)
		warn_loss(in, t);
	if (!in->quiet && t->itrace && t->itrace->errors)
		complain("%s: %" PRIu64
			 " place%s in the hardware trace could not be decoded, the first because: "
			 "%s ('ringtail script --itrace=e' lists them)",
			 t->opts.path, t->itrace->errors, plural_s(t->itrace->errors),
			 t->itrace->first_error);
	if (t->itrace && t->itrace->damage)
		complain("%s: hardware trace is damaged, or does not fit the code, at %" PRIu64
			 " place%s",
			 t->opts.path, t->itrace->damage, plural_s(t->itrace->damage));
}

/*
 * Ends by SIGPIPE, as other programs, if nobody reads standard output any more. A program that was
 * started with the signal ignored goes on.
 */
static void end_with_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	struct sigaction now;

	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLERR) ||
	    sigaction(SIGPIPE, NULL, &now) < 0 || now.sa_handler == SIG_IGN)
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}

int input_end(const struct input *in, const struct trace *t, int rc)
{
	int failed = fflush(stdout) == EOF ? errno : 0;
	bool unseen = output_end(&failed, &rc);

	if (failed || ferror(stdout))
		end_with_reader();
	if (t)
		warn(in, t);
	if (in && !in->quiet)
		memory_limit_explain(in->trace.max_memory);
	if (failed || ferror(stdout)) {
		if (failed && failed != EPIPE)
			complain("cannot write to standard output: %s", strerror(failed));
		return EXIT_ERROR;
	}
	if (in && in->misused)
		return EXIT_USAGE;
	if (rc < 0 || unseen || (t && (trace_damaged(t) || (t->itrace && t->itrace->damage))))
		return EXIT_ERROR;
	return EXIT_FINE;
}
