/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer as a descriptor that becomes readable. Source: timerfd_create(2). Any thread may call.
 */
#ifndef RINGTAIL_SYS_IO_TIMER_H
#define RINGTAIL_SYS_IO_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* One that does not run, close-on-exec and non-blocking. Returns it, or a negative errno. */
int timer_open(void);

/* Every @ms from now on, or once after @ms. Returns 0 or a negative errno. */
int timer_set(int fd, uint64_t ms, bool again);

/* Whether it has rung since it was asked last. */
bool timer_rang(int fd);

#endif
