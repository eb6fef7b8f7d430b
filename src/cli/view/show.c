// SPDX-License-Identifier: Apache-2.0
#include "cli/view/show.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "view/screen/screen.h"

bool show_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && screen_can_draw(term);
}

void show_check(const struct argp_state *state)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		usage_error(state,
			    "a view needs a terminal; 'ringtail report --stdio' prints a table");
	if (!show_is_possible())
		usage_error(state,
			    "the terminal (TERM=%s) cannot move its cursor; 'ringtail report "
			    "--stdio' prints a table",
			    getenv("TERM") ?: "");
}

static sigset_t signals_of_view(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCONT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&set, numbers[i]);
	return set;
}

/* ^Z: what stops the process cannot be blocked; SIGCONT, which ends it, only wakes the view. */
static void suspend(void *arg)
{
	(void)arg;
	kill(getpid(), SIGSTOP);
}

static void end_by(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	signal(number, SIG_DFL);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void show_end(int rc, int signal_number)
{
	if (signal_number)
		end_by(signal_number);
	if (rc == VIEW_ABANDONED)
		_exit(EXIT_FINE); /* a thread waits for a server or a disk */
}

int show_view(struct view_opts *opts, int *ret_signal)
{
	const char *no_color = getenv("NO_COLOR");
	sigset_t set = signals_of_view(), before;
	struct error err = ERROR_INIT;
	int rc;

	*ret_signal = 0;
	setlocale(LC_CTYPE, "");
	fflush(stdout);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	opts->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (opts->signals < 0) {
		rc = -errno;
		complain("signalfd: %s", strerror(errno));
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		return rc;
	}
	opts->suspend = suspend;
	opts->color = !no_color || !*no_color;
	rc = view_run(opts, ret_signal, &err);
	close(opts->signals);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

struct file_view {
	struct input *in;
	struct trace *trace;
	struct report_opts opts; /* with the times of --time's parts */
	bool loaded;
	struct waits_counts
		*waits; /* where the first table's go; NULL: nowhere, or they are there */
};

static int load(void *arg, struct view_job *j, struct trace **ret, struct error *err)
{
	struct file_view *f = arg;
	struct trace *t = f->trace;
	struct filter *filter = &f->in->filter;
	int rc;

	job_watch(j, t);
	rc = trace_prepare(t, err);
	if (rc < 0)
		return rc;
	rc = input_choose(f->in, t, err);
	if (rc < 0)
		return rc;
	j->opts.filter = *filter;
	f->opts.filter = *filter;
	f->loaded = true;
	*ret = t;
	return 0;
}

/* The first table has all samples; later ones those of a selection. */
static void take_waits(void *arg, const struct report *r)
{
	struct file_view *f = arg;

	if (f->waits)
		*f->waits = r->waits;
	f->waits = NULL;
}

int show_recording(struct input *in, struct trace *t, const struct report_opts *report,
		   const struct table_opts *table, struct waits_counts *ret_waits)
{
	struct file_view f = {.in = in, .trace = t, .opts = *report, .waits = ret_waits};
	char path[PATH_MAX];
	int rc, number;
	struct view_opts opts = {
		.report = &f.opts,
		.percent_limit = table->percent_limit,
		.relative = report->relative,
		.load = load,
		.counted = take_waits,
		.arg = &f,
	};

	/* The view counts relative to what it shows by itself. */
	f.opts.relative = false;
	snprintf(path, sizeof(path), "%s", t->opts.path);
	opts.title = basename(path);
	t->digest = DIGEST_NONE; /* the strip needs the times of samples */
	rc = show_view(&opts, &number);
	show_end(rc, number);
	input_explain_time(in, t);
	if (f.loaded)
		input_explain_symbols(in, t);
	return rc;
}
