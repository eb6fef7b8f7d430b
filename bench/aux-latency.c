// SPDX-License-Identifier: Apache-2.0
/*
 * Asks a recorder for snapshots, and measures how long each takes until it is in the file.
 *
 * usage: aux-latency PID FILE BYTES ROUNDS [PAUSE]
 *
 * Each round sends SIGUSR2 and waits until FILE has grown by BYTES, which all snapshots must have.
 * Prints the microseconds of each round, one a line, or "late" after 20 seconds. PAUSE is the time
 * between two rounds, in milliseconds (default 500).
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define PATIENCE_US 20000000u
#define STEP_NS	    50000

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static void pause_ns(long ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	uint64_t bytes, before, start, waited = 0;
	long pause_ms = 500;
	int pid;

	if (argc < 5 || argc > 6) {
		fprintf(stderr, "usage: aux-latency PID FILE BYTES ROUNDS [PAUSE]\n");
		return 2;
	}
	pid = atoi(argv[1]);
	bytes = strtoull(argv[3], NULL, 0);
	if (argc > 5)
		pause_ms = atol(argv[5]);
	for (int left = atoi(argv[4]); left > 0; left--) {
		pause_ns(pause_ms * 1000000);
		before = size_of(argv[2]);
		start = now_us();
		if (kill(pid, SIGUSR2))
			return 1;
		while (size_of(argv[2]) < before + bytes) {
			waited = now_us() - start;
			if (waited > PATIENCE_US)
				break;
			pause_ns(STEP_NS);
		}
		waited = now_us() - start;
		if (waited > PATIENCE_US)
			puts("late");
		else
			printf("%llu\n", (unsigned long long)waited);
		fflush(stdout);
	}
	return 0;
}
