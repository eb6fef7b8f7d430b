// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/thread.h"

#include <time.h>

void thread_mask_signals(sigset_t *ret_before)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_SETMASK, &set, ret_before);
}

int thread_start(size_t stack, void *(*fn)(void *), void *arg, pthread_t *ret)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t before;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	thread_mask_signals(&before);
	rc = pthread_create(&thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!rc)
		*ret = thread;
	return -rc;
}

void thread_mutex_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t inherits;

	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(mutex, &inherits);
	pthread_mutexattr_destroy(&inherits);
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}
