// SPDX-License-Identifier: Apache-2.0
/* A library that functions.c loads. */
int in_library(int n);

__attribute__((noinline)) int in_library(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}
