/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maps of a process, without overlaps, shared copy-on-write. For task_table.c alone.
 *
 * Ownership by reference counts. Threads: one at a time.
 */
#ifndef RINGTAIL_RECORD_LIVE_TASK_MAPS_H
#define RINGTAIL_RECORD_LIVE_TASK_MAPS_H

#include "perfdata/record.h"

/* A mapping as recorded. Pieces of it share this struct, after later mappings covered the rest. */
struct live_file {
	unsigned int refs;
	uint16_t misc;
	struct pd_mmap mmap; /* filename is name below; addr, len and pgoff are in live_map */
	char name[];
};

struct live_map {
	uint64_t addr, end, pgoff; /* end: exclusive */
	struct live_file *file;
};

struct task_maps {
	unsigned int refs;
	struct live_map *map; /* in order of address */
	size_t nr, capacity;
};

/* Takes a reference to @maps (may be NULL) and returns it. */
struct task_maps *task_maps_get(struct task_maps *maps);

/* Drops a reference; the last frees @maps. */
void task_maps_put(struct task_maps *maps); /* accepts NULL */

/*
 * Adds @mmap and cuts what it covers. *@ret may be NULL; it is replaced by a copy if it has other
 * users. Returns 0 or -ENOMEM.
 */
int task_maps_add(struct task_maps **ret, uint16_t misc, const struct pd_mmap *mmap);

#endif
