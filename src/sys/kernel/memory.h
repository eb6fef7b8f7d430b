/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the machine's memory and the limits of cgroups. No state; any thread. */
#ifndef RINGTAIL_SYS_KERNEL_MEMORY_H
#define RINGTAIL_SYS_KERNEL_MEMORY_H

#include <stdint.h>

/*
 * Returns the smallest memory limit of our cgroup and those above it, in bytes; UINT64_MAX without
 * a limit. Reads /proc and /sys below @root ("" for this machine), cgroups of versions 1 and 2.
 */
uint64_t memory_cgroup_limit(const char *root);

/* Returns the machine's memory in bytes, or the cgroup's limit if that is less. */
uint64_t memory_total(void);

#endif
