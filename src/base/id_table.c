// SPDX-License-Identifier: Apache-2.0
#include "base/id_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

int id_table_reserve(struct id_table *t, size_t more)
{
	int rc = hash_table_reserve(&t->table, more);

	t->key = hash_key();
	return rc ? rc : array_grow(&t->entries, &t->cap, t->table.nr + more, sizeof(*t->entries));
}

/* Adds @id, which is not in the table and for which there is room. */
static void append(struct id_table *t, uint64_t id, uint32_t number)
{
	uint32_t at = t->table.nr;

	t->entries[at] = (struct id_entry){id, number};
	hash_table_add(&t->table, hash_word(t->key, id), at);
}

int id_table_put(struct id_table *t, uint64_t id, uint32_t number)
{
	uint32_t at =
		hash_table_find(&t->table, hash_word(t->key, id), id_table_same, t->entries, &id);
	int rc;

	if (at != HASH_TABLE_NONE) {
		t->entries[at].number = number;
		return 0;
	}
	rc = id_table_reserve(t, 1);
	if (!rc)
		append(t, id, number);
	return rc;
}

uint32_t id_table_add(struct id_table *t, uint64_t id)
{
	uint32_t number = id_table_find(t, id);

	if (number != ID_TABLE_NONE)
		return number;
	if (id_table_reserve(t, 1))
		return ID_TABLE_NONE;
	number = t->table.nr;
	append(t, id, number);
	return number;
}

size_t id_table_memory(const struct id_table *t)
{
	return hash_table_memory(&t->table) + t->cap * sizeof(*t->entries);
}

void id_table_release(struct id_table *t)
{
	hash_table_release(&t->table);
	free(t->entries);
	*t = (struct id_table){0};
}
