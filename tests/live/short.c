// SPDX-License-Identifier: Apache-2.0
/*
 * Works for a millisecond of CPU time, or as many as it is told, in a function whose name is
 * changed in each copy of this program, so that thousands of programs can be made of it without a
 * compiler.
 *
 * usage: short [MILLISECONDS]
 */
#include <stdlib.h>
#include <time.h>

#define ROUNDS 10000

__attribute__((noinline)) void work_0000(volatile unsigned long *sum, long ms);

static long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

void work_0000(volatile unsigned long *sum, long ms)
{
	long end = cpu_ns() + ms * 1000000;

	do {
		for (unsigned int i = 0; i < ROUNDS; i++)
			*sum += i;
	} while (cpu_ns() < end);
}

int main(int argc, char **argv)
{
	volatile unsigned long sum = 0;

	work_0000(&sum, argc > 1 ? atol(argv[1]) : 1);
	return 0;
}
