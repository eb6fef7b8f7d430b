// SPDX-License-Identifier: Apache-2.0
/*
 * Loads of `perf test -w NAME` whose functions the tests look for. The perf of a distribution is
 * stripped, so its own loads have no names in a report.
 *
 * noploop [SECONDS]: noploop() runs. thloop [SECONDS [THREADS]]: THREADS threads, the first of
 * which is the main one, run test_loop(), called by thfunc() in the others. brstack [TIMES]:
 * brstack() calls brstack_bench(), which takes branches of all kinds.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS   64
#define BRSTACK_TIMES "20000000"

static volatile int run = 1;
static volatile unsigned int count;

__attribute__((noinline)) void noploop(void)
{
	while (run)
		;
}

__attribute__((noinline)) void test_loop(void)
{
	while (run)
		count++;
}

__attribute__((noinline)) void *thfunc(void *arg)
{
	test_loop();
	return arg;
}

__attribute__((noinline)) void brstack_bar(void)
{
	count++;
}

__attribute__((noinline)) void brstack_foo(void)
{
	brstack_bar();
	count++;
}

__attribute__((noinline)) void brstack_bench(void)
{
	void (*volatile indirect)(void) = brstack_foo;

	if (count & 1)
		indirect();
	brstack_foo();
	brstack_bar();
}

__attribute__((noinline)) void brstack(long times)
{
	while (times--)
		brstack_bench();
}

static void *end_after(void *arg)
{
	usleep((useconds_t)(atof(arg) * 1e6));
	run = 0;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t timer, thread[MAX_THREADS];
	int threads = argc > 3 ? atoi(argv[3]) : 2;

	if (argc > 1 && !strcmp(argv[1], "brstack")) {
		brstack(atol(argc > 2 ? argv[2] : BRSTACK_TIMES));
		return 0;
	}
	if (argc < 2 || threads < 1 || threads > MAX_THREADS ||
	    pthread_create(&timer, NULL, end_after, argc > 2 ? argv[2] : "1"))
		return 1;
	if (!strcmp(argv[1], "noploop")) {
		noploop();
		return 0;
	}
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, thfunc, NULL))
			return 1;
	test_loop();
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
