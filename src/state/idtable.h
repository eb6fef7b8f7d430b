/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process and thread ids to dense numbers: open addressing, nothing is ever removed.
 * Internal to state/. Lookups may run in any number of threads while nothing is added.
 */
#ifndef RINGTAIL_STATE_IDTABLE_H
#define RINGTAIL_STATE_IDTABLE_H

#include <stddef.h>
#include <stdint.h>

#define IDTABLE_NONE UINT32_MAX

/* An all-zero struct is an empty table. */
struct idtable {
	struct idtable_slot {
		uint32_t id;
		uint32_t number; /* plus one; 0: free */
	} * slots;
	uint32_t mask; /* number of slots less one */
	uint32_t count;
	uint64_t key; /* of hashes */
};

/* The number of @id, or IDTABLE_NONE. */
uint32_t idtable_find(const struct idtable *t, uint32_t id);

/* The number of @id, which is the next one when @id is new; IDTABLE_NONE when out of memory. */
uint32_t idtable_add(struct idtable *t, uint32_t id);

size_t idtable_memory(const struct idtable *t); /* bytes */
void idtable_release(struct idtable *t);	/* an empty table remains */

#endif
