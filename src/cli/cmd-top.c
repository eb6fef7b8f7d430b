// SPDX-License-Identifier: Apache-2.0
/*
 * Records into memory (-M), takes a snapshot of the newest samples each time into a file of its own
 * in a private directory, and shows it as a recording. The symbols of files stay in memory from one
 * snapshot to the next; only a snapshot that the user saves carries its names itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"
#include "base/plural.h"
#include "cli/cmd-record-options.h"
#include "cli/cmd-top-perf.h"
#include "cli/commands.h"
#include "cli/input/input.h"
#include "cli/terminal/terminal.h"
#include "cli/view/show.h"
#include "data/edit/edit.h"
#include "record/session/hosted.h"
#include "report/pack/collect.h"
#include "symbol/resolve/resolver_pool.h"

#define MAX_STACK    127
#define DELAY_MS     2000
#define DELAY_LEAST  0.1
#define DELAY_MOST   3600.0
#define WINDOW_MS    10000u
#define SPAN_SIZE    48
#define SPAN_STEP    100u	 /* ms: spans are shown by tenths of a second */
#define SAME_SECOND  99		 /* files of one second */
#define WARNINGS     4096	 /* bytes that are kept until the screen is free */
#define NAMES_BUDGET (64u << 20) /* bytes, as of ringtail pack */
#define SYMBOLS_MOST (2u << 20)	 /* in memory; some 100 bytes each */

struct top {
	struct top_options o;
	char *memory;
	unsigned int delay_ms;
	_Atomic unsigned int window_ms;
	uint64_t began_ns;		 /* when the recording started */
	_Atomic unsigned int covered_ms; /* the newest table: from its window's start to its end */

	struct record_command record;
	struct messages messages;
	struct hosted_session *session;
	struct resolver_pool *pool; /* of all recordings that are shown; the loading thread's */
	pthread_mutex_t commands;   /* guards the session and the directory */
	pthread_mutex_t lock;	    /* guards the next three; the session's thread takes it */
	bool started;		    /* what was chosen for the user is printed */
	bool shown;		    /* messages wait in @warnings */
	char warnings[WARNINGS];
	char directory[PATH_MAX / 2], output[PATH_MAX / 2 + 16];
	char title[64];
	uint64_t cpu_ns, cpu_at; /* of this process, when it was asked last */
	double cpu;		 /* share of one CPU since then, percent */
};

enum {
	OPT_WINDOW = 0x2000,
	OPT_STDIO,
	OPT_PERCENT_LIMIT,
	OPT_CALL_GRAPH,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Most used:", HELP_MOST_USED},
	{NULL, 0, NULL, 0, "Output:", HELP_OUTPUT},
	{NULL, 0, NULL, 0, "Only samples:", HELP_SAMPLES},
	{"event", 'e', "EVENT[,EVENT...]", 0,
	 "Events as of 'ringtail record' (default: cycles, or cpu-clock without a PMU)",
	 HELP_MOST_USED},
	{"freq", 'F', "HZ|max", 0, "Take HZ samples a second (default 4000)", HELP_MOST_USED},
	{"all-cpus", 'a', NULL, 0, "Show the whole system (the default)", HELP_MOST_USED},
	{"pid", 'p', "PID[,PID...]", 0, "Show these processes with all their threads",
	 HELP_MOST_USED},
	{NULL, 'g', NULL, 0, "Call chains by frame pointers", HELP_MOST_USED},
	{"delay", 'd', "SECONDS", 0, "Show new samples so often (default 2)", HELP_MOST_USED},
	{"window", OPT_WINDOW, "SECONDS", 0, "Show the samples of the last SECONDS (default 10)",
	 HELP_MOST_USED},
	{"sort", 's', "KEYS", 0,
	 "Group samples by these keys of 'ringtail report' (default comm,dso,sym)", HELP_OUTPUT},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0, "Leave out rows below PERCENT",
	 HELP_OUTPUT},
	{"show-nr-samples", 'n', NULL, 0, "Add a column with the number of samples", HELP_OUTPUT},
	{"stdio", OPT_STDIO, NULL, 0, "Print tables, until Ctrl-C", HELP_OUTPUT},
	{"tid", 't', "TID[,TID...]", 0, "of these threads", HELP_SAMPLES},
	{"cpu", 'C', "LIST", 0, "on these CPUs: 0-3,5", HELP_SAMPLES},
	{"count", 'c', "N", 0, "one for every N events", HELP_SAMPLES},
	{"call-graph", OPT_CALL_GRAPH, "fp|dwarf[,SIZE][,online]|lbr", 0,
	 "with call chains of this kind", HELP_SAMPLES},
	{"memory", 'M', "SIZE", 0, "as many as SIZE of memory holds (default 64M)", HELP_SAMPLES},
	{0},
};

