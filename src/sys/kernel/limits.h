/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process may do with perf events: capabilities, sysctls, resource limits, memory.
 * Read once at the start of a recording. Any thread may call.
 */
#ifndef RINGTAIL_SYS_KERNEL_LIMITS_H
#define RINGTAIL_SYS_KERNEL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limits {
	/* Of the first user namespace, but for ptrace. */
	bool perfmon;  /* CAP_PERFMON or CAP_SYS_ADMIN: perf_event_paranoid does not bind us */
	bool admin;    /* CAP_SYS_ADMIN: some kernels want it at perf_event_paranoid 3 and more */
	bool ipc_lock; /* CAP_IPC_LOCK: no bound on locked memory */
	bool ptrace;   /* CAP_SYS_PTRACE: other users' tasks (with perfmon also allowed) */
	int paranoid;  /* kernel.perf_event_paranoid; 2 if unreadable */
	int kptr_restrict;
	uint64_t mlock_kb;	  /* kernel.perf_event_mlock_kb, for each online CPU */
	uint64_t memlock;	  /* RLIMIT_MEMLOCK, bytes; UINT64_MAX: unlimited */
	uint64_t mem_total;	  /* bytes */
	uint64_t max_sample_rate; /* kernel.perf_event_max_sample_rate, Hz */
	size_t page_size;	  /* bytes */
};

/* Fills @ret; what cannot be read gets the kernel's default. */
void limits_read(struct limits *ret);

/* May the kernel (ring 0) be measured; may whole CPUs? */
bool limits_may_kernel(const struct limits *l);
bool limits_may_cpu(const struct limits *l);

/*
 * Bytes for the data of each of @nr_rings rings: @want where that much may be locked, and never
 * over 1/64 of memory in all; a power of two, at least a page. @beside: what else is locked for
 * each of them, bytes. @online is the number of online CPUs, by which the kernel multiplies
 * perf_event_mlock_kb.
 */
uint64_t limits_ring_size(const struct limits *l, uint64_t want, size_t nr_rings, uint64_t beside,
			  size_t online);

/*
 * Raises RLIMIT_NOFILE so that @need descriptors fit, the hard limit too where that is allowed.
 * Returns the limit now in force, which may be less than @need.
 */
uint64_t limits_raise_files(uint64_t need);

#endif
