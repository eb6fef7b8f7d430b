/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer: a descriptor that becomes readable when it expires. Source: timerfd_create(2). Any
 * thread.
 */
#ifndef RINGTAIL_SYS_IO_TIMER_H
#define RINGTAIL_SYS_IO_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* Returns a stopped timer (close-on-exec, non-blocking) for close(), or a negative errno. */
int timer_open(void);

/* Starts it: with @again it expires every @ms, else once after @ms. Returns 0 or a negative errno.
 */
int timer_set(int fd, uint64_t ms, bool again);

/* Whether it has expired since the last call. */
bool timer_rang(int fd);

#endif
