/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signal mask of threads that leave the signals of the process to other threads.
 *
 * Threads: any; it changes only the calling thread's mask.
 */
#ifndef RINGTAIL_SYS_KERNEL_SIGNAL_MASK_H
#define RINGTAIL_SYS_KERNEL_SIGNAL_MASK_H

#include <signal.h>

/*
 * Blocks all signals but those that a thread's own fault raises (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP, SIGSYS): while one of these is blocked, the kernel kills the process without calling the
 * handler of a program that reports crashes. Threads made meanwhile inherit the mask. Stores the
 * mask before in @ret_before, for pthread_sigmask(SIG_SETMASK).
 */
void signal_mask_block(sigset_t *ret_before);

#endif
