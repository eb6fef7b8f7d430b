/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulates the life of a machine. Tasks fork, execute programs, map files, rename themselves, end,
 * and are sampled. Delivers the records that a kernel would write, in order of time. Now and then
 * there is a storm of short processes. Ids of tasks are used again.
 */
#ifndef RINGTAIL_TESTS_LIFE_H
#define RINGTAIL_TESTS_LIFE_H

#include "world.h"

#define LIFE_CPUS 2

/* Of all records; samples have TIME at byte 32. */
extern const struct pd_attr life_attr;

/* Contents of a sample, behind its header. */
struct life_sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t number; /* of the sample, from 1; any padding follows */
	char comm[16];	 /* the true name */
	uint64_t pgoff;	 /* of @ip in the file */
	uint64_t file;	 /* number of the file */
};

struct life {
	struct world now;
	uint64_t seed, time; /* ns */
	uint64_t samples, programs, processes, records;
	uint32_t last_id;
	uint32_t alive[WORLD_IDS]; /* tasks, in no order */
	void (*record)(const struct perf_event_header *hdr, unsigned int cpu, void *arg);
	void *arg;
};

/* Starts some tasks that never end, and makes all cgroups that are remembered. */
void life_begin(struct life *l);

/* Simulates one random step. */
void life_step(struct life *l);

#endif
