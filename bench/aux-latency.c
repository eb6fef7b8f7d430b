// SPDX-License-Identifier: Apache-2.0
/*
 * Asks a recorder for snapshots, and measures how long each takes until it is in the file.
 *
 * usage: aux-latency PID FILE BYTES ROUNDS [PAUSE]
 *
 * Each round sends SIGUSR2 and waits until FILE has grown by BYTES, which all snapshots must have.
 * It sleeps meanwhile, and each write to FILE wakes it.
 * Prints the microseconds of each round, one a line, or "late" after 20 seconds. PAUSE is the time
 * between two rounds, in milliseconds (default 500).
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_US 20000000u

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

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Forgets the writes so far. */
static void empty(int watch)
{
	char events[4096];

	while (read(watch, events, sizeof(events)) > 0)
		;
}

/* Waits until the file has @size bytes. Returns the time since @start, in any case after a while.
 */
static uint64_t wait_for(int watch, const char *path, uint64_t size, uint64_t start)
{
	struct pollfd written = {.fd = watch, .events = POLLIN};
	uint64_t waited = now_us() - start;

	while (waited <= PATIENCE_US && size_of(path) < size) {
		poll(&written, 1, 1000);
		waited = now_us() - start;
		empty(watch);
	}
	return waited;
}

int main(int argc, char **argv)
{
	uint64_t bytes, before, start, waited;
	int pid, watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	long between = 500;

	if (argc < 5 || argc > 6) {
		fprintf(stderr, "usage: aux-latency PID FILE BYTES ROUNDS [PAUSE]\n");
		return 2;
	}
	pid = atoi(argv[1]);
	bytes = strtoull(argv[3], NULL, 0);
	if (argc > 5)
		between = atol(argv[5]);
	if (inotify_add_watch(watch, argv[2], IN_MODIFY) < 0) {
		perror(argv[2]);
		return 1;
	}
	for (int left = atoi(argv[4]); left > 0; left--) {
		pause_ms(between);
		empty(watch);
		before = size_of(argv[2]);
		start = now_us();
		if (kill(pid, SIGUSR2))
			return 1;
		waited = wait_for(watch, argv[2], before + bytes, start);
		if (waited > PATIENCE_US)
			puts("late");
		else
			printf("%llu\n", (unsigned long long)waited);
		fflush(stdout);
	}
	return 0;
}
