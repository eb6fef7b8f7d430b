/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of synthesize(): what they share, and the making of single records.
 *
 * Every function here returns 0 to go on; anything else (from the emit function, or -ENOMEM) ends
 * the synthesis. Files that cannot be read are no errors: they are skipped or counted.
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
	struct buf rec;			  /* the record being made */
	struct buf text;		  /* the file being parsed */
	struct build_id_cache *build_ids; /* NULL without opts->build_ids */
	uint64_t nsfs_dev;		  /* device of all namespaces; 0: not known yet */
	char hugetlbfs[256];		  /* where it is mounted; empty if it is not */
};

/*
 * Makes a record of @body (a multiple of 8 bytes), then, unless @name is NULL, the @name_len bytes
 * of name with NUL and padding, then the zeroed trailer, and emits it. A name that is longer than
 * the kernel would write is replaced as the kernel does.
 */
int synth_record(struct synth *s, uint32_t type, uint16_t misc, const void *body, size_t body_len,
		 const char *name, size_t name_len);

/* MMAP2, or MMAP for the kernel's side without build-ids. */
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
int synth_mmap2(struct synth *s, const struct synth_map *map);

struct kernel_symbols;

int synth_kernel(struct synth *s); /* kernel and module maps, then synth_bpf() */
int synth_bpf(struct synth *s, const struct kernel_symbols *syms); /* KSYMBOL, BPF_EVENT */
int synth_cgroups(struct synth *s); /* CGROUP, for each of the hierarchy of perf_event, or of v2 */
int synth_process(struct synth *s, pid_t pid); /* all threads of it */

#define SYNTH_PAGE_SIZE 4096 /* what a ksymbol of unknown size is taken for, as in perf */

#endif
