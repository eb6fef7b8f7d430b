// SPDX-License-Identifier: Apache-2.0
#include "record/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit status of a child whose exec failed, as shells have it. */
static int exec_status(int error)
{
	return error == ENOENT ? 127 : 126;
}

/* In the child: waits for the word, then becomes the command. Only async-signal-safe calls. */
static void run_child(int go, int failed, const char *const *argv, const sigset_t *mask)
{
	ssize_t n;
	int error;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	do {
		n = read(go, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	error = errno;
	n = write(failed, &error, sizeof(error));
	_exit(exec_status(error));
}

/* 0 for a file that may be executed; -ENOENT; -EACCES. A directory has execute permission, too. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -ENOENT;
	return !S_ISREG(st.st_mode) || access(path, X_OK) ? -EACCES : 0;
}

int workload_find(const char *name, struct error *err)
{
	const char *dirs = getenv("PATH"), *end;
	int code = -ENOENT, one;
	char path[PATH_MAX];

	if (strchr(name, '/')) {
		code = executable(name);
	} else {
		for (dirs = dirs ? dirs : "/bin:/usr/bin"; code && dirs;
		     dirs = *end ? end + 1 : NULL) {
			end = strchrnul(dirs, ':');
			snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dirs), dirs,
				 end == dirs ? "" : "/", name);
			one = executable(path);
			if (one != -ENOENT)
				code = one;
		}
	}
	if (code == -ENOENT)
		return error_set(err, code, "%s: no such command", name);
	return code ? error_sys(err, code, "%s: cannot run it", name) : 0;
}

int workload_prepare(struct workload *w, const char *const *argv, const sigset_t *mask,
		     struct error *err)
{
	int go[2], failed[2], code;

	if (pipe2(go, O_CLOEXEC) < 0)
		return error_sys(err, -errno, "pipe");
	if (pipe2(failed, O_CLOEXEC) < 0) {
		code = error_sys(err, -errno, "pipe");
		close(go[0]);
		close(go[1]);
		return code;
	}
	*w = (struct workload){.go = go[1], .failed = failed[0], .ended_fd = -1};
	w->pid = fork();
	if (w->pid == 0) {
		close(go[1]);
		close(failed[0]);
		run_child(go[0], failed[1], argv, mask);
	}
	code = w->pid < 0 ? -errno : 0;
	close(go[0]);
	close(failed[1]);
	if (code) {
		w->pid = 0;
		close(go[1]);
		close(failed[0]);
		return error_sys(err, code, "fork");
	}
	w->ended_fd = pidfd_open(w->pid, 0);
	return w->ended_fd < 0 ? error_sys(err, -errno, "pidfd_open") : 0;
}

int workload_start(struct workload *w, const char *name, struct error *err)
{
	ssize_t n = write(w->go, "", 1);
	int error = 0;

	close(w->go);
	w->go = -1;
	if (n == 1) {
		do {
			n = read(w->failed, &error, sizeof(error));
		} while (n < 0 && errno == EINTR);
	}
	close(w->failed);
	w->failed = -1;
	if (n == 0)
		return 0;
	if (n != sizeof(error))
		error = ESRCH;
	workload_stop(w, 1000);
	if (error == ENOENT)
		return error_set(err, -ENOENT, "%s: no such command", name);
	return error_sys(err, -error, "%s: cannot run it", name);
}

bool workload_ended(struct workload *w)
{
	if (w->pid && !w->reaped && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->reaped = true;
	return !w->pid || w->reaped;
}

bool workload_stop(struct workload *w, int wait_ms)
{
	struct pollfd p = {.fd = w->ended_fd, .events = POLLIN};

	if (workload_ended(w))
		return true;
	kill(w->pid, SIGTERM);
	poll(&p, 1, wait_ms);
	return workload_ended(w);
}

int workload_exit_status(const struct workload *w)
{
	if (!w->reaped)
		return 0;
	return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

void workload_release(struct workload *w)
{
	if (!w->pid)
		return;
	if (w->go >= 0) {
		close(w->go); /* it reads the end and exits */
		waitpid(w->pid, &w->status, 0);
	}
	if (w->failed >= 0)
		close(w->failed);
	if (w->ended_fd >= 0)
		close(w->ended_fd);
	*w = (struct workload){0};
}
