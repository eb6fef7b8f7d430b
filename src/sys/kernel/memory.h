/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory there is for us. */
#ifndef RINGTAIL_SYS_KERNEL_MEMORY_H
#define RINGTAIL_SYS_KERNEL_MEMORY_H

#include <stdint.h>

/*
 * What our cgroup, or one above it, may take at most, as /proc and /sys below @root ("" on this
 * machine) have it: bytes, UINT64_MAX without a limit. Of version 1 and 2 of cgroups.
 */
uint64_t memory_cgroup_limit(const char *root);

/* The machine's memory, or less where a cgroup bounds it: bytes. */
uint64_t memory_total(void);

#endif
