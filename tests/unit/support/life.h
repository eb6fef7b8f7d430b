/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a machine, made up: tasks that fork, execute programs, map, rename themselves, end,
 * and are sampled meanwhile, as the records that a kernel would write of it, in order of time. Now
 * and then there is a storm of short processes. Numbers of tasks are used again.
 */
#ifndef RINGTAIL_TESTS_LIFE_H
#define RINGTAIL_TESTS_LIFE_H

#include "world.h"

#define LIFE_CPUS 2

/* Of every record: the trailer, and that samples have TIME at byte 32. */
extern const struct pd_attr life_attr;

/* What a sample says of itself, behind its header. */
struct life_sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t number; /* of all, from 1; any padding follows */
	char comm[16];	 /* what is true */
	uint64_t pgoff;	 /* of ip, in the file */
	uint64_t file;	 /* its number */
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

/* Starts some tasks that never end, and brings all cgroups that are remembered. */
void life_begin(struct life *l);

/* Whatever happens next. */
void life_step(struct life *l);

#endif
