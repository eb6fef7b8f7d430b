/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single features of this machine; each function appends one to a buffer in the file's format.
 *
 * Each returns 0, -ENOMEM, or another negative errno when this machine does not have the feature;
 * @b may then have a part of it. For machine.c and tests alone.
 */
#ifndef RINGTAIL_RECORD_INITIAL_MACHINE_PARTS_H
#define RINGTAIL_RECORD_INITIAL_MACHINE_PARTS_H

#include "base/buf.h"

/* Where sysfs and procfs are mounted; tests have directories of their own. */
struct machine_roots {
	const char *sys, *proc;
};

/* Each appends one feature: the machine, its CPUs and PMUs. Returns as above. */
int machine_nrcpus(const struct machine_roots *roots, struct buf *b);
int machine_cpudesc(const struct machine_roots *roots, struct buf *b);
int machine_cpuid(const struct machine_roots *roots, struct buf *b);
int machine_total_mem(const struct machine_roots *roots, struct buf *b);
int machine_pmu_mappings(const struct machine_roots *roots, struct buf *b);

/* Each appends one feature: topology of CPUs, NUMA nodes, memory, and caches. Returns as above. */
int machine_cpu_topology(const struct machine_roots *roots, struct buf *b);
int machine_numa_topology(const struct machine_roots *roots, struct buf *b);
int machine_mem_topology(const struct machine_roots *roots, struct buf *b);
int machine_cache(const struct machine_roots *roots, struct buf *b);

/*
 * Returns the highest CPU number in sysfs's list @which ("present" or "possible") plus 1, or a
 * negative errno.
 */
int machine_nr_cpus(const struct machine_roots *roots, const char *which);

#endif
