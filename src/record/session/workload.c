// SPDX-License-Identifier: Apache-2.0
#include "record/session/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit status of a child whose exec failed, by the convention of shells. */
static int exec_status(int error)
{
	return error == ENOENT ? 127 : 126;
}

/* Code of the child: waits for the byte, then becomes the command. Only async-signal-safe calls. */
static void run_child(int go, int failed, const char *const *argv,
		      const struct workload_setting *setting)
{
	sigset_t none;
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
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, setting->mask ? setting->mask : &none, NULL);
	execvpe(argv[0], (char *const *)(uintptr_t)argv,
		setting->environment ? setting->environment : environ);
	error = errno;
	n = write(failed, &error, sizeof(error));
	_exit(exec_status(error));
}

/* Depth of scripts whose interpreter is a script: as the kernel's limit (fs/exec.c). */
#define INTERPRETERS_MAX 5

/*
 * Reads the interpreter from the first line of the script @path. Returns false for other files, and
 * for those that may be run but not read.
 */
static bool script_interpreter(const char *path, char ret[PATH_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char line[PATH_MAX] = "";
	size_t start, len;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n < 2 || strncmp(line, "#!", 2))
		return false;
	start = 2 + strspn(line + 2, " \t");
	len = strcspn(line + start, " \t\n");
	memcpy(ret, line + start, len);
	ret[len] = '\0';
	return len;
}

/*
 * Returns 0 for a file that may be executed, -ENOENT or -EACCES. A directory has execute
 * permission, too, but is none. A script whose interpreter is missing is -ENOENT, as in exec, with
 * the interpreter's path in @interpreter, which is empty otherwise.
 */
static int executable(const char *path, char interpreter[PATH_MAX])
{
	struct stat st;

	interpreter[0] = '\0';
	for (int i = 0; i < INTERPRETERS_MAX; i++) {
		if (stat(i ? interpreter : path, &st))
			return errno == EACCES ? -EACCES : -ENOENT;
		if (!S_ISREG(st.st_mode) || access(i ? interpreter : path, X_OK))
			return -EACCES;
		if (!script_interpreter(i ? interpreter : path, interpreter))
			break;
	}
	interpreter[0] = '\0';
	return 0;
}

/* executable() for the directories of PATH; the last path tried is in @path. */
static int find_in_path(const char *name, char path[PATH_MAX], char interpreter[PATH_MAX])
{
	const char *dirs = getenv("PATH"), *end;
	char missing[PATH_MAX];
	int rc = -ENOENT, one;

	for (dirs = dirs ? dirs : "/bin:/usr/bin"; rc && dirs; dirs = *end ? end + 1 : NULL) {
		end = strchrnul(dirs, ':');
		snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dirs), dirs,
			 end == dirs ? "" : "/", name);
		one = executable(path, missing);
		if (one != -ENOENT)
			rc = one;
		if (missing[0])
			strcpy(interpreter, missing);
	}
	return rc;
}

int workload_find(const char *name, struct error *err)
{
	char path[PATH_MAX], interpreter[PATH_MAX] = "";
	int rc = strchr(name, '/') ? executable(name, interpreter)
				   : find_in_path(name, path, interpreter);

	if (!rc)
		return 0;
	if (interpreter[0])
		return error_set(err, rc, "%s: is a script for %s, which %s", name, interpreter,
				 rc == -ENOENT ? "does not exist" : "cannot be run");
	if (rc == -ENOENT)
		return error_set(err, rc, "%s: no such command", name);
	return error_sys(err, rc, "%s: cannot run it", name);
}

bool workload_changes_user(const char *name)
{
	char path[PATH_MAX], interpreter[PATH_MAX];
	struct stat st;

	if (!strchr(name, '/')) {
		if (find_in_path(name, path, interpreter))
			return false;
		name = path;
	}
	return !stat(name, &st) &&
	       ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
		(st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid()));
}

int workload_prepare(struct workload *w, const char *const *argv,
		     const struct workload_setting *setting, struct error *err)
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
		if (setting->to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		run_child(go[0], failed[1], argv, setting);
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

int workload_signal(const struct workload *w)
{
	return w->reaped && WIFSIGNALED(w->status) ? WTERMSIG(w->status) : 0;
}

void workload_release(struct workload *w)
{
	if (!w->pid)
		return;
	if (w->go >= 0) {
		close(w->go); /* the child reads the end and exits */
		waitpid(w->pid, &w->status, 0);
	}
	if (w->failed >= 0)
		close(w->failed);
	if (w->ended_fd >= 0)
		close(w->ended_fd);
	*w = (struct workload){0};
}
