/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the header of a recording says about this machine: the contents of perf's feature sections,
 * gathered from uname, procfs, sysfs and hwloc.
 */
#ifndef RINGTAIL_RECORD_INITIAL_MACHINE_H
#define RINGTAIL_RECORD_INITIAL_MACHINE_H

#include "data/writer/writer.h"
#include "perfdata/feature.h"

/* Feature contents under way to a writer; owns their bytes. */
struct feature_set {
	struct writer_feature *features;
	size_t count, capacity;
};

/* Adds the contents of @content as @feature (takes over its memory, empties it). 0 or -ENOMEM. */
int feature_set_add(struct feature_set *set, unsigned int feature, struct buf *content);
void feature_set_release(struct feature_set *set);

/*
 * Features known before recording: HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID,
 * TOTAL_MEM, CMDLINE (@argv, @argc), EVENT_DESC and GROUP_DESC (of @list), CPU_TOPOLOGY,
 * NUMA_TOPOLOGY, PMU_MAPPINGS, CACHE, MEM_TOPOLOGY, CLOCKID and CLOCK_DATA (if @clockid >= 0).
 * One that this machine cannot give is left out. Returns 0 or -ENOMEM.
 */
int machine_features(struct feature_set *set, const struct pd_evlist *list, int argc,
		     const char *const *argv, int clockid);

/*
 * TRACING_DATA for the tracepoints of @list, in the format of trace-cmd's header as perf expects it
 * (tracefs formats of these events, kallsyms left empty, printk formats, saved cmdlines); nothing
 * is added when there is no tracepoint. Returns 0, -ENOMEM, -errno with @err filled.
 */
int machine_tracing_data(struct feature_set *set, const struct pd_evlist *list, struct error *err);

/* Build-id of the running kernel from /sys/kernel/notes. Returns its size in bytes, or 0. */
size_t machine_kernel_build_id(uint8_t ret[PD_BUILD_ID_MAX]);

/* Build-id of an ELF file (its GNU note), libelf. Returns its size in bytes, or 0. */
size_t machine_file_build_id(const char *path, uint8_t ret[PD_BUILD_ID_MAX]);

#endif
