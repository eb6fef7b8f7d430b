/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of CPUs, in ascending order: the machine's, and those that people write ("0-3,5").
 * A struct cpus owns its array; cpus_release() frees it, and accepts an all-zero struct.
 */
#ifndef RINGTAIL_SYS_KERNEL_CPUS_H
#define RINGTAIL_SYS_KERNEL_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct hwloc_bitmap_s; /* of hwloc.h */

struct cpus {
	int *ids;
	size_t nr;
};

#define CPUS_MAX 65536 /* CPU numbers are below this; the kernel's NR_CPUS is at most 8192 */

/* The CPUs that are online now. Returns 0 or a negative errno with @err filled. */
int cpus_online(struct cpus *ret, struct error *err);

/*
 * Parses a list such as "0-3,5". Returns 0, -EINVAL with @err naming the part that is wrong
 * (empty, no number, range backwards, number too large), or -ENOMEM. The set is not empty.
 */
int cpus_parse(const char *list, struct cpus *ret, struct error *err);

/* Keeps in @set what is also in @other. */
void cpus_intersect(struct cpus *set, const struct cpus *other);
int cpus_copy(const struct cpus *from, struct cpus *ret); /* 0 or -ENOMEM */
bool cpus_has(const struct cpus *set, int cpu);
void cpus_release(struct cpus *set);

/*
 * The C library's form of a set that is not empty, of *@ret_size bytes, to be freed with
 * CPU_FREE(). Returns NULL when out of memory.
 */
cpu_set_t *cpus_to_set(const struct cpus *set, size_t *ret_size);

/* On how many CPUs the calling thread may run; 1 where that is not known. */
unsigned int cpus_allowed(void);

/* The calling thread runs on these from now on. Returns 0 or a negative errno. */
int cpus_run_on(const struct cpus *set);

/* From and to hwloc's (finite) form of a set. 0 or -ENOMEM. */
int cpus_from_bitmap(const struct hwloc_bitmap_s *map, struct cpus *ret);
int cpus_to_bitmap(const struct cpus *set, struct hwloc_bitmap_s *map);

#endif
