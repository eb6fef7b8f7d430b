/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open-addressing hash table from keys to the numbers of entries in the caller's array.
 *
 * The caller owns the entries, hashes their keys and compares them. The table keeps a number and
 * 32 bits of the hash for each entry, so it grows without the caller and rarely compares different
 * keys. Single entries cannot be removed. Hash with hash_key() if the entries come from a file.
 *
 * An all-zero struct is an empty table. Any number of threads may look entries up while none adds.
 */
#ifndef RINGTAIL_BASE_HASH_TABLE_H
#define RINGTAIL_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_TABLE_NONE UINT32_MAX

struct hash_table {
	struct hash_slot {
		uint32_t hash;	 /* the low bits */
		uint32_t number; /* plus one; 0: free */
	} * slots;		 /* at least a third of them is free */
	uint32_t mask;		 /* number of slots minus one */
	uint32_t nr;		 /* number of entries */
};

/* Whether the entry @number has the key @key. */
typedef bool (*hash_table_same_fn)(const void *entries, uint32_t number, const void *key);

/* Returns the number of slots. */
static inline size_t hash_table_size(const struct hash_table *t)
{
	return t->slots ? (size_t)t->mask + 1 : 0;
}

/*
 * Returns the number of the entry with this @hash and, according to @same, this @key; or
 * HASH_TABLE_NONE. Inline, so that @same is inlined, too: reports look up each frame of each
 * sample.
 */
static inline __attribute__((always_inline)) uint32_t
hash_table_find(const struct hash_table *t, uint64_t hash, hash_table_same_fn same,
		const void *entries, const void *key)
{
	if (!t->slots)
		return HASH_TABLE_NONE;
	for (uint32_t at = (uint32_t)hash & t->mask; t->slots[at].number; at = (at + 1) & t->mask) {
		const struct hash_slot *slot = &t->slots[at];

		if (slot->hash == (uint32_t)hash && same(entries, slot->number - 1, key))
			return slot->number - 1;
	}
	return HASH_TABLE_NONE;
}

/* Makes room for @more entries. Returns 0, or -ENOMEM with the table as before. */
int hash_table_reserve(struct hash_table *t, size_t more);

/* Adds an entry that is not in the table, after hash_table_reserve() made room for it. */
void hash_table_add(struct hash_table *t, uint64_t hash, uint32_t number);

/* Removes all entries and keeps the memory. */
void hash_table_clear(struct hash_table *t);

/* Returns the bytes of memory that the table holds. */
size_t hash_table_memory(const struct hash_table *t);

/* Frees the slots and empties the table. */
void hash_table_release(struct hash_table *t);

#endif
