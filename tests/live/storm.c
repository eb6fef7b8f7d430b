// SPDX-License-Identifier: Apache-2.0
/*
 * Calls getppid a given number of times, and nothing else does it in this program: what a recording
 * of that call must add up to.
 *
 * usage: storm [-n TASKS] [-b BURSTS] [-u MICROSECONDS] [-c CPU] [-r] [-g FIFO]
 *              [-f FIFO] [-e FIFO] CALLS
 *        storm --syscall     prints the number of getppid here
 *
 * -n  so many processes, each on a CPU of its own as far as there are, make the calls together
 * -b  in so many bursts, -u apart (default 1, 20000)
 * -c  on this CPU (with -n: the first of them)
 * -r  with random arguments, which do not compress
 * -g  waits until somebody has opened FIFO for writing and closed it again
 * -f  likewise, after the first burst (not with -n)
 * -e  likewise, when all calls are made
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct storm {
	unsigned long calls, tasks, bursts;
	useconds_t pause;
	int cpu; /* -1: any */
	bool random;
	const char *gate, *first, *end; /* NULL: none */
};

static int usage(void)
{
	fputs("usage: storm [-n TASKS] [-b BURSTS] [-u MICROSECONDS] [-c CPU] [-r] [-g FIFO] "
	      "[-f FIFO] [-e FIFO] CALLS | --syscall\n",
	      stderr);
	return 2;
}

/* Returns whether there is no gate or it was opened; else a message is printed. */
static bool wait_at(const char *gate)
{
	int fd = gate ? open(gate, O_RDONLY | O_CLOEXEC) : -1;
	char c;

	if (gate && fd < 0)
		perror(gate);
	while (fd >= 0 && read(fd, &c, 1) > 0)
		;
	if (fd >= 0)
		close(fd);
	return !gate || fd >= 0;
}

/* It is no error where there are fewer CPUs. */
static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Share @index of @of. */
static unsigned long share(unsigned long n, unsigned long index, unsigned long of)
{
	return n / of + (index < n % of);
}

/* A random number after @x, which is not 0 (xorshift64). */
static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void call_at_random(uint64_t *x)
{
	uint64_t a = next(x), b = next(x), c = next(x), d = next(x), e = next(x), f = next(x);

	syscall(SYS_getppid, a, b, c, d, e, f);
}

/* Returns false if a gate could not be opened. */
static bool call(const struct storm *s, unsigned long task)
{
	unsigned long calls = share(s->calls, task, s->tasks);
	uint64_t x = (uint64_t)getpid() + task; /* not 0 */
	bool fine = true;

	if (s->tasks > 1 || s->cpu >= 0)
		pin((s->cpu < 0 ? 0 : s->cpu) + (int)task);
	for (unsigned long i = 0; i < s->bursts; i++) {
		unsigned long n = share(calls, i, s->bursts);

		if (i == 1)
			fine = wait_at(s->first);
		if (i)
			usleep(s->pause);
		while (n--) {
			if (s->random)
				call_at_random(&x);
			else
				syscall(SYS_getppid);
		}
	}
	return fine;
}

static int run(const struct storm *s)
{
	bool fine = true;

	if (!wait_at(s->gate))
		return 1;
	for (unsigned long i = 1; i < s->tasks; i++) {
		pid_t child = fork();

		fine &= child >= 0;
		if (child == 0) {
			call(s, i);
			_exit(0);
		}
	}
	fine &= call(s, 0);
	while (wait(NULL) > 0)
		;
	return wait_at(s->end) && fine ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct storm s = {.tasks = 1, .bursts = 1, .pause = 20000, .cpu = -1};
	int option;

	if (argc == 2 && strcmp(argv[1], "--syscall") == 0) {
		printf("%d\n", SYS_getppid);
		return 0;
	}
	while ((option = getopt(argc, argv, "n:b:u:c:rg:f:e:")) != -1) {
		switch (option) {
		case 'n': s.tasks = strtoul(optarg, NULL, 10); break;
		case 'b': s.bursts = strtoul(optarg, NULL, 10); break;
		case 'u': s.pause = (useconds_t)strtoul(optarg, NULL, 10); break;
		case 'c': s.cpu = atoi(optarg); break;
		case 'r': s.random = true; break;
		case 'g': s.gate = optarg; break;
		case 'f': s.first = optarg; break;
		case 'e': s.end = optarg; break;
		default: return usage();
		}
	}
	if (optind + 1 != argc || !s.tasks || !s.bursts || (s.first && s.tasks > 1))
		return usage();
	s.calls = strtoul(argv[optind], NULL, 10);
	return run(&s);
}
