// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps all CPUs busy with work that is counted, not timed: a thread for each CPU that it may run
 * on, pinned there, calls getppid a given number of times.
 *
 * usage: load CALLS      (on each CPU)
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *call(void *calls)
{
	for (unsigned long n = *(unsigned long *)calls; n; n--)
		syscall(SYS_getppid);
	return NULL;
}

/* Bound before it begins, so that each of its calls is one of that CPU. */
static int start_on(int cpu, unsigned long *calls, pthread_t *ret)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	rc = pthread_attr_init(&attr);
	if (rc)
		return rc;
	rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!rc)
		rc = pthread_create(ret, &attr, call, calls);
	pthread_attr_destroy(&attr);
	return rc;
}

int main(int argc, char **argv)
{
	pthread_t threads[CPU_SETSIZE];
	unsigned long calls;
	cpu_set_t cpus;
	int nr = 0, rc;

	if (argc != 2 || sched_getaffinity(0, sizeof(cpus), &cpus)) {
		fprintf(stderr, "usage: load CALLS\n");
		return 2;
	}
	calls = strtoul(argv[1], NULL, 10);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		rc = start_on(cpu, &calls, &threads[nr++]);
		if (rc) {
			fprintf(stderr, "load: CPU %d: %s\n", cpu, strerror(rc));
			return 1;
		}
	}
	while (nr)
		pthread_join(threads[--nr], NULL);
	return 0;
}
