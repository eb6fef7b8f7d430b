/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up A64 program, random runs of it, and the branches that are true of them.
 *
 * It has user code at ETM_USER and a kernel at ETM_KERNEL, whose code etm_program_code() serves to
 * decoders. A run takes direct, conditional and indirect branches, calls, returns, system calls,
 * faults and interrupts. Failures are asserts.
 */
#ifndef RINGTAIL_TESTS_ETM_PROGRAM_H
#define RINGTAIL_TESTS_ETM_PROGRAM_H

#include "auxtrace/decoder/decoder.h"
#include "etm-writer.h"

#define ETM_USER   0x400000ull
#define ETM_KERNEL 0xffff800000010000ull
#define ETM_STAMP  1000ull /* the first time stamp; each is one more */

struct etm_true_branch {
	uint64_t ip, to;
	uint32_t flags;
};

struct etm_run {
	struct etm_writer writer;
	struct etm_true_branch *branches;
	size_t nr, cap;
	size_t insns; /* executed and traced */
};

struct etm_plan {
	uint32_t seed, tid;
	size_t steps;	   /* instructions */
	size_t sync_every; /* instructions between A-syncs; 0: only the first */
	bool user_only;	   /* the kernel is not traced */
};

/* Makes the trace of a run. etm_run_release() frees it. */
void etm_run(const struct etm_plan *plan, struct etm_run *ret);
void etm_run_release(struct etm_run *r);

/* The name of the file that lacks code where @arg of etm_program_code() is not NULL: the kernel. */
#define ETM_MISSING "/boot/vmlinux"

/* Code of the program; with @kernel_missing not NULL, of user space alone. */
struct aux_code etm_program_code(void *kernel_missing);

#endif
