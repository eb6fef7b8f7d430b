// SPDX-License-Identifier: Apache-2.0
/*
 * Maps two libraries in turn at one address, and burns CPU time in each. Their frames differ, so a
 * stack that is unwound with the rules of the other library has wrong callers:
 * main > call_library > step, which is in the library.
 *
 * usage: replaced LIBRARY LIBRARY TIMES MILLISECONDS [CPU CPU]
 *
 * With CPUs it maps on the first, and burns on the second. Exits with 3 if the addresses differ.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

typedef int step_fn(int ms);

static void move_to(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(cpu), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

__attribute__((noinline)) static int call_library(step_fn *step, int ms)
{
	volatile char room[100] = {0};

	return step(ms) + room[ms % 100];
}

int main(int argc, char **argv)
{
	step_fn *steps[2] = {0};
	int differ = 0;

	if (argc != 5 && argc != 7) {
		fprintf(stderr, "usage: replaced LIBRARY LIBRARY TIMES MILLISECONDS [CPU CPU]\n");
		return 2;
	}
	for (int i = 0; i < 2 * atoi(argv[3]); i++) {
		void *library;
		step_fn *step;

		if (argc == 7)
			move_to(argv[5]);
		library = dlopen(argv[1 + i % 2], RTLD_NOW);
		step = library ? (step_fn *)(__intptr_t)dlsym(library, "step") : NULL;
		if (!step) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		steps[i % 2] = step;
		differ |= i && steps[0] != steps[1];
		if (argc == 7)
			move_to(argv[6]);
		call_library(step, atoi(argv[4]));
		dlclose(library);
	}
	return differ ? 3 : 0;
}
