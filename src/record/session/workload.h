/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that a recording runs.
 *
 * It is forked early, so that events can be opened for its pid, then held until it may exec, and
 * reaped at the end. One thread. An all-zero struct has no command; workload_release() accepts it.
 */
#ifndef RINGTAIL_RECORD_SESSION_WORKLOAD_H
#define RINGTAIL_RECORD_SESSION_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct workload {
	pid_t pid;    /* 0: none */
	int go;	      /* written to when it may exec; -1 afterwards */
	int failed;   /* carries errno when exec fails; closed by a successful one */
	int ended_fd; /* pidfd: readable when it has ended */
	bool reaped;
	int status; /* as of waitpid(), when reaped */
};

/*
 * Checks that there is a program @name to run, in PATH as exec searches it. Call it before anything
 * is opened: an earlier recording then survives a misspelt command, or a script without its
 * interpreter. Returns 0, or -ENOENT or -EACCES with @err filled.
 */
int workload_find(const char *name, struct error *err);

/*
 * Returns whether the program @name, found likewise, runs as its owner (setuid, setgid), not as
 * this user.
 */
bool workload_changes_user(const char *name);

/* What the command starts with. */
struct workload_setting {
	const sigset_t *mask;	  /* signals that it has blocked; NULL: none */
	char *const *environment; /* NULL: ours */
	bool to_stderr;		  /* its output goes there, since standard output is ours */
};

/*
 * Forks; the child waits for workload_start() and then runs @argv. The child dies with us if we end
 * before. SIGCHLD must not be ignored, else there is no exit status. Returns 0 or a negative errno.
 */
int workload_prepare(struct workload *w, const char *const *argv,
		     const struct workload_setting *setting, struct error *err);

/*
 * Lets it exec. Returns 0 when that succeeded; the negative errno of exec with @err filled when not
 * (-ENOENT: no such command).
 */
int workload_start(struct workload *w, const char *name, struct error *err);

/* Reaps it if it has ended. Returns whether it has. */
bool workload_ended(struct workload *w);

/* Ends it by SIGTERM if it still runs, and waits for at most @wait_ms. Returns workload_ended(). */
bool workload_stop(struct workload *w, int wait_ms);

/* Exit status as a shell has it: 128 + n for signal n. */
int workload_exit_status(const struct workload *w);

/* The signal that has ended it; 0: none. */
int workload_signal(const struct workload *w);

/* Closes descriptors; a command that was never let go is killed. */
void workload_release(struct workload *w);

#endif
