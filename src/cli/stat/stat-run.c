// SPDX-License-Identifier: Apache-2.0
#include "cli/stat/stat-run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "record/session/workload.h"
#include "sys/io/timer.h"

/* Time that a command has to end after a signal or --timeout, in ms. */
#define END_MS 2000

enum { WAIT_STOP, WAIT_TIMEOUT, WAIT_DELAY, WAIT_INTERVAL, WAIT_COMMAND, WAIT_TASKS };

/* One run, while it lasts. */
struct round {
	struct stat_run *run;
	struct workload workload;
	struct pollfd *waits; /* WAIT_*, then a pidfd for each task's process */
	size_t nr_waits, tasks_left;
	uint64_t started, read_at; /* ns */
};

int stat_run_init(struct stat_run *run, struct stat_command *cmd, struct error *err)
{
	struct sigaction hangup;
	sigset_t ends;

	*run = (struct stat_run){.cmd = cmd, .stop = -1};
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &run->mask_before);
	run->stop = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->stop < 0 ? error_sys(err, -errno, "signalfd") : 0;
}

void stat_run_release(struct stat_run *run)
{
	if (run->stop >= 0)
		close(run->stop);
	count_table_release(&run->table);
	counters_close(run->counters);
}

static int start_timer(struct pollfd *wait, uint64_t ms, bool again, struct error *err)
{
	int rc;

	if (!ms)
		return 0;
	wait->fd = timer_open();
	rc = wait->fd < 0 ? wait->fd : timer_set(wait->fd, ms, again);
	return rc ? error_sys(err, rc, "timer") : 0;
}

/* The processes of -p and -t: the count ends when all have. */
static void watch_tasks(struct round *r)
{
	const struct tasks *tasks = &r->run->cmd->targets.tasks;
	pid_t last = 0;

	for (size_t i = 0; !r->run->cmd->command && i < tasks->nr; i++) {
		pid_t process = task_process(tasks->ids[i]);
		int fd = process > 0 && process != last ? pidfd_open(process, 0) : -1;

		if (fd < 0)
			continue;
		last = process;
		r->waits[r->nr_waits++] = (struct pollfd){.fd = fd, .events = POLLIN};
		r->tasks_left++;
	}
}

static int round_init(struct round *r, struct stat_run *run, struct error *err)
{
	const struct stat_command *cmd = run->cmd;

	*r = (struct round){.run = run, .nr_waits = WAIT_TASKS};
	r->waits = calloc(WAIT_TASKS + cmd->targets.tasks.nr, sizeof(*r->waits));
	if (!r->waits)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < WAIT_TASKS; i++)
		r->waits[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	r->waits[WAIT_STOP].fd = run->stop;
	return 0;
}

static void round_release(struct round *r)
{
	for (size_t i = 0; r->waits && i < r->nr_waits; i++)
		if (r->waits[i].fd >= 0 && i != WAIT_STOP && i != WAIT_COMMAND)
			close(r->waits[i].fd);
	free(r->waits);
	workload_release(&r->workload);
}

/* Opens the counters: those of the command, if there is one and no other target. */
static int open_counters(struct round *r, const struct limits *limits, struct error *err)
{
	struct stat_run *run = r->run;
	struct count_targets *targets = &run->cmd->targets;
	bool first = !run->table.cells;
	int rc;

	if (stat_counts_command(run->cmd)) {
		tasks_release(&targets->tasks);
		rc = tasks_add_thread(&targets->tasks, r->workload.pid, err);
		if (rc)
			return rc;
	}
	counters_close(run->counters);
	run->counters = NULL;
	rc = counters_open(&run->cmd->events, targets, &stat_events_here, limits, &run->counters,
			   err);
	if (rc)
		return rc;
	if (!first) {
		count_table_restart(&run->table, run->counters);
		return 0;
	}
	return count_table_init(&run->table, run->counters, run->cmd->by, "")
		       ? error_set(err, -ENOMEM, "out of memory")
		       : 0;
}

/* The times of the options begin when the counters are open. --timeout is of all runs. */
static int start_timers(struct round *r, struct error *err)
{
	const struct stat_command *cmd = r->run->cmd;
	uint64_t *deadline = &r->run->deadline, left = 0;
	int rc;

	if (cmd->timeout_ms && !*deadline)
		*deadline = now_ms() + cmd->timeout_ms;
	if (*deadline)
		left = ms_until(*deadline) ? ms_until(*deadline) : 1;
	rc = start_timer(&r->waits[WAIT_TIMEOUT], left, false, err);
	if (!rc)
		rc = start_timer(&r->waits[WAIT_DELAY], cmd->delay_ms, false, err);
	return rc ? rc : start_timer(&r->waits[WAIT_INTERVAL], cmd->interval_ms, true, err);
}

