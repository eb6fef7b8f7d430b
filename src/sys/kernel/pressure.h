/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for pressure: stalls of tasks that lack CPU, memory or I/O.
 *
 * Source: Documentation/accounting/psi.rst.
 * No state; any thread.
 */
#ifndef RINGTAIL_SYS_KERNEL_PRESSURE_H
#define RINGTAIL_SYS_KERNEL_PRESSURE_H

#include "base/error.h"

/*
 * Opens a descriptor for poll(2). It reports POLLPRI, at most once in each window, when tasks have
 * stalled on @resource (a file of @dir; NULL: of /proc/pressure) for @some_ms within @window_ms. It
 * reports POLLERR if no more will come. Returns the descriptor for close(), or a negative errno
 * with @err, which contains advice.
 */
int pressure_open(const char *dir, const char *resource, unsigned int some_ms,
		  unsigned int window_ms, struct error *err);

#endif
