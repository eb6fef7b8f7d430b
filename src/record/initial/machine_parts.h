/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single features of this machine, each appended to a buffer in the file's form.
 *
 * Returns 0; -ENOMEM; or another negative errno when this machine cannot give it (@b may then hold
 * a part). @sys is where sysfs is mounted, @proc where procfs is; tests have their own.
 */
#ifndef RINGTAIL_RECORD_INITIAL_MACHINE_PARTS_H
#define RINGTAIL_RECORD_INITIAL_MACHINE_PARTS_H

#include "base/buf.h"

struct machine_roots {
	const char *sys, *proc;
};

/*
 * Each appends the contents of one feature of the header. Returns 0, -ENOMEM, or another negative
 * errno when the kernel does not say.
 */
int machine_nrcpus(const struct machine_roots *roots, struct buf *b);
int machine_cpudesc(const struct machine_roots *roots, struct buf *b);
int machine_cpuid(const struct machine_roots *roots, struct buf *b);
int machine_total_mem(const struct machine_roots *roots, struct buf *b);
int machine_pmu_mappings(const struct machine_roots *roots, struct buf *b);

/* Likewise. */
int machine_cpu_topology(const struct machine_roots *roots, struct buf *b);
int machine_numa_topology(const struct machine_roots *roots, struct buf *b);
int machine_mem_topology(const struct machine_roots *roots, struct buf *b);
int machine_cache(const struct machine_roots *roots, struct buf *b);

/* One past the highest CPU number in sysfs's "present" or "possible", or a negative errno. */
int machine_nr_cpus(const struct machine_roots *roots, const char *which);

#endif
