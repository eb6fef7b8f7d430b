// SPDX-License-Identifier: Apache-2.0
/* A program whose functions a filter (filter.c) is asked about; nobody runs it. */
static __attribute__((noinline)) int local_one(int n)
{
	return n * 7 + 1;
}

__attribute__((noinline)) int global_one(int n)
{
	return local_one(n) - 3;
}

__attribute__((noinline, weak)) int weak_one(int n)
{
	return global_one(n) + 5;
}

int main(int argc, char **argv)
{
	(void)argv;
	return weak_one(argc);
}
