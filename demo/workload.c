// SPDX-License-Identifier: Apache-2.0
/*
 * A workload of known shape: what `make run` records, and what the tests measure against.
 *
 * Three processes, "parse", "matrix" and "digest", each spend their time in two functions in a
 * ratio fixed by the work given to them (see the table), so a profile must show about these shares.
 * The work is counted, not timed: every run does the same.
 *
 * usage: workload [ROUNDS [TIMES]]     (default 400; about 5 ms of CPU a round in all)
 *
 * With TIMES, transpose() has so many times its work: something to find in a diff.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Alike as the functions are, none may be inlined, merged or specialised. */
#if __has_attribute(noipa)
#define HOT __attribute__((noipa))
#else
#define HOT __attribute__((noinline))
#endif

/* One unit: a chain of dependent steps that no compiler shortens. */
static inline uint64_t churn(uint64_t x, unsigned long steps)
{
	while (steps--)
		x = x * 6364136223846793005ULL + 1442695040888963407ULL + (x >> 33);
	return x;
}

/*
 * Something on its stack, or GCC makes no frame for it whatever it is told, and a chain of frame
 * pointers lacks its caller.
 */
#define WORK(name)                                          \
	HOT uint64_t name(uint64_t x, unsigned long steps); \
	HOT uint64_t name(uint64_t x, unsigned long steps)  \
	{                                                   \
		volatile uint64_t seed = x;                 \
                                                            \
		return churn(seed, steps) ^ 1;              \
	}

WORK(scan_tokens)
WORK(build_tree)
WORK(multiply_rows)
WORK(transpose)
WORK(hash_blocks)
WORK(merge_sums)

typedef uint64_t work_fn(uint64_t x, unsigned long steps);

struct job {
	const char *comm;
	work_fn *first, *second;
	unsigned int first_share, second_share; /* thousands of steps a round */
};

static const struct job jobs[] = {
	{"parse", scan_tokens, build_tree, 1600, 400},
	{"matrix", multiply_rows, transpose, 900, 100},
	{"digest", hash_blocks, merge_sums, 500, 500},
};

HOT static uint64_t run_job(const struct job *job, unsigned long rounds, unsigned long times)
{
	uint64_t x = rounds;

	times = job->second == transpose ? times : 1;
	for (unsigned long i = 0; i < rounds; i++) {
		x = job->first(x, job->first_share * 1000UL);
		x = job->second(x, job->second_share * 1000UL * times);
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
	unsigned long times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	int failed = 0, status;

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("workload: fork");
			return 1;
		}
		if (pid == 0) {
			prctl(PR_SET_NAME, jobs[i].comm);
			_exit(run_job(&jobs[i], rounds, times) == 0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
