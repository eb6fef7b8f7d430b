// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that migrates: it runs on each CPU in turn, and calculates.
 *
 * usage: roam MILLISECONDS [STAY [THREADS [CPUS]]]
 *
 * STAY: milliseconds on a CPU, default 20. CPUS: the first ones, default all.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long duration_ms, stay_ms = 20, nr_cpus;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A function for filters of addresses, and one for those that leave all trace out. */
static __attribute__((noinline, used)) void calculate(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

static __attribute__((noinline, used)) void never_called(void)
{
	for (volatile int i = 0; i < 10; i++)
		;
}

static void *roam(void *first_cpu)
{
	long end = now_ms() + duration_ms;
	cpu_set_t cpus;

	for (long cpu = (long)first_cpu; now_ms() < end; cpu++) {
		long leave = now_ms() + stay_ms;

		CPU_ZERO(&cpus);
		CPU_SET(cpu % nr_cpus, &cpus);
		/* Fails for a CPU that is offline. */
		sched_setaffinity(0, sizeof(cpus), &cpus);
		while (now_ms() < leave)
			calculate();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	long nr = 1;

	if (argc < 2 || argc > 5) {
		fprintf(stderr, "usage: roam MILLISECONDS [STAY [THREADS [CPUS]]]\n");
		return 2;
	}
	duration_ms = atol(argv[1]);
	if (argc > 2)
		stay_ms = atol(argv[2]);
	if (argc > 3)
		nr = atol(argv[3]);
	nr_cpus = argc > 4 ? atol(argv[4]) : sysconf(_SC_NPROCESSORS_ONLN);
	for (long i = 1; i < nr && i < 64; i++)
		if (pthread_create(&threads[i], NULL, roam, (void *)i))
			return 1;
	roam(NULL);
	for (long i = 1; i < nr && i < 64; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
