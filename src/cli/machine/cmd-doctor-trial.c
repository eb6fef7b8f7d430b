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

/* Ctrl-C ends the trial early: the child's recording is complete then, too. */
static int wait_for_child(pid_t child)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
	int status = 0, rc;

	sigaction(SIGINT, &ignored, &before);
	do
		rc = waitpid(child, &status, 0) < 0 ? -errno : 0;
	while (rc == -EINTR);
	sigaction(SIGINT, &before, NULL);
	/* The child has said why. */
	return rc ?: WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int record_trial(int (*record)(int argc, char **argv), const char *output, char **command)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(record_in_child(record, output, command));
	if (child < 0) {
		complain("fork: %s", strerror(errno));
		return -errno;
	}
	return wait_for_child(child);
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
	int rc;

	snprintf(directory, sizeof(directory), "%s/ringtail-doctor.XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(directory)) {
		rc = -errno;
		complain("%s: %s", directory, strerror(-rc));
		return rc;
	}
	snprintf(path, sizeof(path), "%s/data", directory);
	rc = record_trial(record, path, command);
	if (!rc)
		rc = judge(path, command, ret);
	unlink(path);
	rmdir(directory);
	return rc;
}
