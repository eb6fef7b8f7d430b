// SPDX-License-Identifier: Apache-2.0
#include "cli/input/memory_limit.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/parse.h"

#define LEAST	    (32u << 20) /* the program, its libraries and one worker */
#define STACK_BYTES (1u << 20)	/* of a thread: the kernel counts all of it */

int memory_limit_parse(const char *arg, size_t *ret)
{
	uint64_t bytes;

	if (parse_size(arg, &bytes) || bytes < LEAST || bytes > SIZE_MAX)
		return -EINVAL;
	*ret = (size_t)bytes;
	return 0;
}

void memory_limit_set(size_t bytes)
{
	struct rlimit limit;
	pthread_attr_t attr;

	if (!bytes || getrlimit(RLIMIT_DATA, &limit))
		return;
	if (limit.rlim_max == RLIM_INFINITY || bytes < limit.rlim_max)
		limit.rlim_cur = bytes;
	setrlimit(RLIMIT_DATA, &limit);
	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}
