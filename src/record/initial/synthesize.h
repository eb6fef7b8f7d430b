/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synthesizes records for the initial state, read from procfs, sysfs and bpf(2).
 *
 * The state is kernel and module maps; tasks with their comms, maps (MMAP2, with build-id if asked
 * for and readable) and namespaces; cgroups; ksymbols and BPF programs.
 *
 * The records have a zeroed sample_id trailer of @id_size bytes; time 0 sorts before all others. A
 * process that ends meanwhile is skipped. Files that the recorder may not read, such as other
 * users' maps, are skipped and counted.
 *
 * Threads: any; @emit runs in the caller's thread.
 */
#ifndef RINGTAIL_RECORD_INITIAL_SYNTHESIZE_H
#define RINGTAIL_RECORD_INITIAL_SYNTHESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/initial/emit.h"

struct synth_opts {
	size_t id_size;	   /* bytes of the sample_id trailer (pd_attr_id_trailer_size()) */
	bool all;	   /* every task of the system, else @pids */
	const pid_t *pids; /* processes (thread group ids), with all their threads */
	size_t nr_pids;
	bool about_to_exec; /* @pids exec before they are sampled: their maps are not needed */
	bool kernel; /* kernel and module maps, ksymbols, BPF programs (needs readable kallsyms) */
	bool data_maps; /* also maps without PROT_EXEC (-d, DWARF call graphs) */
	bool build_ids; /* MMAP2 with build-ids, as the kernel writes them with attr.build_id */
	bool namespaces;
	bool no_tasks, no_maps; /* tasks; their maps and those of the kernel */
	bool cgroups;		/* cgroup v2 tree: id and path */
	const char *proc;	/* NULL: /proc; tests point it elsewhere */
};

struct synth_stats {
	uint64_t tasks, maps, modules, ksymbols, bpf, cgroups;
	uint64_t denied; /* processes whose maps may not be read */
	pid_t first_denied;
	/* Kernel and modules left out: no kallsyms, or addresses read as 0 (kptr_restrict). */
	uint64_t hidden;
};

/*
 * Passes all records to @emit with @arg, and fills *@ret_stats (NULL: not wanted). Returns 0, or
 * with @err filled the error of @emit, -ENOMEM or another negative errno.
 */
int synthesize(const struct synth_opts *opts, record_emit_fn *emit, void *arg,
	       struct synth_stats *ret_stats, struct error *err);

#endif
