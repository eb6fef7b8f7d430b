/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of CPUs in ascending order: the machine's, and lists written by people ("0-3,5").
 *
 * A struct cpus owns its array; cpus_release() frees it, and accepts zeroes. Any thread.
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

/* Lists the CPUs that are online now. Returns 0, or a negative errno with @err filled. */
int cpus_online(struct cpus *ret, struct error *err);

/*
 * Parses a list such as "0-3,5". Returns 0 with a set that is not empty; -EINVAL with @err naming
 * the wrong part (empty, not a number, backward range, number too large); or -ENOMEM.
 */
int cpus_parse(const char *list, struct cpus *ret, struct error *err);

/* Removes from @set all CPUs that @other lacks. */
void cpus_intersect(struct cpus *set, const struct cpus *other);
/* Copies a set. Returns 0 or -ENOMEM. */
int cpus_copy(const struct cpus *from, struct cpus *ret);
/* Returns whether @cpu is in the set. */
bool cpus_has(const struct cpus *set, int cpu);
/* Frees the array; an empty set remains. */
void cpus_release(struct cpus *set);

/*
 * Returns the C library's form of a set that is not empty, of *@ret_size bytes, for CPU_FREE().
 * NULL: memory is short.
 */
cpu_set_t *cpus_to_set(const struct cpus *set, size_t *ret_size);

/* Returns the number of CPUs that the calling thread may run on; 1 if it is not known. */
unsigned int cpus_allowed(void);

/*
 * Returns the number of CPUs that the calling process may use: of cpus_allowed(), no more than the
 * cgroups below @root/sys/fs/cgroup give it time for (cpu.max, rounded up). @root is "" but in
 * tests.
 */
unsigned int cpus_usable(const char *root);

/* Binds the calling thread to the CPUs of @set. Returns 0 or a negative errno. */
int cpus_run_on(const struct cpus *set);

/* Converts from hwloc's (finite) form of a set. Returns 0 or -ENOMEM. */
int cpus_from_bitmap(const struct hwloc_bitmap_s *map, struct cpus *ret);
/* Converts to hwloc's form of a set. Returns 0 or -ENOMEM. */
int cpus_to_bitmap(const struct cpus *set, struct hwloc_bitmap_s *map);

#endif
