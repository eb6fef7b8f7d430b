/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table from 64-bit ids (of events, counters, processes, threads) to numbers.
 *
 * Ids cannot be removed. An all-zero struct is an empty table. Any number of threads may look ids
 * up while none adds. Hashes have a random key, so ids may come from a file.
 */
#ifndef RINGTAIL_BASE_ID_TABLE_H
#define RINGTAIL_BASE_ID_TABLE_H

#include "base/hash.h"
#include "base/hash_table.h"

#define ID_TABLE_NONE HASH_TABLE_NONE

struct id_table {
	struct hash_table table;
	struct id_entry {
		uint64_t id;
		uint32_t number;
	} * entries; /* in the order in which they were added */
	size_t cap;
	uint64_t key; /* of hashes */
};

/* Whether the entry at @at has the id @id; for hash_table_find(). */
static inline bool id_table_same(const void *entries, uint32_t at, const void *id)
{
	return ((const struct id_entry *)entries)[at].id == *(const uint64_t *)id;
}

/* Returns the number of @id, or ID_TABLE_NONE. */
static inline uint32_t id_table_find(const struct id_table *t, uint64_t id)
{
	uint32_t at =
		hash_table_find(&t->table, hash_word(t->key, id), id_table_same, t->entries, &id);

	return at == HASH_TABLE_NONE ? ID_TABLE_NONE : t->entries[at].number;
}

/*
 * Makes room for @more ids: as many calls of id_table_put() or id_table_add() then succeed.
 * Returns 0 or -ENOMEM.
 */
int id_table_reserve(struct id_table *t, size_t more);

/*
 * Sets the number of @id to @number, which is less than ID_TABLE_NONE, or replaces it. Returns 0 or
 * -ENOMEM.
 */
int id_table_put(struct id_table *t, uint64_t id, uint32_t number);

/*
 * Returns the number of @id; gives a new id the next number: 0, 1, 2 … Returns ID_TABLE_NONE if
 * memory runs out. Not for a table that id_table_put() filled.
 */
uint32_t id_table_add(struct id_table *t, uint64_t id);

/* Returns the number of ids. */
static inline uint32_t id_table_count(const struct id_table *t)
{
	return t->table.nr;
}

/* Returns the bytes of memory that the table holds. */
size_t id_table_memory(const struct id_table *t);

/* Frees the table's memory and empties it. */
void id_table_release(struct id_table *t);

#endif
