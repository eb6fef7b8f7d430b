// SPDX-License-Identifier: Apache-2.0
/*
 * Works in functions that are inlined into one another.
 *
 * usage: inlined ROUNDS
 */
#include <stdlib.h>

void work(volatile unsigned long *sum);

static inline __attribute__((always_inline)) void innermost(volatile unsigned long *sum)
{
	for (unsigned int i = 0; i < 20000; i++)
		*sum += i;
}

static inline __attribute__((always_inline)) void between(volatile unsigned long *sum)
{
	for (unsigned int i = 0; i < 10000; i++)
		*sum -= i;
	innermost(sum);
}

__attribute__((noinline)) void work(volatile unsigned long *sum)
{
	between(sum);
	*sum += 1;
}

int main(int argc, char **argv)
{
	volatile unsigned long sum = 0;

	for (long n = argc > 1 ? atol(argv[1]) : 1000; n > 0; n--)
		work(&sum);
	return 0;
}
