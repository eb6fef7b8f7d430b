// SPDX-License-Identifier: Apache-2.0
#include "cli/input/memory_limit.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "base/human.h"
#include "base/parse.h"
#include "cli/input/input.h"

#define LEAST (32u << 20) /* the program, its libraries and one worker */

int memory_limit_parse(const char *arg, size_t *ret)
{
	uint64_t bytes;

	if (parse_size(arg, &bytes) || bytes < LEAST || bytes > SIZE_MAX)
		return -EINVAL;
	*ret = (size_t)bytes;
	return 0;
}

/*
 * Returns the most memory that was resident, in bytes; 0: unknown. getrusage() has the peak of the
 * program, too, that this process was before it executed this one.
 */
static uint64_t peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long kb = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb << 10;
}

void memory_limit_explain(size_t bytes)
{
	char took[HUMAN_SIZE_SIZE], limit[HUMAN_SIZE_SIZE];
	uint64_t peak = bytes ? peak_bytes() : 0;

	if (peak <= bytes)
		return;
	complain("it took %s of memory, more than the %s of --max-memory: what the answer itself "
		 "holds has no limit; fewer keys (-s) or a part of the recording (--time) need "
		 "less",
		 human_size(peak, took), human_size(bytes, limit));
}
