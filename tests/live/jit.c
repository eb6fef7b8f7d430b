// SPDX-License-Identifier: Apache-2.0
/*
 * jit FOLDER: makes two functions in turn at the same address, runs each for about a quarter of a
 * second, and writes their code to a jitdump in FOLDER.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "jit-code.h"

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct load {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, addr, code_size, index;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int make_and_run(FILE *dump, uint8_t *memory, uint64_t index)
{
	const char *name = index ? "second" : "first";
	const struct load load = {
		.size = (uint32_t)(sizeof(load) + strlen(name) + 1 + sizeof(code)),
		.time = now(),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.vma = (uintptr_t)memory,
		.addr = (uintptr_t)memory,
		.code_size = sizeof(code),
		.index = index,
	};

	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache((char *)memory, (char *)memory + sizeof(code));
	if (fwrite(&load, sizeof(load), 1, dump) != 1 ||
	    fwrite(name, strlen(name) + 1, 1, dump) != 1 ||
	    fwrite(code, sizeof(code), 1, dump) != 1 || fflush(dump))
		return 1;
	((void (*)(void))(uintptr_t)memory)();
	return 0;
}

int main(int argc, char **argv)
{
	const struct header header = {0x4a695444, 1, sizeof(header), 0, 0, (uint32_t)getpid(),
				      now(),	  0};
	uint8_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[4096];
	FILE *dump;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", argc > 1 ? argv[1] : ".", getpid());
	dump = fopen(path, "w+e");
	if (!dump || memory == MAP_FAILED || fwrite(&header, sizeof(header), 1, dump) != 1 ||
	    fflush(dump))
		return 1;
	/* So a recorder learns of the file. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return 1;
	for (uint64_t i = 0; i < 2; i++)
		if (make_and_run(dump, memory, i))
			return 1;
	return fclose(dump);
}
