/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of this process: how large its files may be, and how many it may open. */
#ifndef RINGTAIL_TESTS_PROCESS_LIMITS_H
#define RINGTAIL_TESTS_PROCESS_LIMITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* No file may become larger than @bytes; 0: than any size. Without that SIGXFSZ ends the test. */
static inline void limit_files(uint64_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, bytes ? SIG_IGN : SIG_DFL);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No more than @more descriptors can be opened. Returns the limit that was, for setrlimit(). */
static inline struct rlimit limit_descriptors(unsigned int more)
{
	struct rlimit was, limit;
	int next = dup(0);

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	limit = was;
	limit.rlim_cur = (rlim_t)next + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return was;
}

#endif
