// SPDX-License-Identifier: Apache-2.0
/*
 * Waits in each way that threads wait, and tells for how long: for each way a line with its name,
 * the time that a thread of that name was off CPUs, and the least that it was meant to be; in ns.
 *
 * The time off CPUs is the time that passed in the thread, less its CPU time. Both are the kernel's
 * clocks, so the truth does not depend on what else the machine does.
 *
 * usage: waits FILE      FILE is made, for the disk
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TURNS 20
#define MS    1000000ull

struct way {
	const char *name;
	void (*wait)(void);    /* in a thread of that name */
	void *(*help)(void *); /* meanwhile, in a thread "helper"; NULL: nobody helps */
	uint64_t least;	       /* ns */
};

static int ends[2];
static sem_t sem;
static const char *file;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void rest(uint64_t ns)
{
	struct timespec t = {.tv_sec = 0, .tv_nsec = (long)ns};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

static void sleep_on(void)
{
	for (int i = 0; i < TURNS; i++)
		rest(10 * MS);
}

static void read_on(void)
{
	char c;

	for (int i = 0; i < TURNS; i++)
		if (read(ends[0], &c, 1) != 1)
			abort();
}

static void *write_on(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	for (int i = 0; i < TURNS; i++) {
		rest(10 * MS);
		if (write(ends[1], "x", 1) != 1)
			abort();
	}
	return arg;
}

static void lock_on(void)
{
	for (int i = 0; i < TURNS; i++)
		while (sem_wait(&sem))
			;
}

static void *unlock_on(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	for (int i = 0; i < TURNS; i++) {
		rest(10 * MS);
		sem_post(&sem);
	}
	return arg;
}

static void poll_on(void)
{
	struct pollfd none = {.fd = ends[0], .events = POLLIN};

	for (int i = 0; i < TURNS; i++)
		poll(&none, 1, 10);
}

static void write_disk(void)
{
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	static char block[1 << 20]; /* so long that a wait takes much longer than a switch */

	memset(block, 1, sizeof(block));
	for (int i = 0; i < TURNS; i++)
		if (pwrite(fd, block, sizeof(block), (off_t)sizeof(block) * i) < 0 || fsync(fd))
			abort();
	close(fd);
}

/* On one CPU with the helper, from when both are there: where all CPUs are busy one may be late. */
static void spin(void)
{
	static atomic_int there;
	cpu_set_t cpus;
	uint64_t end;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	atomic_fetch_add(&there, 1);
	while (atomic_load(&there) < 2)
		;
	end = now(CLOCK_MONOTONIC) + 300 * MS;
	while (now(CLOCK_MONOTONIC) < end)
		;
}

static void *spin_beside(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	spin();
	return arg;
}

static void *run(void *arg)
{
	const struct way *way = arg;
	pthread_t helper;
	uint64_t passed, ran;

	if (way->help && pthread_create(&helper, NULL, way->help, NULL))
		abort();
	prctl(PR_SET_NAME, way->name);
	passed = now(CLOCK_MONOTONIC);
	ran = now(CLOCK_THREAD_CPUTIME_ID);
	way->wait();
	ran = now(CLOCK_THREAD_CPUTIME_ID) - ran;
	passed = now(CLOCK_MONOTONIC) - passed;
	prctl(PR_SET_NAME, "done");
	if (way->help)
		pthread_join(helper, NULL);
	printf("%s %" PRIu64 " %" PRIu64 "\n", way->name, passed - ran, way->least);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct way ways[] = {
		{"w-sleep", sleep_on, NULL, TURNS * 10 * MS},
		{"w-pipe", read_on, write_on, TURNS * 10 * MS},
		{"w-socket", read_on, write_on, TURNS * 10 * MS},
		{"w-futex", lock_on, unlock_on, TURNS * 10 * MS},
		{"w-poll", poll_on, NULL, TURNS * 10 * MS},
		{"w-disk", write_disk, NULL, 0},
		{"w-queue", spin, spin_beside, 0},
	};
	pthread_t thread;

	if (argc != 2 || sem_init(&sem, 0, 0))
		return 2;
	file = argv[1];
	printf("pid %d\n", (int)getpid());
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!strcmp(ways[i].name, "w-socket") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends)
						      : pipe(ends))
			return 1;
		if (pthread_create(&thread, NULL, run, (void *)&ways[i]))
			return 1;
		pthread_join(thread, NULL);
		close(ends[0]);
		close(ends[1]);
	}
	return 0;
}