/* --- options -------------------------------------------------------------------------------------
 */

static unsigned int parse_ms(struct argp_state *state, const char *option, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= DELAY_LEAST && v <= DELAY_MOST))
		usage_error(state, "%s: '%s' is no number of seconds from %g to %g", option, arg,
			    DELAY_LEAST, DELAY_MOST);
	return (unsigned int)(v * 1000);
}

static void finish(struct argp_state *state, struct top *top)
{
	struct error err = ERROR_INIT;
	int n;

	top->o.columns.children = top->o.report.children;
	if (top->o.columns.strict && !top->o.columns.sorted)
		top->o.columns.nr_sort = 0;
	if (top->o.report.children && top->o.columns.nr_fields)
		usage_error(state, "--fields and --children exclude each other: choose one");
	n = columns_arrange(&top->o.columns, &top->o.report.columns, top->o.report.keys, &err);

	if (n < 0)
		usage_error(state, "%s", err.text);
	else
		top->o.report.nr_keys = (size_t)n;
	for (size_t i = 0; i < top->o.report.nr_keys; i++) {
		const struct sort_key *key = top->o.report.keys[i];

		if (key->field)
			usage_error(state,
				    "--sort %s: top has no such key, and no fields of tracepoints; "
				    "ringtail-top(1) lists its keys",
				    key->name);
		if (key->of_switches || key->of_wait)
			usage_error(state, "--sort %s: 'ringtail report' has it, top does not",
				    key->name);
	}
	if (!top->o.stdio)
		show_check(state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const struct {
		int key;
		const char *word;
	} passed[] = {
		{'e', "-e"}, {'F', "-F"}, {'a', "-a"},
		{'p', "-p"}, {'g', "-g"}, {'t', "-t"},
		{'C', "-C"}, {'c', "-c"}, {OPT_CALL_GRAPH, "--call-graph"},
	};
	struct top *top = state->input;
	struct error err = ERROR_INIT;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &top->o; return 0;
	case 'd': top->delay_ms = parse_ms(state, "-d", arg); return 0;
	case OPT_WINDOW: top->window_ms = parse_ms(state, "--window", arg); return 0;
	case 'M': top->memory = arg; return 0;
	case 'n': top->o.columns.samples = true; return 0;
	case OPT_STDIO: top->o.stdio = true; return 0;
	case OPT_PERCENT_LIMIT:
		top->o.table.percent_limit = input_percent(state, "--percent-limit", arg);
		return 0;
	case 's':
		if (columns_parse_sort(&top->o.columns, arg, &err) < 0)
			usage_error(state, "%s", err.text);
		return 0;
	case ARGP_KEY_ARG:
		usage_error(state,
			    "'%s': top shows what runs already; 'ringtail record' runs a "
			    "command",
			    arg);
	case ARGP_KEY_END: finish(state, top); return 0;
	default: break;
	}
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		if (passed[i].key != key)
			continue;
		top->o.chains |= key == 'g' || key == OPT_CALL_GRAPH;
		top_pass(state, &top->o, passed[i].word, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* --- the recording -------------------------------------------------------------------------------
 */

/*
 * Until the recording has started, messages are printed; then warnings alone, and while the screen
 * is drawn they wait.
 */
static void say(enum message_level level, const char *text, void *arg)
{
	struct top *top = arg;
	size_t len;

	if (level == MESSAGE_DETAIL)
		return;
	pthread_mutex_lock(&top->lock);
	len = strlen(top->warnings);
	if (level == MESSAGE_WARNING ? !top->shown : !top->started)
		complain("%s", text);
	else if (level == MESSAGE_WARNING && !strstr(top->warnings, text))
		snprintf(top->warnings + len, sizeof(top->warnings) - len, "%s\n", text);
	pthread_mutex_unlock(&top->lock);
}

/* Says whether the recording has @started, and whether the screen is @shown. */
static void set_state(struct top *top, bool started, bool shown)
{
	pthread_mutex_lock(&top->lock);
	top->started = started;
	top->shown = shown;
	pthread_mutex_unlock(&top->lock);
}

static void print_warnings(struct top *top)
{
	char *rest = top->warnings, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			complain("%s", line);
}

static int make_directory(struct top *top)
{
	const char *temporary = getenv("TMPDIR");
	const char *places[] = {"/dev/shm", temporary && *temporary ? temporary : "/tmp"};

	for (size_t i = 0; i < 2; i++) {
		snprintf(top->directory, sizeof(top->directory), "%s/ringtail-top.XXXXXX",
			 places[i]);
		if (mkdtemp(top->directory)) {
			snprintf(top->output, sizeof(top->output), "%s/data", top->directory);
			return 0;
		}
	}
	complain("cannot make a directory in /dev/shm or %s: %s", places[1], strerror(errno));
	top->directory[0] = '\0';
	return -EIO;
}

static bool is_snapshot(const char *name)
{
	return !strncmp(name, "data.", 5);
}

/* Removes @all files, and sets @ret, if not NULL, to the newest snapshot. */
static void visit_files(struct top *top, bool all, char *ret, size_t size)
{
	DIR *dir = opendir(top->directory);
	struct dirent *e;
	char newest[NAME_MAX + 1] = "";

	while (dir && (e = readdir(dir))) {
		if (all && e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
		/* The names end in their times. */
		if (is_snapshot(e->d_name) && strcmp(e->d_name, newest) > 0)
			snprintf(newest, sizeof(newest), "%s", e->d_name);
	}
	if (dir)
		closedir(dir);
	if (ret)
		snprintf(ret, size, "%s/%s", top->directory, newest);
}

/* Writes the window to a file of its own. Returns 0 with its path, for free(), in *@ret. */
static int take_snapshot(struct top *top, char **ret, struct error *err)
{
	char line[64], path[PATH_MAX];
	int rc;

	snprintf(line, sizeof(line), "snapshot --last %ums", top->window_ms);
	pthread_mutex_lock(&top->commands);
	rc = hosted_command(top->session, line, err);
	if (!rc)
		visit_files(top, false, path, sizeof(path));
	pthread_mutex_unlock(&top->commands);
	if (rc)
		return rc;
	*ret = strdup(path);
	return *ret ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void measure_cost(struct top *top)
{
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), now = clock_ns(CLOCK_MONOTONIC);

	if (top->cpu_at && now > top->cpu_at)
		top->cpu = 100.0 * (double)(cpu - top->cpu_ns) / (double)(now - top->cpu_at);
	top->cpu_ns = cpu;
	top->cpu_at = now;
}

/* Returns the time that a window up to now has samples of: a recording is young at first. */
static unsigned int covered_now(const struct top *top)
{
	uint64_t ms = (clock_ns(CLOCK_MONOTONIC) - top->began_ns) / 1000000;

	return ms < top->window_ms ? (unsigned int)ms : top->window_ms;
}

/* Returns how much of @ms @t covers: all, unless memory held no more. */
static unsigned int covered_by(const struct top *top, const struct trace *t, unsigned int ms)
{
	uint64_t span = (t->counts.last_time - t->counts.first_time) / 1000000;
	struct history_figures f;

	return session_memory(hosted_session(top->session), &f) && f.taken > f.samples && span < ms
		       ? (unsigned int)span
		       : ms;
}

static void drop(void *arg, struct trace *t)
{
	char *path = (char *)(uintptr_t)t->opts.path;

	(void)arg;
	trace_close(t);
	unlink(path);
	free(path);
}

static int load(void *arg, struct view_job *j, struct trace **ret, struct error *err)
{
	struct top *top = arg;
	struct trace_opts opts = top->o.trace;
	struct trace *t;
	char *path;
	int rc = take_snapshot(top, &path, err);
	unsigned int covered = covered_now(top);

	if (rc)
		return rc;
	resolver_pool_renew(&top->pool, SYMBOLS_MOST);
	opts.path = path;
	opts.pool = top->pool;
	rc = trace_open(&opts, &t, err);
	if (rc < 0) {
		unlink(path);
		free(path);
		return rc;
	}
	if (j)
		job_watch(j, t);
	t->namespaces = report_needs_namespaces(&top->o.report);
	rc = trace_prepare(t, err);
	if (rc < 0) {
		drop(top, t);
		return rc;
	}
	top->covered_ms = covered_by(top, t, covered);
	*ret = t;
	return 0;
}

/* --- the view ------------------------------------------------------------------------------------
 */

/* Writes "5 s", or "2 s of 5 s". */
static const char *put_span(unsigned int covered_ms, unsigned int window_ms, char ret[SPAN_SIZE])
{
	unsigned int steps = (covered_ms + SPAN_STEP / 2) / SPAN_STEP;

	if (covered_ms + SPAN_STEP / 2 >= window_ms)
		snprintf(ret, SPAN_SIZE, "%g s", window_ms / 1000.0);
	else
		snprintf(ret, SPAN_SIZE, "%g s of %g s", steps * (SPAN_STEP / 1000.0),
			 window_ms / 1000.0);
	return ret;
}

static void describe(void *arg, char *ret, size_t size)
{
	struct top *top = arg;
	char span[SPAN_SIZE];

	if (clock_ns(CLOCK_MONOTONIC) - top->cpu_at > 1000000000)
		measure_cost(top);
	snprintf(ret, size, "last %s, costs %.0f%% of a CPU",
		 put_span(top->covered_ms, top->window_ms, span), top->cpu);
}

static void change_window(void *arg, int direction)
{
	static const unsigned int seconds[] = {1, 2, 5, 10, 20, 30, 60, 120, 300, 600};
	const size_t nr = sizeof(seconds) / sizeof(*seconds);
	struct top *top = arg;
	size_t i = 0;

	while (i < nr - 1 && seconds[i] * 1000 < top->window_ms)
		i++;
	if (direction > 0 && i < nr - 1 && seconds[i] * 1000 <= top->window_ms)
		i++;
	if (direction < 0 && i)
		i--;
	top->window_ms = seconds[i] * 1000;
}

static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = in < 0 || out < 0 ? -errno : 0;
	char bytes[65536];
	ssize_t n;

	while (!rc && (n = read(in, bytes, sizeof(bytes))) != 0) {
		if (n < 0 || write(out, bytes, (size_t)n) != n)
			rc = errno ? -errno : -EIO;
	}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !rc)
		rc = -errno;
	if (rc && out >= 0)
		unlink(to);
	return rc;
}

/* Copies to a name with the time, and a number if there is a file of this second. */
static int copy_by_time(const char *from, char *name, size_t size)
{
	time_t now = time(NULL);
	char when[32];
	struct tm tm;
	int rc;

	strftime(when, sizeof(when), "%Y%m%d%H%M%S", localtime_r(&now, &tm));
	snprintf(name, size, "ringtail-top.%s.data", when);
	rc = copy_file(from, name);
	for (unsigned int n = 2; rc == -EEXIST && n <= SAME_SECOND; n++) {
		snprintf(name, size, "ringtail-top.%s-%u.data", when, n);
		rc = copy_file(from, name);
	}
	return rc;
}

/* Makes the snapshot @path carry the names of its functions, as a recording does. */
static int add_names(const char *path, struct error *err)
{
	struct trace_opts opts = {.path = path, .no_demangle = true};
	struct collect_counts counts = {0};
	struct buf table = {0};
	struct trace *t;
	int rc = trace_open(&opts, &t, err);

	if (rc < 0)
		return rc;
	rc = trace_prepare(t, err);
	if (rc >= 0)
		rc = collect_symbols(t, NAMES_BUDGET, false, &table, &counts, err);
	if (!rc && counts.table.functions)
		rc = edit_set_symbols(t->df, &table, NULL, err);
	buf_release(&table);
	trace_close(t);
	return rc;
}

static int save(void *arg, char *ret, size_t size, struct error *err)
{
	struct top *top = arg;
	char name[64], span[SPAN_SIZE];
	char *path;
	int rc = take_snapshot(top, &path, err);

	if (rc)
		return rc;
	rc = add_names(path, err);
	if (!rc && (rc = copy_by_time(path, name, sizeof(name))))
		error_sys(err, rc, "%s", name);
	unlink(path);
	free(path);
	if (rc)
		return rc;
	snprintf(ret, size, "the last %s are in %s: 'ringtail report %s'",
		 put_span(covered_now(top), top->window_ms, span), name, name);
	return 0;
}

static int show(struct top *top, int *ret_signal)
{
	struct view_opts opts = {
		.title = top->title,
		.report = &top->o.report,
		.percent_limit = top->o.table.percent_limit,
		.load = load,
		.drop = drop,
		.arg = top,
		.refresh_ms = top->delay_ms,
		.describe = describe,
		.window = change_window,
		.save = save,
	};

	return show_view(&opts, ret_signal);
}

/* --- tables as text ------------------------------------------------------------------------------
 */

static int print_table(struct top *top, struct error *err)
{
	struct report *r = NULL;
	struct trace *t;
	int rc = load(top, NULL, &t, err);

	if (rc)
		return rc;
	rc = report_run(t, &top->o.report, &r, err);
	if (!rc) {
		top->o.table.width = terminal_width();
		rc = table_render(stdout, r, &top->o.table);
	}
	if (!rc)
		fputs("\n", stdout);
	report_free(r);
	drop(top, t);
	return fflush(stdout) == EOF ? -EPIPE : rc;
}

static sigset_t signals_of_end(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

/* Prints until a signal comes, or the recording ends. */
static int print_tables(struct top *top, int *ret_signal)
{
	struct error err = ERROR_INIT;
	struct signalfd_siginfo info;
	struct pollfd polled[2];
	sigset_t set = signals_of_end();
	int rc = 0;

	polled[0] = (struct pollfd){.fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN};
	polled[1] = (struct pollfd){.fd = hosted_ended(top->session), .events = POLLIN};
	while (!rc && !poll(polled, 2, (int)top->delay_ms))
		rc = print_table(top, &err);
	if (rc && rc != -ESHUTDOWN && rc != -EPIPE)
		complain("%s", err.text);
	if (polled[0].revents && read(polled[0].fd, &info, sizeof(info)) == sizeof(info) &&
	    info.ssi_signo != SIGINT)
		*ret_signal = (int)info.ssi_signo;
	close(polled[0].fd);
	return rc == -ESHUTDOWN ? 0 : rc;
}

/* --- the command ---------------------------------------------------------------------------------
 */

/* From here on the directory is there: a signal that ends the process waits until it is removed. */
static int start(struct top *top)
{
	struct error err = ERROR_INIT;
	sigset_t set = signals_of_end();
	int rc;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	rc = make_directory(top);
	if (rc < 0)
		return rc;
	top->record.opts.output.path = top->output;
	top->messages = (struct messages){.say = say, .arg = top};
	rc = hosted_start(&top->record.opts, &top->messages, &top->session, &err);
	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

/* Ends the process where a word is wrong. */
static void parse_words(struct top *top)
{
	const char *const fixed[] = {"-M",	  top->memory, "--switch-output", "-o", "data",
				     "--symbols", "none"};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		top->o.word[top->o.nr_words++] = (char *)(uintptr_t)fixed[i];
	record_options_parse(top->o.nr_words, top->o.word, &top->record);
}

static void warn_loss(const struct top *top)
{
	struct session_result r;
	char count[HUMAN_COUNT_SIZE];

	session_result(hosted_session(top->session), &r);
	if (r.loss->total)
		complain("%s sample%s lost", human_count(r.loss->total, count),
			 r.loss->total == 1 ? " was" : "s were");
}

static int run(struct top *top, int *ret_signal)
{
	struct error err = ERROR_INIT;
	int rc = start(top), ended;

	if (rc < 0)
		return rc;
	top->began_ns = clock_ns(CLOCK_MONOTONIC);
	measure_cost(top);
	set_state(top, true, !top->o.stdio);
	rc = top->o.stdio ? print_tables(top, ret_signal) : show(top, ret_signal);
	if (rc == VIEW_ABANDONED)
		return rc;
	ended = hosted_stop(top->session, &err);
	set_state(top, true, false);
	print_warnings(top);
	if (ended < 0)
		complain("%s", err.text);
	warn_loss(top);
	return rc ?: ended;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&top_perf_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.children = children,
		.doc = "Show where the machine spends its time now; ? shows the keys.",
	};
	struct top top = {
		.o = {.word = {(char *)(uintptr_t) "ringtail top"},
		      .nr_words = 1,
		      .report = {.max_stack = MAX_STACK, .inlined = true}},
		.memory = (char *)(uintptr_t) "64M",
		.delay_ms = DELAY_MS,
		.window_ms = WINDOW_MS,
		.commands = PTHREAD_MUTEX_INITIALIZER,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.title = "top",
	};
	int rc, number = 0;

	columns_parse_sort(&top.o.columns, "comm,dso,sym", NULL);
	top.o.columns.sorted = false;
	if (argp_parse(&argp, argc, argv, 0, NULL, &top))
		exit(EXIT_USAGE);
	top.o.report.graph = top.o.chains ? REPORT_GRAPH_CALLER : REPORT_GRAPH_NONE;
	parse_words(&top);
	top.pool = resolver_pool_new("");
	if (!top.pool) {
		complain("out of memory");
		exit(EXIT_FAILURE);
	}
	rc = run(&top, &number);
	if (top.directory[0]) {
		visit_files(&top, true, NULL, 0);
		rmdir(top.directory);
	}
	if (number || rc == VIEW_ABANDONED)
		show_end(rc, number);
	hosted_free(top.session);
	record_options_release(&top.record);
	columns_release(&top.o.columns);
	name_regex_release(&top.o.ignore_callees);
	resolver_pool_put(top.pool);
	return input_end(NULL, NULL, rc);
}
