// SPDX-License-Identifier: Apache-2.0
/* A library for replaced.c, whose function has a frame of ROOM bytes. */
#include <time.h>

int step(int ms);

__attribute__((noinline)) int step(int ms)
{
	/* Written below, not here: of a large one memset() would do it, and the function lie
	 * elsewhere. */
	volatile char room[ROOM];
	struct timespec now, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	end.tv_nsec += ms * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000L;
	end.tv_nsec %= 1000000000L;
	do {
		for (unsigned int i = 0; i < 20000; i++)
			room[i % 100] = (char)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	return room[ms % 100];
}
