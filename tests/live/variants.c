// SPDX-License-Identifier: Apache-2.0
/*
 * Three functions in turn, each for its share of CPU time. Builds with another TIMES have the same
 * names and a slower middle one.
 *
 * usage: variants ROUNDS
 */
#include <stdlib.h>

#define STEP 20000

void first(volatile unsigned long *sum);
void middle(volatile unsigned long *sum);
void last(volatile unsigned long *sum);

__attribute__((noinline)) void first(volatile unsigned long *sum)
{
	for (unsigned int i = 0; i < STEP; i++)
		*sum += i;
}

__attribute__((noinline)) void middle(volatile unsigned long *sum)
{
	for (unsigned int i = 0; i < STEP * TIMES; i++)
		*sum += i;
}

__attribute__((noinline)) void last(volatile unsigned long *sum)
{
	for (unsigned int i = 0; i < STEP * 2; i++)
		*sum += i;
}

int main(int argc, char **argv)
{
	volatile unsigned long sum = 0;

	for (long n = argc > 1 ? atol(argv[1]) : 1000; n > 0; n--) {
		first(&sum);
		middle(&sum);
		last(&sum);
	}
	return 0;
}