static int start(struct round *r, struct error *err)
{
	struct stat_command *cmd = r->run->cmd;
	const struct workload_setting setting = {.mask = &r->run->mask_before};
	struct limits limits;
	int rc = 0;

	limits_read(&limits);
	if (cmd->command)
		rc = workload_prepare(&r->workload, cmd->command, &setting, err);
	if (!rc)
		rc = open_counters(r, &limits, err);
	if (!rc && !cmd->targets.on_exec && !cmd->delay_ms)
		rc = counters_enable(r->run->counters, err);
	if (rc)
		return rc;
	watch_tasks(r);
	r->started = r->read_at = now_ns(CLOCK_MONOTONIC);
	if (cmd->command)
		rc = workload_start(&r->workload, cmd->command[0], err);
	r->waits[WAIT_COMMAND].fd = r->workload.pid ? r->workload.ended_fd : -1;
	return rc ? rc : start_timers(r, err);
}

static int read_counters(struct round *r, struct error *err)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int rc = count_table_add(&r->run->table, r->run->counters, now - r->read_at, err);

	r->read_at = now;
	return rc;
}

static int end_interval(struct round *r, struct error *err)
{
	struct stat_run *run = r->run;
	int rc;

	count_table_clear(&run->table);
	rc = read_counters(r, err);
	if (rc)
		return rc;
	run->print_interval(run, (double)(r->read_at - r->started) / 1e9);
	run->intervals++;
	return 0;
}

/* Whether a task's process has ended and it was the last. */
static bool tasks_ended(struct round *r)
{
	size_t before = r->tasks_left;

	for (size_t i = WAIT_TASKS; i < r->nr_waits; i++) {
		if (r->waits[i].fd < 0 || !r->waits[i].revents)
			continue;
		close(r->waits[i].fd);
		r->waits[i].fd = -1;
		r->tasks_left--;
	}
	return before && !r->tasks_left;
}

/* Handles what has happened. Returns 1 if the run is over, 0 if not, or a negative errno. */
static int handle(struct round *r, struct error *err)
{
	struct stat_run *run = r->run;
	int rc = 0;

	if (r->waits[WAIT_STOP].revents || timer_rang(r->waits[WAIT_TIMEOUT].fd)) {
		run->stopped = true;
		return 1;
	}
	if (r->waits[WAIT_DELAY].revents && timer_rang(r->waits[WAIT_DELAY].fd))
		rc = counters_enable(run->counters, err);
	/* The last interval is printed when the run is over. */
	if (r->waits[WAIT_COMMAND].revents || tasks_ended(r))
		return rc ? rc : 1;
	if (!rc && r->waits[WAIT_INTERVAL].revents && timer_rang(r->waits[WAIT_INTERVAL].fd))
		rc = end_interval(r, err);
	if (!rc && run->cmd->interval_count && run->intervals >= run->cmd->interval_count)
		run->stopped = true;
	return rc ? rc : run->stopped;
}

static int wait_for_end(struct round *r, struct error *err)
{
	int rc = 0;

	while (!rc) {
		if (poll(r->waits, r->nr_waits, -1) < 0 && errno != EINTR)
			return error_sys(err, -errno, "poll");
		rc = handle(r, err);
	}
	return rc < 0 ? rc : 0;
}

static double seconds(const struct timeval *end, const struct timeval *begin)
{
	return (double)(end->tv_sec - begin->tv_sec) +
	       (double)(end->tv_usec - begin->tv_usec) / 1e6;
}

/* Waits for the command, which may take longer than its signal, and reads the counters. */
static int end(struct round *r, const struct rusage *before, struct error *err)
{
	struct stat_run *run = r->run;
	struct rusage after;
	bool counted;
	int rc;

	if (run->stopped)
		workload_stop(&r->workload, END_MS);
	counters_disable(run->counters);
	counted = !run->cmd->interval_ms;
	rc = counted ? read_counters(r, err) : 0;
	if (!counted && !(run->cmd->interval_count && run->intervals >= run->cmd->interval_count))
		rc = end_interval(r, err);
	workload_ended(&r->workload);
	run->status = workload_exit_status(&r->workload);
	getrusage(RUSAGE_CHILDREN, &after);
	run->user = seconds(&after.ru_utime, &before->ru_utime);
	run->system = seconds(&after.ru_stime, &before->ru_stime);
	run->runs++;
	return rc;
}

int stat_run_once(struct stat_run *run, struct error *err)
{
	struct rusage before;
	struct round r;
	int rc = round_init(&r, run, err);

	getrusage(RUSAGE_CHILDREN, &before);
	if (!rc)
		rc = start(&r, err);
	if (!rc)
		rc = wait_for_end(&r, err);
	if (!rc)
		rc = end(&r, &before, err);
	round_release(&r);
	return rc;
}
