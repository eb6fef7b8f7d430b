// SPDX-License-Identifier: GPL-2.0
/*
 * cs-step PROGRAM: single-steps an arm64 program and prints where it went, which is the truth about
 *a trace of it.
 *
 * Its threads take turns of QUANTUM steps, each turn on the next of two CPUs. Threads are numbered
 *from 0 in the order of their creation. A line is one of
 *	@ THREAD CPU PC		a turn begins
 *	FROM TO			not to the next instruction; hexadecimal
 *	s FROM TO		a system call, and where the thread went on
 *	f FROM TO		a fault, and the first instruction of its handler
 *	a FROM TO		a signal in front of an instruction, and the same
 *	x FROM			a system call that ends the thread
 *	i PC			the turn ends
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUANTUM 211
#define CPUS	2
#define TASKS	4
#define INSN	4
#define SVC	0xd4000001u

struct task {
	pid_t tid;
	unsigned int number;
	int signal; /* to deliver */
	char kind;  /* of the line about it */
	uint64_t interrupted;
};

static struct task tasks[TASKS];
static unsigned int nr_tasks, created;

static uint64_t pc_of(pid_t tid)
{
	struct user_regs_struct regs;
	struct iovec io = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io))
		err(1, "registers of %d", tid);
	return regs.pc;
}

static void add_task(pid_t tid)
{
	int status;

	if (nr_tasks == TASKS || waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		errx(1, "thread %d does not stop", tid);
	tasks[nr_tasks++] = (struct task){.tid = tid, .number = created++};
}

static void set_signal(struct task *t, int number, uint64_t pc)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info))
		err(1, "signal");
	t->signal = number;
	t->kind = info.si_code > 0 ? 'f' : 'a';
	t->interrupted = pc;
}

/* Steps a task. Returns false if it has ended. */
static bool step(struct task *t)
{
	uint64_t from = pc_of(t->tid), to;
	bool svc = (uint32_t)ptrace(PTRACE_PEEKTEXT, t->tid, from, 0) == SVC;
	int status;

	for (;;) {
		unsigned long child;

		if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, t->signal))
			err(1, "step");
		t->signal = 0;
		if (waitpid(t->tid, &status, __WALL) != t->tid)
			err(1, "wait");
		if (!WIFSTOPPED(status)) {
			printf("x %lx\n", from);
			return false;
		}
		if (status >> 16 != PTRACE_EVENT_CLONE)
			break;
		ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &child);
		add_task((pid_t)child);
	}
	to = pc_of(t->tid);
	if (WSTOPSIG(status) != SIGTRAP) { /* the next step ends in the handler */
		set_signal(t, WSTOPSIG(status), from);
		if (svc && to != from)
			printf("s %lx %lx\n", from, to);
	} else if (t->kind) {
		printf("%c %lx %lx\n", t->kind, t->interrupted, to);
		t->kind = 0;
	} else if (svc) {
		printf("s %lx %lx\n", from, to);
	} else if (to != from + INSN &&
		   to != from) { /* behind a system call the first step leads nowhere */
		printf("%lx %lx\n", from, to);
	}
	return true;
}

static void bind_to(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

static void step_all(void)
{
	unsigned int current = 0, turns = 0;

	while (nr_tasks) {
		struct task *t = &tasks[current];
		bool alive = true;

		bind_to(t->tid, (int)(turns % CPUS));
		printf("@ %u %u %lx\n", t->number, turns % CPUS, pc_of(t->tid));
		turns++;
		for (unsigned int left = QUANTUM; alive && (left || t->kind); left -= left > 0)
			alive = step(t);
		if (alive) {
			printf("i %lx\n", pc_of(t->tid));
			current++;
		} else {
			for (unsigned int i = current; i + 1 < nr_tasks; i++)
				tasks[i] = tasks[i + 1];
			nr_tasks--;
		}
		if (current >= nr_tasks)
			current = 0;
	}
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc != 2)
		errx(2, "usage: cs-step PROGRAM");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	add_task(pid);
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL))
		err(1, "options");
	step_all();
	return 0;
}
