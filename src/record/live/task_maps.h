/* SPDX-License-Identifier: Apache-2.0 */
/* The maps of a process, without overlaps; shared copy-on-write. Of record/live.c. */
#ifndef RINGTAIL_RECORD_LIVE_TASK_MAPS_H
#define RINGTAIL_RECORD_LIVE_TASK_MAPS_H

#include "perfdata/record.h"

/* What all pieces of one mapping have in common. */
struct live_file {
	unsigned int refs;
	uint16_t misc;
	struct pd_mmap mmap; /* addr, len and pgoff are the piece's; filename is name below */
	char name[];
};

struct live_map {
	uint64_t addr, end, pgoff; /* end: exclusive */
	struct live_file *file;
};

struct task_maps {
	unsigned int refs;
	struct live_map *map; /* by address */
	size_t nr, capacity;
};

/* Another user of @maps (NULL: none). */
struct task_maps *task_maps_get(struct task_maps *maps);
void task_maps_put(struct task_maps *maps); /* accepts NULL */

/*
 * Maps @mmap over what was there. *@ret may be NULL, and is replaced when it has other users.
 * Returns 0 or -ENOMEM.
 */
int task_maps_add(struct task_maps **ret, uint16_t misc, const struct pd_mmap *mmap);

#endif
