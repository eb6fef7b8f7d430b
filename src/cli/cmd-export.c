// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/cmd-export-file.h"
#include "cli/cmd-report-waits.h"
#include "cli/commands.h"
#include "cli/input/command.h"
#include "export/chrome/chrome.h"
#include "export/firefox/firefox.h"
#include "export/folded/folded.h"
#include "export/otlp/otlp.h"
#include "export/parquet/parquet.h"
#include "export/perfetto/perfetto.h"
#include "export/pprof/pprof.h"
#include "export/speedscope/speedscope.h"

#define MAX_STACK 127

static const struct export_format *const formats[] = {
	&export_folded, &export_speedscope, &export_pprof,   &export_otlp,
	&export_chrome, &export_perfetto,   &export_firefox, &export_parquet,
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

struct export_args {
	struct input input;
	struct export_opts export;
	const struct export_format *format;
	struct waits_args waits;
	const char *path; /* of the output; NULL: standard output */
	int folder;	  /* for a format with several files: the directory at @path */
	bool is_new;	  /* the directory */
	FILE *file[EXPORT_FILES];
	size_t nr_files; /* that are open */
};

enum {
	OPT_TO = 0x7000,
	OPT_MAX_STACK,
	OPT_VALUE,
	OPT_OFF_CPU,
	OPT_WALL,
};

static const struct argp_option options[] = {
	{"to", OPT_TO, "folded|speedscope|pprof|otlp|chrome|perfetto|firefox|parquet", 0,
	 "The format of the output", HELP_MOST_USED},
	{"output", 'o', "FILE", 0,
	 "Write to FILE; - is standard output (the default); parquet: a directory", HELP_MOST_USED},
	{"event", 'e', "NAME", 0, "of this event", HELP_SAMPLES},
	{"off-cpu", OPT_OFF_CPU, NULL, 0,
	 "Export waits of threads instead of samples (needs 'record --off-cpu')", HELP_OUTPUT},
	{"wall", OPT_WALL, NULL, 0,
	 "As --off-cpu, with the samples of what ran: all time of all threads", HELP_OUTPUT},
	{"max-stack", OPT_MAX_STACK, "N", 0, "Export N frames of a chain (default 127)",
	 HELP_OUTPUT},
	{"value", OPT_VALUE, "samples|period", 0,
	 "folded: the number behind a stack (default samples)", HELP_OUTPUT},
	{0},
};

static void take_format(struct argp_state *state, struct export_args *a, const char *name)
{
	char list[256] = "";
	size_t n = 0;

	a->format = NULL;
	for (size_t i = 0; i < NR_FORMATS; i++) {
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "",
				      formats[i]->name);
		if (name && !strcmp(formats[i]->name, name))
			a->format = formats[i];
	}
	if (a->format)
		return;
	if (name)
		usage_error(state, "--to: there is no format '%s'; there are %s", name, list);
	usage_error(state, "--to FORMAT is missing; formats are %s", list);
}

static void take_value(struct argp_state *state, struct export_args *a, const char *word)
{
	a->export.periods = !strcmp(word, "period");
	if (!a->export.periods && strcmp(word, "samples") != 0)
		usage_error(state, "--value: '%s' is neither samples nor period", word);
}

/* The number behind the stack of a wait is its time. */
static void settle_waits(struct argp_state *state, struct export_args *a)
{
	const char *name = a->waits.opts.wall ? "--wall" : "--off-cpu";

	if (!waits_wanted(&a->waits))
		return;
	if (!a->format->waits)
		usage_error(
			state,
			"%s: %s has no place for waits; folded, speedscope, pprof and otlp have",
			name, a->format->name);
	if (a->export.event)
		usage_error(state, "%s shows the time of threads, -e an event: choose one", name);
	a->export.periods = true;
	a->export.waits = &a->waits.opts;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_args *a = state->input;
	uint64_t n;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case OPT_TO: take_format(state, a, arg); break;
	case 'o': a->path = strcmp(arg, "-") ? arg : NULL; break;
	case 'e': a->export.event = arg; break;
	case OPT_OFF_CPU: a->waits.off_cpu = true; break;
	case OPT_WALL: a->waits.opts.wall = true; break;
	case OPT_VALUE: take_value(state, a, arg); break;
	case OPT_MAX_STACK:
		if (parse_u64(arg, &n) < 0 || n > FRAMES_MAX)
			usage_error(state, "--max-stack: '%s' is no number from 0 to %d", arg,
				    FRAMES_MAX);
		a->export.max_stack = n;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "too many arguments: ringtail exports one recording");
		a->input.trace.path = arg;
		break;
	case ARGP_KEY_END:
		take_format(state, a, a->format ? a->format->name : NULL);
		settle_waits(state, a);
		if (a->format->files && !a->path)
			usage_error(state, "%s is a directory of files: give -o DIRECTORY",
				    a->format->name);
		if (a->format->binary && !a->path && isatty(STDOUT_FILENO))
			usage_error(state, "%s is no text for a terminal: give -o FILE",
				    a->format->name);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Returns an event that has samples, other than @but; NULL: there is none. */
