// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a recorder and says what it cost: CPU time and peak memory of it and of what it waited for.
 *
 * usage: usage FILE COMMAND [ARG...]
 *
 * SIGINT and SIGTERM are handed on to the command. When it has ended, FILE gets one line:
 * user seconds, system seconds, peak memory in KB, exit status (128 + N after a signal). A shell or
 * a script would not do as well: the peak of a process begins at that of the one that forked it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void hand_on(int signal)
{
	if (child)
		kill(child, signal);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int say(const char *path, const struct rusage *u, int status)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return 1;
	}
	fprintf(f, "%.6f %.6f %ld %d\n", seconds(u->ru_utime), seconds(u->ru_stime), u->ru_maxrss,
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: usage FILE COMMAND [ARG...]\n");
		return 2;
	}
	pid = fork();
	if (pid < 0) {
		perror("usage: fork");
		return 1;
	}
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	child = pid;
	signal(SIGINT, hand_on);
	signal(SIGTERM, hand_on);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return 1;
	return say(argv[1], &usage, status);
}
