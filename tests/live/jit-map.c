// SPDX-License-Identifier: Apache-2.0
/*
 * jit-map [keep]: makes four functions, writes their names to /tmp/perf-PID.map before it runs
 * each, and removes the file at its end, unless it has an argument.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit-code.h"

#define FUNCTIONS 4u
#define APART	  4096u

/* To another CPU, if there is one: the map of the code is then the only sideband there. */
static void leave_cpu(void)
{
	cpu_set_t cpus;
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) < 2 || here < 0)
		return;
	CPU_CLR(here, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	uint8_t *memory;
	char path[64];
	FILE *map;

	leave_cpu();
	memory = mmap(NULL, (size_t)FUNCTIONS * APART, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (memory == MAP_FAILED || !map)
		return 1;
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		uint8_t *at = memory + (size_t)i * APART;
		void (*function)(void);

		memcpy(at, code, sizeof(code));
		__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
		fprintf(map, "%lx %zx generated_%u\n", (unsigned long)at, sizeof(code), i);
		fflush(map);
		memcpy(&function, &at, sizeof(function));
		function();
	}
	fclose(map);
	return argc > 1 ? 0 : unlink(path);
}
