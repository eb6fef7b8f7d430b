// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-record-process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* SIGHUP comes from a terminal that closes. If nohup ignores it, blocking it would make it pending.
 */
static void add_ends(sigset_t *set)
{
	struct sigaction hangup;

	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

static sigset_t blocked_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_ends(&set);
	sigaddset(&set, SIGUSR2);
	/* Then a write fails with an error instead. */
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	return set;
}

static int open_signals(const sigset_t *set, int *ret, struct error *err)
{
	*ret = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret < 0 ? error_sys(err, -errno, "signalfd") : 0;
}

/*
 * The recorded load competes with the recorder for CPUs, and its many threads would win. So the
 * recorder raises its priority if it may. The command is already forked and keeps its own.
 */
static void raise_priority(void *process)
{
	struct record_process *p = process;

	errno = 0;
	p->nice_before = getpriority(PRIO_PROCESS, 0);
	p->raised = !errno && p->nice_before > RECORD_NICE &&
		    !setpriority(PRIO_PROCESS, 0, RECORD_NICE);
}

/* From now on ^C ends the process, also where a script that started it had SIGINT ignored. */
static void let_signals_end(void *process)
{
	const struct sigaction end = {.sa_handler = SIG_DFL};
	sigset_t ends;

	sigemptyset(&ends);
	add_ends(&ends);
	sigaction(SIGINT, &end, NULL);
	pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
}

/* A parent that ends during the call sends no signal: the process has another one then. */
static void end_with_parent(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
}

int record_process_enter(struct record_process *p, bool command, bool with_parent,
			 struct error *err)
{
	const struct sigaction wait = {.sa_handler = SIG_DFL};
	sigset_t blocked = blocked_signals(), ends, request;
	int rc;

	*p = (struct record_process){.host = SESSION_HOST_INIT, .notify = NOTIFY_INIT};
	sigemptyset(&ends);
	add_ends(&ends);
	sigemptyset(&request);
	sigaddset(&request, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &blocked, &p->mask_before);
	if (with_parent)
		end_with_parent();
	/* If the parent process ignored SIGCHLD, the child would leave no exit status. */
	p->child_changed = command && !sigaction(SIGCHLD, &wait, &p->child_before);
	notify_open(&p->notify);
	p->environment = notify_environment();
	if (!p->environment)
		return error_set(err, -ENOMEM, "out of memory");
	rc = open_signals(&ends, &p->host.stop, err);
	if (!rc)
		rc = open_signals(&request, &p->host.request, err);
	p->host.notify = &p->notify;
	p->host.command_mask = &p->mask_before;
	p->host.command_environment = p->environment;
	p->host.starting = raise_priority;
	p->host.slow_output = let_signals_end;
	p->host.arg = p;
	return rc;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void record_process_leave(struct record_process *p)
{
	close_fd(p->host.request);
	close_fd(p->host.stop);
	notify_close(&p->notify);
	free(p->environment);
	if (p->raised)
		setpriority(PRIO_PROCESS, 0, p->nice_before);
	if (p->child_changed)
		sigaction(SIGCHLD, &p->child_before, NULL);
	*p = (struct record_process){.host = SESSION_HOST_INIT, .notify = NOTIFY_INIT};
}
