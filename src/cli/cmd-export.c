// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "export/chrome/chrome.h"
#include "export/folded/folded.h"
#include "export/pprof/pprof.h"
#include "export/speedscope/speedscope.h"

#define MAX_STACK 127

static const struct export_format *const formats[] = {
	&export_folded,
	&export_speedscope,
	&export_pprof,
	&export_chrome,
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

struct export_args {
	struct input input;
	struct export_opts export;
	const struct export_format *format;
	const char *path; /* of the output; NULL: standard output */
};

enum {
	OPT_TO = 0x7000,
	OPT_MAX_STACK,
	OPT_VALUE,
};

static const struct argp_option options[] = {
	{"to", OPT_TO, "FORMAT", 0, "The format: folded, speedscope, pprof or chrome",
	 HELP_MOST_USED},
	{"output", 'o', "FILE", 0, "Write to FILE; - is standard output (the default)",
	 HELP_MOST_USED},
	{"event", 'e', "NAME", 0, "of this event", HELP_SAMPLES},
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

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_args *a = state->input;
	uint64_t n;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case OPT_TO: take_format(state, a, arg); break;
	case 'o': a->path = strcmp(arg, "-") ? arg : NULL; break;
	case 'e': a->export.event = arg; break;
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
	if (!a->format->one_event || a->export.event || !first || !sampled_event(t, first))
		return 0;
	a->export.event = first->name;
	if (!a->input.quiet)
		complain("%s: only the samples of %s are exported; -e chooses another event",
			 t->opts.path, first->name);
	return 0;
}

static bool is_same_file(const char *path, const struct stat *st)
{
	struct stat other;

	return !stat(path, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Whether the output would replace the recording, or a part of its directory. */
static bool is_in_recording(const struct export_args *a)
{
	char path[PATH_MAX];
	struct stat st;

	if (stat(a->input.trace.path, &st))
		return false;
	if (!S_ISDIR(st.st_mode))
		return is_same_file(a->path, &st);
	snprintf(path, sizeof(path), "%s", a->path);
	return is_same_file(dirname(path), &st);
}

/* Opens the output. Returns NULL after a message. */
static FILE *open_output(const struct export_args *a)
{
	FILE *f;
	int fd;

	if (!a->path)
		return stdout;
	if (is_in_recording(a)) {
		complain("%s: the output is the recording itself", a->path);
		return NULL;
	}
	fd = open(a->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd < 0 && errno == ELOOP) {
		complain("%s is a symbolic link: name the file itself, or - for standard output",
			 a->path);
	} else if (!f) {
		complain("%s: %s", a->path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return f;
}

/* A part of an export would look like all of it. */
static void remove_output(const struct export_args *a)
{
	struct stat st;

	if (a->path && !lstat(a->path, &st) && S_ISREG(st.st_mode))
		unlink(a->path);
}

static int close_output(const struct export_args *a, FILE *f, int rc)
{
	if (f != stdout && fclose(f) && !rc) {
		rc = -errno;
		complain("%s: %s", a->path, strerror(errno));
	}
	if (rc < 0)
		remove_output(a);
	return rc;
}

static int write_all(struct export_args *a, struct trace *t, FILE *f)
{
	struct out out = {.f = f};
	struct error err = ERROR_INIT;
	uint64_t samples;
	int rc;

	if (isatty(fileno(f)))
		a->input.progress.enabled = false; /* lines would run into the bar */
	rc = export_run(t, a->format, &a->export, &out, &samples, &err);
	out_release(&out);
	input_progress_end(&a->input);
	if (out.rc && (out.rc != -EPIPE || a->path))
		complain("cannot write to %s: %s", a->path ? a->path : "standard output",
			 strerror(-out.rc));
	else if (rc < 0 && !out.rc)
		complain("%s", err.text);
	if (!rc && !samples)
		input_explain_nothing(&a->input, t);
	return rc;
}

static int export(struct export_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = filter_check(&a->input.filter, t->evlist, &err);
	FILE *f;

	if (rc < 0)
		complain("%s", err.text);
	else
		rc = input_prepare(&a->input, t);
	a->export.filter = a->input.filter; /* with the times of --time's parts */
	if (!rc)
		rc = settle_event(a, t);
	if (rc < 0)
		return rc;
	f = open_output(a);
	if (!f)
		return -EIO;
	rc = close_output(a, f, write_all(a, t, f));
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
	struct export_args a = {.export = {.max_stack = MAX_STACK}};
	struct itrace_opts itrace;
	struct trace *t = NULL;
	int rc, status;

	input_init(&a.input);
	itrace_opts_all(&itrace);
	input_itrace_default(&a.input, &itrace);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	if (a.export.max_stack < a.input.itrace.chain_max)
		a.export.max_stack = a.input.itrace.chain_max;
	a.export.inlined = !a.input.no_inline;
	rc = input_open(&a.input, &t);
	if (!rc)
		rc = export(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	return status;
}
