// SPDX-License-Identifier: Apache-2.0
/*
 * Burns CPU time, so much of its own, at known depths, without frame pointers.
 *
 * usage: stacks chain|signal|deep|bare MILLISECONDS
 *
 * chain: main > outer > middle > leaf, each with another frame. signal: the same, and leaf is
 * interrupted by handler, which burns too. deep: 60 times recurse > leaf. bare: main > bare > leaf,
 * and bare is assembly without call frame information, but with a frame pointer.
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define STEP __attribute__((noinline))
#else
#define STEP __attribute__((noinline, noclone))
#endif

static struct timespec until;
static volatile unsigned int sum;

STEP static int leaf(void)
{
	struct timespec now;

	do {
		for (unsigned int i = 0; i < 20000; i++)
			sum += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec < until.tv_sec ||
		 (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
	return (int)sum;
}

/* A frame whose size is not known to the compiler needs another rule. */
STEP static int middle(int n)
{
	volatile char *room = alloca((size_t)n * 16 + 16);

	room[n] = 1;
	return leaf() + room[n];
}

STEP static int outer(int n)
{
	volatile char room[200] = {0};

	return middle(n) + room[n];
}

STEP static int recurse(int n)
{
	volatile char room[40] = {0};

	return (n ? recurse(n - 1) : leaf()) + room[n % 40];
}

#ifdef __x86_64__
int bare(int (*callee)(void));
__asm__(".text\n\t.globl bare\n\t.type bare, @function\nbare:\n\t"
	"push %rbp\n\tmov %rsp, %rbp\n\tcall *%rdi\n\tpop %rbp\n\tret\n\t"
	".size bare, .-bare");
#else
static int bare(int (*callee)(void))
{
	return callee() + 1;
}
#endif

static timer_t timer;

/* The next one comes a while after the one before has ended, however slow the machine. */
static void arm(void)
{
	const struct itimerspec later = {.it_value.tv_nsec =
						 1370000}; /* no multiple of a sampling period */

	timer_settime(timer, 0, &later, NULL);
}

STEP static void handler(int number)
{
	for (unsigned int i = 0; i < 1500000; i++)
		sum += i;
	arm();
}

static void tick(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &act, NULL);
	if (!timer_create(CLOCK_MONOTONIC, &ev, &timer))
		arm();
}

int main(int argc, char **argv)
{
	long ms = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (!ms) {
		fprintf(stderr, "usage: stacks chain|signal|deep|bare MILLISECONDS\n");
		return 2;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (!strcmp(argv[1], "deep"))
		return recurse(60) == 1;
	if (!strcmp(argv[1], "bare"))
		return bare(leaf) == 1;
	if (!strcmp(argv[1], "signal"))
		tick();
	return outer(argc) == 1;
}
