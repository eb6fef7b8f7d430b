// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "report/waits/waits.h"

/* A symbol of the name, for frames that are no code. */
#define MARK(text)                 \
	{                          \
		0, 1, "[" text "]" \
	}

static const struct {
	const char *name;
	struct symbol mark;
} kinds[WAIT_KINDS] = {
	[WAIT_RUN_QUEUE] = {"run queue", MARK("run queue")},
	[WAIT_SLEEP] = {"sleep", MARK("sleep")},
	[WAIT_IO] = {"I/O", MARK("I/O")},
	[WAIT_FUTEX] = {"futex", MARK("futex")},
	[WAIT_PIPE] = {"pipe", MARK("pipe")},
	[WAIT_SOCKET] = {"socket", MARK("socket")},
	[WAIT_POLL] = {"poll", MARK("poll")},
	[WAIT_CHILD] = {"child", MARK("child")},
	[WAIT_LOCK] = {"kernel lock", MARK("kernel lock")},
	[WAIT_PAGE_FAULT] = {"page fault", MARK("page fault")},
	[WAIT_STOPPED] = {"stopped", MARK("stopped")},
	[WAIT_OTHER] = {"interruptible", MARK("interruptible")},
	[WAIT_DISK_STATE] = {"uninterruptible", MARK("uninterruptible")},
};

/*
 * Functions of the kernel (4.19 to 6.18) that are in the chains of waits, by the beginnings of
 * their names. The innermost frame that has a rule decides.
 */
static const struct {
	const char *prefix;
	enum wait_kind kind;
} rules[] = {
	{"hrtimer_nanosleep", WAIT_SLEEP},
	{"do_nanosleep", WAIT_SLEEP},
	{"alarm_timer_nsleep", WAIT_SLEEP},
	{"msleep", WAIT_SLEEP},
	{"usleep_range", WAIT_SLEEP},
	{"futex_", WAIT_FUTEX},
	{"do_futex", WAIT_FUTEX},
	{"rt_mutex_", WAIT_LOCK},
	{"pipe_", WAIT_PIPE},
	{"anon_pipe_", WAIT_PIPE},
	{"fifo_open", WAIT_PIPE},
	{"wait_for_partner", WAIT_PIPE},
	{"do_poll", WAIT_POLL},
	{"do_sys_poll", WAIT_POLL},
	{"do_select", WAIT_POLL},
	{"ep_poll", WAIT_POLL},
	{"do_epoll_wait", WAIT_POLL},
	{"sock_", WAIT_SOCKET},
	{"__sock_", WAIT_SOCKET},
	{"unix_", WAIT_SOCKET},
	{"inet_", WAIT_SOCKET},
	{"tcp_", WAIT_SOCKET},
	{"udp_", WAIT_SOCKET},
	{"netlink_", WAIT_SOCKET},
	{"__skb_wait_for_more_packets", WAIT_SOCKET},
	{"do_wait", WAIT_CHILD},
	{"kernel_wait4", WAIT_CHILD},
	{"vfork_done", WAIT_CHILD},
	{"wait_for_vfork_done", WAIT_CHILD},
	{"io_schedule", WAIT_IO},
	{"folio_wait_", WAIT_IO},
	{"wait_on_page_", WAIT_IO},
	{"__wait_on_buffer", WAIT_IO},
	{"bit_wait_io", WAIT_IO},
	{"submit_bio_wait", WAIT_IO},
	{"blk_", WAIT_IO},
	{"jbd2_log_wait_commit", WAIT_IO},
	{"xfs_log_force", WAIT_IO},
	{"io_cqring_wait", WAIT_IO},
	{"read_events", WAIT_IO},
	{"do_io_getevents", WAIT_IO},
	{"mutex_lock", WAIT_LOCK},
	{"__mutex_lock", WAIT_LOCK},
	{"rwsem_down_", WAIT_LOCK},
	{"down_", WAIT_LOCK},
	{"__down", WAIT_LOCK},
	{"percpu_rwsem_wait", WAIT_LOCK},
	{"do_signal_stop", WAIT_STOPPED},
	{"ptrace_stop", WAIT_STOPPED},
	{"exc_page_fault", WAIT_PAGE_FAULT},
	{"do_page_fault", WAIT_PAGE_FAULT},
	{"asm_exc_page_fault", WAIT_PAGE_FAULT},
};

/* The scheduler's own functions, at the inner end of every wait. */
static const char *const scheduler[] = {
	"__schedule",	     "schedule",	   "schedule_timeout", "schedule_hrtimeout_range",
	"preempt_schedule",  "__traceiter_sched_", "perf_trace_",      "io_schedule",
	"schedule_preempt_", "__cond_resched",	   "schedule_idle",
};

static bool begins(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static bool is_kernel(const struct frame *f)
{
	return f->cpumode == PERF_RECORD_MISC_KERNEL && f->sym;
}

enum wait_kind wait_kind_of(const struct wait_info *w, const struct frame *frame, size_t nr)
{
	if (w->on_queue)
		return WAIT_RUN_QUEUE;
	if (w->state & PAIRING_STATE_STOPPED)
		return WAIT_STOPPED;
	for (size_t i = 0; i < nr; i++) {
		if (!is_kernel(&frame[i]))
			continue;
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
			if (begins(frame[i].sym->name, rules[r].prefix))
				return rules[r].kind;
	}
	return w->state & PAIRING_STATE_DISK ? WAIT_DISK_STATE : WAIT_OTHER;
}

const char *wait_kind_name(enum wait_kind kind)
{
	return kinds[kind].name;
}

static bool is_scheduler(const struct frame *f)
{
	for (size_t i = 0; is_kernel(f) && i < sizeof(scheduler) / sizeof(scheduler[0]); i++)
		if (begins(f->sym->name, scheduler[i]))
			return true;
	return false;
}

void wait_trim(struct frames *f)
{
	size_t n = 0;

	while (n + 1 < f->nr && is_scheduler(&f->frame[n]))
		n++;
	f->nr -= n;
	if (n)
		memmove(f->frame, f->frame + n, f->nr * sizeof(*f->frame));
	f->leaf = f->leaf > n ? f->leaf - n : 0;
}

int wait_mark(const struct wait_info *w, struct frames *f)
{
	enum wait_kind kind = wait_kind_of(w, f->frame, f->nr);

	wait_trim(f);
	if (array_grow(&f->frame, &f->cap, f->nr + 1, sizeof(*f->frame)))
		return -ENOMEM;
	memmove(f->frame + 1, f->frame, f->nr * sizeof(*f->frame));
	f->frame[0] = (struct frame){.sym = &kinds[kind].mark, .cpumode = PERF_RECORD_MISC_KERNEL};
	f->nr++;
	f->leaf = 0;
	return 0;
}
