/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cgroups by name, in the hierarchy that perf events use: version 1's of the perf_event controller
 * if the kernel has one, else version 2's. Any thread may call.
 */
#ifndef RINGTAIL_SYS_KERNEL_CGROUP_H
#define RINGTAIL_SYS_KERNEL_CGROUP_H

#include "base/error.h"

/*
 * Opens the directory of the cgroup @name, a path below the mount ("system.slice/ssh.service") or
 * the whole path of its directory. Returns a descriptor for perf_event_open_cgroup() and close(2),
 * or with @err filled -ENOENT (no such group, or no hierarchy is mounted) or another negative
 * errno.
 */
int cgroup_open(const char *name, struct error *err);

#endif
