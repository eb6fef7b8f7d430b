/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of all living tasks, as simple as possible: tables by id and a list of maps for each
 * process. Each sideband record changes it. It is the reference for record/live/.
 */
#ifndef RINGTAIL_TESTS_WORLD_H
#define RINGTAIL_TESTS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata/record.h"

#define WORLD_IDS  4096u /* ids of tasks and processes, from 1 */
#define WORLD_MAPS 24u	 /* maps of a process */

struct world_map {
	uint64_t start, end, pgoff; /* end: exclusive */
	uint32_t file;		    /* its name is "/file/NUMBER" */
};

struct world {
	struct world_task {
		uint32_t pid; /* 0: no such task */
		char comm[16];
	} tasks[WORLD_IDS];
	struct world_process {
		uint32_t tasks, nr;
		struct world_map maps[WORLD_MAPS]; /* by address */
	} processes[WORLD_IDS];
	size_t alive;	 /* tasks */
	size_t overflow; /* maps without room: must be 0, or the test proves nothing */
};

/* Applies a record of the events of @attr; records about no task change nothing. */
void world_apply(struct world *w, const struct pd_attr *attr, const struct perf_event_header *hdr);

/* The map that contains @addr, or NULL. */
const struct world_map *world_find(const struct world *w, uint32_t pid, uint64_t addr);

/* Fails the test if the two differ. */
void world_assert_equal(const struct world *a, const struct world *b);

#endif
