// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

static __attribute__((noinline)) int helper(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 5;
}

int helper_more(int n)
{
	return helper(n);
}
