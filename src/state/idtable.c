// SPDX-License-Identifier: Apache-2.0
#include "state/idtable.h"

#include <stdlib.h>

#include "base/hash.h"

static uint32_t slot_of(const struct idtable *t, uint32_t id)
{
	return (uint32_t)hash_word(t->key, id) & t->mask;
}

uint32_t idtable_find(const struct idtable *t, uint32_t id)
{
	uint32_t i;

	if (!t->slots)
		return IDTABLE_NONE;
	for (i = slot_of(t, id); t->slots[i].number; i = (i + 1) & t->mask) {
		if (t->slots[i].id == id)
			return t->slots[i].number - 1;
	}
	return IDTABLE_NONE;
}

static void put(struct idtable *t, struct idtable_slot slot)
{
	uint32_t i = slot_of(t, slot.id);

	while (t->slots[i].number)
		i = (i + 1) & t->mask;
	t->slots[i] = slot;
}

static int grow(struct idtable *t)
{
	struct idtable bigger = {.mask = t->slots ? t->mask * 2 + 1 : 63, .key = hash_key()};
	uint32_t i;

	bigger.slots = calloc((size_t)bigger.mask + 1, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; t->slots && i <= t->mask; i++) {
		if (t->slots[i].number)
			put(&bigger, t->slots[i]);
	}
	bigger.count = t->count;
	free(t->slots);
	*t = bigger;
	return 0;
}

uint32_t idtable_add(struct idtable *t, uint32_t id)
{
	uint32_t number = idtable_find(t, id);

	if (number != IDTABLE_NONE)
		return number;
	if ((!t->slots || t->count >= t->mask / 2) && grow(t))
		return IDTABLE_NONE;
	number = t->count++;
	put(t, (struct idtable_slot){.id = id, .number = number + 1});
	return number;
}

size_t idtable_memory(const struct idtable *t)
{
	return t->slots ? ((size_t)t->mask + 1) * sizeof(*t->slots) : 0;
}

void idtable_release(struct idtable *t)
{
	free(t->slots);
	*t = (struct idtable){0};
}
