/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes perf's feature sections that describe this machine, from uname, procfs, sysfs and hwloc.
 *
 * Source of the formats: tools/perf/Documentation/perf.data-file-format.txt (Linux 6.1).
 * Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_INITIAL_MACHINE_H
#define RINGTAIL_RECORD_INITIAL_MACHINE_H

#include "data/writer/writer.h"
#include "perfdata/feature.h"

/* Contents of features for a writer; owns their bytes. */
struct feature_set {
	struct writer_feature *features;
	size_t count, capacity;
};

/*
 * Adds @content as @feature, takes over its memory and empties it. Returns 0 or -ENOMEM.
 */
int feature_set_add(struct feature_set *set, unsigned int feature, struct buf *content);

/* Frees all contents and empties the set. */
void feature_set_release(struct feature_set *set);

/*
 * Adds the features known before recording: HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC,
 * CPUID, TOTAL_MEM, CMDLINE (@argv, @argc), EVENT_DESC and GROUP_DESC (of @list), CPU_TOPOLOGY,
 * NUMA_TOPOLOGY, PMU_MAPPINGS, CACHE, MEM_TOPOLOGY, CLOCKID and CLOCK_DATA (if @clockid >= 0).
 * Leaves out features that this machine does not have. Returns 0 or -ENOMEM.
 */
int machine_features(struct feature_set *set, const struct pd_evlist *list, int argc,
		     const char *const *argv, int clockid);

/*
 * Adds TRACING_DATA for the tracepoints of @list, in trace-cmd's header format as perf expects it:
 * tracefs formats of these events, an empty kallsyms, printk formats, saved cmdlines. Adds nothing
 * without tracepoints. Returns 0 or a negative errno with @err filled.
 */
int machine_tracing_data(struct feature_set *set, const struct pd_evlist *list, struct error *err);

/* Reads the running kernel's build-id from /sys/kernel/notes. Returns its size in bytes, or 0. */
size_t machine_kernel_build_id(uint8_t ret[PD_BUILD_ID_MAX]);

/* Reads the build-id of an ELF file (its GNU note) with libelf. Returns its size in bytes, or 0. */
size_t machine_file_build_id(const char *path, uint8_t ret[PD_BUILD_ID_MAX]);

#endif
