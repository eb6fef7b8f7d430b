// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/cmd-doctor-trial.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/input/input.h"
#include "report/trial/advice.h"
#include "symbol/debuginfod/debuginfod.h"

#define RATE	 499u /* Hz; not in step with timers of programs */
#define DURATION "1s"

/* Appends @word as a shell takes it. */
static void quote(struct buf *to, const char *word)
{
	if (*word && !strpbrk(word, " \t\n'\"\\$`|&;<>()*?[]{}~#!")) {
		buf_printf(to, "%s", word);
		return;
	}
	buf_printf(to, "'");
	for (; *word; word++)
		buf_printf(to, *word == '\'' ? "'\\''" : "%c", *word);
	buf_printf(to, "'");
}

static int record_in_child(int (*record)(int argc, char **argv), const char *output, char **command)
{
	char events[sizeof(TRIAL_EVENTS) + 16];
	const char *const words[] = {"ringtail record",
				     "-q",
				     "--no-propagate-status",
				     "--duration",
				     DURATION,
				     "-e",
				     events,
				     "-o",
				     output,
				     "--"};
	const size_t nr = sizeof(words) / sizeof(*words);
	size_t given = 0;
	char **argv;

	snprintf(events, sizeof(events), TRIAL_EVENTS, RATE, RATE);
	while (command[given])
		given++;
	argv = calloc(nr + given + 1, sizeof(*argv));
	if (!argv || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return EXIT_ERROR;
	memcpy(argv, words, sizeof(words));
	memcpy(argv + nr, command, given * sizeof(*argv));
	return record((int)(nr + given), argv);
}

/*
 * Waits for one of @signals at a time, which are blocked. Ctrl-C ends the trial early: the child's
 * recording is complete then, too. A signal that is to end this process goes to the child, and
 * comes in *@ret_signal.
 */
static int wait_for_child(pid_t child, const sigset_t *signals, int *ret_signal)
{
	int status = 0, number;
	pid_t ended = 0;

	while (!ended) {
		number = sigwaitinfo(signals, NULL);
		if (number == SIGTERM || number == SIGHUP) {
			*ret_signal = number;
			kill(child, SIGTERM);
		}
		if (number == SIGCHLD)
			ended = waitpid(child, &status, WNOHANG);
	}
	if (ended < 0)
		return -errno;
	/* The child has said why. */
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* Sets *@ret_signal to the signal that the caller raises when it has cleaned up; else to 0. */
static int record_trial(int (*record)(int argc, char **argv), const char *output, char **command,
			int *ret_signal)
{
	static const int numbers[] = {SIGCHLD, SIGHUP, SIGINT, SIGTERM};
	struct sigaction action;
	sigset_t signals, before;
	pid_t child;
	int rc;

	*ret_signal = 0;
	fflush(stdout);
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		/* Who ignores one, as nohup(1) does, goes on doing so. */
		if (!sigaction(numbers[i], NULL, &action) &&
		    (numbers[i] == SIGCHLD || action.sa_handler != SIG_IGN))
			sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	child = fork();
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(record_in_child(record, output, command));
	}
	rc = child < 0 ? -errno : wait_for_child(child, &signals, ret_signal);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child < 0)
		complain("fork: %s", strerror(-rc));
	return rc;
}

static int judge(const char *path, char **command, struct doctor_report *ret)
{
	struct trace_opts opts = {.path = path};
	struct error err = ERROR_INIT;
	struct trial_facts facts;
	struct trace *t = NULL;
	struct buf line = {0};
	int rc = trace_open(&opts, &t, &err);

	if (!rc)
		rc = trace_prepare(t, &err);
	if (!rc && (rc = trace_want_lines(t)))
		error_sys(&err, rc, "%s", path);
	if (!rc)
		rc = trial_count(t, &facts, &err);
	if (!rc) {
		facts.fetches = debuginfod_is_built();
		for (size_t i = 0; command[i]; i++) {
			buf_printf(&line, "%s", i ? " " : "");
			quote(&line, command[i]);
		}
		buf_append(&line, "", 1);
		advice_give(&facts, line.len ? (const char *)line.data : "", ret);
	} else {
		complain("%s", err.text);
	}
	buf_release(&line);
	trace_close(t);
	return rc;
}

int doctor_try(int (*record)(int argc, char **argv), char **command, struct doctor_report *ret)
{
	const char *temporary = getenv("TMPDIR");
	char directory[PATH_MAX / 2], path[PATH_MAX / 2 + 16];
	int rc, number;

	snprintf(directory, sizeof(directory), "%s/ringtail-doctor.XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(directory)) {
		rc = -errno;
		complain("%s: %s", directory, strerror(-rc));
		return rc;
	}
	snprintf(path, sizeof(path), "%s/data", directory);
	rc = record_trial(record, path, command, &number);
	if (!rc && !number)
		rc = judge(path, command, ret);
	unlink(path);
	rmdir(directory);
	if (number)
		raise(number);
	return rc;
}
