/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of synthesize(): their shared state, and functions that make single records.
 *
 * Each function returns 0, or an error that ends the synthesis: that of the emit function or
 * -ENOMEM. Files that cannot be read are no errors: they are skipped or counted.
 * Threads: that of synthesize().
 */
#ifndef RINGTAIL_RECORD_INITIAL_SYNTH_H
#define RINGTAIL_RECORD_INITIAL_SYNTH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "record/initial/buildid.h"
#include "record/initial/synthesize.h"

struct synth {
	const struct synth_opts *opts;
	const char *proc; /* path of procfs */
	int proc_fd;
	record_emit_fn *emit;
	void *arg;
	struct synth_stats stats;
	struct buf rec;			  /* the current record */
	struct buf text;		  /* the file that is being parsed */
	struct build_id_cache *build_ids; /* NULL without opts->build_ids */
	uint64_t nsfs_dev;		  /* device of all namespaces; 0: not known yet */
	char hugetlbfs[256];		  /* its mount point; empty: not mounted */
};

/*
 * Emits a record of @body (a multiple of 8 bytes), the @name_len bytes of @name with NUL and
 * padding (NULL: no name), and a zeroed trailer. As in the kernel, "//toolong" replaces a name that
 * is too long.
 */
int synth_record(struct synth *s, uint32_t type, uint16_t misc, const void *body, size_t body_len,
		 const char *name, size_t name_len);

/* A map, for an MMAP2 record. */
struct synth_map {
	uint16_t misc;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff; /* bytes */
	uint32_t maj, min;
	uint64_t ino;
	uint32_t prot, flags;
	const struct build_id *build_id; /* NULL or size 0: none */
	const char *name;
	size_t name_len;
};

/* Emits an MMAP2 record for @map. */
int synth_mmap2(struct synth *s, const struct synth_map *map);

struct kernel_symbols;

/* Emits the maps of kernel and modules, then calls synth_bpf(). */
int synth_kernel(struct synth *s);

/* Emits KSYMBOL and BPF_EVENT records. */
int synth_bpf(struct synth *s, const struct kernel_symbols *syms);

/* Emits CGROUP records. */
int synth_cgroups(struct synth *s);

/* Emits the records of process @pid and all its threads. */
int synth_process(struct synth *s, pid_t pid);

#define SYNTH_PAGE_SIZE 4096 /* the size of a ksymbol of unknown size, as in perf */

#endif
