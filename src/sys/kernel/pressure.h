/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stalls for want of CPU, memory or I/O, as the kernel tells them
 * (Documentation/accounting/psi.rst).
 *
 * No state; any thread.
 */
#ifndef RINGTAIL_SYS_KERNEL_PRESSURE_H
#define RINGTAIL_SYS_KERNEL_PRESSURE_H

#include "base/error.h"

/*
 * Opens a descriptor that poll(2) has POLLPRI for, at most once in each window, when any task has
 * stalled on @resource (a file of @dir; NULL: of /proc/pressure) for @some_ms in @window_ms.
 * POLLERR: there will be no more. Returns the descriptor, or a negative errno with @err saying what
 * to do.
 */
int pressure_open(const char *dir, const char *resource, unsigned int some_ms,
		  unsigned int window_ms, struct error *err);

#endif
