// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32

struct pager {
	pid_t pid;    /* 0: none */
	int terminal; /* standard output before the pager */
};

static struct pager *the_pager(void)
{
	static struct pager pager;

	return &pager;
}

/* They end the process by default; a command that has handlers of its own has no pager. */
static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

const char *pager_command(void)
{
	const char *command = getenv("RINGTAIL_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	command += strspn(command, " \t");
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

bool pager_takes_colors(const char *command)
{
	const char *less = getenv("LESS");
	size_t len = strcspn(command, " \t");
	bool is_less = len >= 4 && !strncmp(command + len - 4, "less", 4) &&
		       (len == 4 || command[len - 5] == '/');

	return !is_less || !less || strpbrk(less, "rR") || strstr(command, "-R") ||
	       strstr(command, "-r");
}

/* Splits @command at blanks, or leaves it to a shell. @copy has room for it. */
static void make_words(const char *command, char *copy, const char *word[WORDS + 1])
{
	size_t nr = 0;
	char *rest = strcpy(copy, command), *w;

	if (!strpbrk(command, "|&;<>()$`\\\"'*?[#~=%!{}\n")) {
		while (nr < WORDS && (w = strsep(&rest, " \t")))
			if (*w)
				word[nr++] = w;
		word[nr] = NULL;
		return;
	}
	word[0] = "/bin/sh";
	word[1] = "-c";
	word[2] = command;
	word[3] = NULL;
}

static void wait_and_end(int number)
{
	int saved = errno;

	/* The end of its input, unless another thread writes just now: then that fails. */
	dup2(the_pager()->terminal, STDOUT_FILENO);
	while (waitpid(the_pager()->pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(number, SIG_DFL);
	raise(number);
	errno = saved;
}

static void watch_signals(bool on)
{
	struct sigaction before, new = {.sa_handler = on ? wait_and_end : SIG_DFL};

	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++) {
		sigaction(deadly[i], NULL, &before);
		if (before.sa_handler == (on ? SIG_DFL : wait_and_end))
			sigaction(deadly[i], &new, NULL);
	}
}

/* In the child: reads the pipe. Writes the errno of exec to @failed. */
static void __attribute__((noreturn)) become(const char *const *word, int in, int failed)
{
	sigset_t none;
	int rc;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(in, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execvp(word[0], (char *const *)(uintptr_t)word);
	rc = errno;
	if (write(failed, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits until the child has executed its program, or could not. Returns 0 or a negative errno. */
static int wait_for_exec(int failed)
{
	ssize_t n;
	int rc;

	do
		n = read(failed, &rc, sizeof(rc));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(rc) ? -rc : 0;
}

int pager_start(const char *command)
{
	const char *word[WORDS + 1];
	char *copy = malloc(strlen(command) + 1);
	int data[2] = {-1, -1}, failed[2] = {-1, -1}, rc = copy ? 0 : -ENOMEM;

	if (!rc && (pipe2(data, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)))
		rc = -errno;
	if (!rc) {
		make_words(command, copy, word);
		the_pager()->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		the_pager()->pid = the_pager()->terminal < 0 ? -1 : fork();
		if (!the_pager()->pid)
			become(word, data[0], failed[1]);
		rc = the_pager()->pid < 0 ? -errno : 0;
	}
	if (failed[1] >= 0)
		close(failed[1]);
	if (!rc)
		rc = wait_for_exec(failed[0]);
	if (rc && the_pager()->pid > 0)
		waitpid(the_pager()->pid, NULL, 0);
	if (rc)
		the_pager()->pid = 0;
	else if (dup2(data[1], STDOUT_FILENO) >= 0)
		watch_signals(true);
	for (size_t i = 0; i < 2; i++)
		if (data[i] >= 0)
			close(data[i]);
	if (failed[0] >= 0)
		close(failed[0]);
	free(copy);
	return rc;
}

bool pager_runs(void)
{
	return the_pager()->pid > 0;
}

int pager_end(void)
{
	int status = 0;

	if (!the_pager()->pid)
		return 0;
	dup2(the_pager()->terminal, STDOUT_FILENO);
	while (waitpid(the_pager()->pid, &status, 0) < 0 && errno == EINTR)
		;
	watch_signals(false);
	close(the_pager()->terminal);
	the_pager()->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