static const struct pd_evsel *sampled_event(const struct trace *t, const struct pd_evsel *but)
{
	for (size_t i = 0; i < t->counts.nr_events && i < pd_evlist_count(t->evlist); i++)
		if (t->counts.by_event[i].samples && pd_evlist_at(t->evlist, i) != but)
			return pd_evlist_at(t->evlist, i);
	return NULL;
}

/* Checks -e, and chooses an event for a format that has one. */
static int settle_event(struct export_args *a, const struct trace *t)
{
	const struct pd_evsel *first = sampled_event(t, NULL);
	bool known = !a->export.event;

	for (size_t i = 0; !known && i < pd_evlist_count(t->evlist); i++)
		known = !strcmp(pd_evlist_at(t->evlist, i)->name, a->export.event);
	if (!known) {
		complain("-e: the recording has no event '%s'", a->export.event);
		return -EINVAL;
	}
	if (!a->format->one_event || a->export.waits || a->export.event || !first ||
	    !sampled_event(t, first))
		return 0;
	a->export.event = first->name;
	if (!a->input.quiet)
		complain("%s: only the samples of %s are exported; -e chooses another event",
			 t->opts.path, first->name);
	return 0;
}

/* Makes the directory for a format with several files. Returns 0, or -EIO after a message. */
static int open_folder(struct export_args *a)
{
	if (export_file_is_recording(a->input.trace.path, a->path))
		return -EIO;
	a->is_new = !mkdir(a->path, 0700);
	if (a->is_new || errno == EEXIST)
		a->folder = open(a->path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->folder < 0)
		complain("%s: %s", a->path, strerror(errno));
	return a->folder < 0 ? -EIO : 0;
}

/* Opens an output, below the directory if there is one. Returns 0, or -EIO after a message. */
static int open_file(struct export_args *a, const char *path, const char *name)
{
	FILE *f = export_file_open(a->input.trace.path, path, a->folder < 0 ? AT_FDCWD : a->folder,
				   name);

	a->file[a->nr_files] = f;
	a->nr_files += f != NULL;
	return f ? 0 : -EIO;
}

/* Opens all outputs. The caller closes them in either case. Returns as open_file(). */
static int open_output(struct export_args *a)
{
	const char *const *names = a->format->files;
	int rc = names ? open_folder(a) : 0;

	if (!names && a->path)
		return open_file(a, a->path, a->path);
	if (!names)
		a->file[a->nr_files++] = stdout;
	for (; names && !rc && *names; names++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", a->path, *names);
		rc = open_file(a, path, *names);
	}
	return rc;
}

static void remove_output(const struct export_args *a)
{
	int at = a->folder < 0 ? AT_FDCWD : a->folder;

	for (size_t i = 0; i < a->nr_files; i++) {
		const char *name = a->format->files ? a->format->files[i] : a->path;

		if (name)
			export_file_remove(at, name);
	}
	if (a->is_new)
		rmdir(a->path);
}

static int close_output(struct export_args *a, int rc)
{
	for (size_t i = 0; i < a->nr_files; i++) {
		if (a->file[i] == stdout || !fclose(a->file[i]) || rc)
			continue;
		rc = -errno;
		complain("%s: %s", a->path, strerror(errno));
	}
	if (rc < 0)
		remove_output(a);
	if (a->folder >= 0)
		close(a->folder);
	return rc;
}

static int write_all(struct export_args *a, struct trace *t)
{
	struct out out[EXPORT_FILES] = {0};
	struct error err = ERROR_INIT;
	uint64_t samples;
	int rc, out_rc = 0;

	for (size_t i = 0; i < a->nr_files; i++) {
		out[i].f = a->file[i];
		if (isatty(fileno(a->file[i])))
			a->input.progress.enabled = false; /* lines would run into the bar */
	}
	rc = export_run(t, a->format, &a->export, out, &samples, &err);
	for (size_t i = 0; i < a->nr_files; i++) {
		out_rc = out_rc ?: out[i].rc;
		out_release(&out[i]);
	}
	input_progress_end(&a->input);
	if (out_rc && (out_rc != -EPIPE || a->path))
		complain("cannot write to %s: %s", a->path ? a->path : "standard output",
			 strerror(-out_rc));
	else if (rc < 0 && !out_rc)
		complain("%s", err.text);
	if (!rc && !samples)
		input_explain_nothing(&a->input, t);
	return rc;
}

static int export(void *args, struct trace *t)
{
	struct export_args *a = args;
	int rc = command_prepare(&a->input, t);

	a->export.filter = a->input.filter; /* with the times of --time's parts */
	if (!rc)
		rc = settle_event(a, t);
	if (rc < 0)
		return rc;
	rc = open_output(a);
	rc = close_output(a, rc ?: write_all(a, t));
	input_explain_symbols(&a->input, t);
	input_explain_stacks(&a->input, t);
	return rc;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Write the samples of a recording in the format of another tool.",
		.children = children,
	};
	struct export_args a = {.export = {.max_stack = MAX_STACK}, .folder = -1};
	struct itrace_opts itrace;

	input_init(&a.input);
	itrace_opts_all(&itrace);
	input_itrace_default(&a.input, &itrace);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	if (a.export.max_stack < a.input.itrace.chain_max)
		a.export.max_stack = a.input.itrace.chain_max;
	a.export.inlined = !a.input.no_inline;
	return command_run(&a.input, export, &a);
}
