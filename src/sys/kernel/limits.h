/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of this process for perf events: capabilities, sysctls, resource limits, memory.
 *
 * Read once at the start of a recording. Any thread may call.
 */
#ifndef RINGTAIL_SYS_KERNEL_LIMITS_H
#define RINGTAIL_SYS_KERNEL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limits {
	/* Capabilities in the first user namespace, except ptrace. */
	bool perfmon; /* CAP_PERFMON or CAP_SYS_ADMIN: perf_event_paranoid does not apply */
	bool admin; /* CAP_SYS_ADMIN: some kernels require it if perf_event_paranoid is 3 or more */
	bool ipc_lock; /* CAP_IPC_LOCK: no limit on locked memory */
	bool ptrace;   /* CAP_SYS_PTRACE: other users' tasks (perfmon allows them, too) */
	int paranoid;  /* kernel.perf_event_paranoid; 2 if unreadable */
	int kptr_restrict;
	uint64_t mlock_kb;	  /* kernel.perf_event_mlock_kb, for each online CPU */
	uint64_t memlock;	  /* RLIMIT_MEMLOCK, bytes; UINT64_MAX: unlimited */
	uint64_t mem_total;	  /* bytes */
	uint64_t max_sample_rate; /* kernel.perf_event_max_sample_rate, Hz */
	size_t page_size;	  /* bytes */
};

/* Fills @ret; a value that cannot be read becomes the kernel's default. */
void limits_read(struct limits *ret);

/* Returns whether the process may measure the kernel (ring 0). */
bool limits_may_kernel(const struct limits *l);
/* Returns whether the process may measure whole CPUs. */
bool limits_may_cpu(const struct limits *l);

/*
 * Returns the bytes of data for each of @nr_rings rings: @want if that much may be locked, and
 * never more than 1/64 of memory for all rings; a power of two, at least a page. @beside: other
 * bytes locked for each ring. @online: number of online CPUs, by which the kernel multiplies
 * perf_event_mlock_kb.
 */
uint64_t limits_ring_size(const struct limits *l, uint64_t want, size_t nr_rings, uint64_t beside,
			  size_t online);

/*
 * Raises RLIMIT_NOFILE so that @need descriptors fit; the hard limit, too, if that is allowed.
 * Returns the limit now in force, which may be less than @need.
 */
uint64_t limits_raise_files(uint64_t need);

#endif
