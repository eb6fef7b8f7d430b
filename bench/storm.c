// SPDX-License-Identifier: Apache-2.0
/*
 * The load of bench/record: calls getppid on every CPU for a time, and prints how often it did.
 *
 * usage: storm SECONDS [DEPTH]
 *
 * One thread a CPU, pinned. DEPTH adds frames to the call chain (for -g). Calls are counted per
 * thread and added at the end; what they come to under a recorder, against what they come to
 * without, is the slowdown.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct caller {
	pthread_t thread;
	int cpu;
	unsigned int depth;
	unsigned long calls;
	atomic_bool *stop;
};

__attribute__((noinline)) static void call_at(unsigned int depth, unsigned int times)
{
	if (depth) {
		call_at(depth - 1, times);
		__asm__ volatile("" ::: "memory"); /* not a tail call */
		return;
	}
	while (times--)
		syscall(SYS_getppid);
}

static void *caller_run(void *arg)
{
	struct caller *c = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(c->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!atomic_load_explicit(c->stop, memory_order_relaxed)) {
		call_at(c->depth, 1000);
		c->calls += 1000;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct caller callers[CPU_SETSIZE];
	unsigned long calls = 0;
	atomic_bool stop = false;
	cpu_set_t cpus;
	int n = 0;

	if (argc < 2 || sched_getaffinity(0, sizeof(cpus), &cpus)) {
		fprintf(stderr, "usage: storm SECONDS [DEPTH]\n");
		return 2;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		callers[n] = (struct caller){.cpu = cpu, .stop = &stop};
		callers[n].depth = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
		if (pthread_create(&callers[n].thread, NULL, caller_run, &callers[n])) {
			perror("storm: pthread_create");
			return 1;
		}
		n++;
	}
	usleep((useconds_t)(strtod(argv[1], NULL) * 1e6));
	atomic_store(&stop, true);
	for (int i = 0; i < n; i++) {
		pthread_join(callers[i].thread, NULL);
		calls += callers[i].calls;
	}
	printf("%lu\n", calls);
	return 0;
}
