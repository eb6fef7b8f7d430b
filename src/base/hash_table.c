// SPDX-License-Identifier: Apache-2.0
#include "base/hash_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE   ((size_t)64)
#define LARGEST_SIZE ((size_t)1 << 32) /* slots that 32 bits of a hash can address */

/* Returns the most entries for @size slots. More would cost long walks, fewer memory. */
static size_t room(size_t size)
{
	return size / 3 * 2;
}

static void put(struct hash_table *t, struct hash_slot slot)
{
	uint32_t at = slot.hash & t->mask;

	while (t->slots[at].number)
		at = (at + 1) & t->mask;
	t->slots[at] = slot;
}

int hash_table_reserve(struct hash_table *t, size_t more)
{
	size_t old = hash_table_size(t), size = old ? old : FIRST_SIZE;
	struct hash_table wide = {.nr = t->nr};

	if (more > room(LARGEST_SIZE) - t->nr)
		return -ENOMEM;
	while (room(size) < t->nr + more)
		size *= 2;
	if (size == old)
		return 0;
	wide.slots = calloc(size, sizeof(*wide.slots));
	if (!wide.slots)
		return -ENOMEM;
	wide.mask = (uint32_t)(size - 1);
	for (size_t i = 0; i < old; i++)
		if (t->slots[i].number)
			put(&wide, t->slots[i]);
	free(t->slots);
	*t = wide;
	return 0;
}

void hash_table_add(struct hash_table *t, uint64_t hash, uint32_t number)
{
	assert(t->nr < room(hash_table_size(t)));
	put(t, (struct hash_slot){(uint32_t)hash, number + 1});
	t->nr++;
}

void hash_table_clear(struct hash_table *t)
{
	if (t->slots)
		memset(t->slots, 0, hash_table_memory(t));
	t->nr = 0;
}

size_t hash_table_memory(const struct hash_table *t)
{
	return hash_table_size(t) * sizeof(*t->slots);
}

void hash_table_release(struct hash_table *t)
{
	free(t->slots);
	*t = (struct hash_table){0};
}
