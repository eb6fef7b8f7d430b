/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the recorder, which leave the signals of the process to its main thread.
 *
 * Threads: any.
 */
#ifndef RINGTAIL_SYS_KERNEL_THREAD_H
#define RINGTAIL_SYS_KERNEL_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/*
 * Blocks all signals but those that a thread's own fault raises (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP, SIGSYS): while one of these is blocked, the kernel kills the process without calling the
 * handler of a program that reports crashes. Threads made meanwhile inherit the mask. Stores the
 * mask before in @ret_before, for pthread_sigmask(SIG_SETMASK).
 */
void thread_mask_signals(sigset_t *ret_before);

/*
 * Starts @fn with @arg on a stack of @stack bytes, with the signal mask of thread_mask_signals().
 * The thread has the name of the calling one. Returns 0 with *@ret to join or detach, or a negative
 * errno.
 */
int thread_start(size_t stack, void *(*fn)(void *), void *arg, pthread_t *ret);

/*
 * Initializes @mutex so that its holder has the priority of a thread that waits for it: for what a
 * real-time thread shares with others.
 */
void thread_mutex_init(pthread_mutex_t *mutex);

/* Initializes @cond for waits until a time of CLOCK_MONOTONIC. */
void thread_cond_init(pthread_cond_t *cond);

#endif
