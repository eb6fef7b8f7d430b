/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned keys: equal keys have equal numbers, counted from 0 in the order of arrival.
 *
 * Keys are bytes of one size, or strings. Tables only grow: by the number of different keys. Hashes
 * have a random key, so keys may come from a file. One thread at a time uses a table.
 */
#ifndef RINGTAIL_EXPORT_WIRE_INTERN_H
#define RINGTAIL_EXPORT_WIRE_INTERN_H

#include "base/buf.h"
#include "base/hash_table.h"

#define INTERN_NONE HASH_TABLE_NONE

/* All zero but @size: an empty table. */
struct intern {
	size_t size; /* of a key, bytes; padding in it must be zero */
	struct hash_table table;
	uint8_t *entries;
	size_t cap;
};

/* Returns the number of the key, or INTERN_NONE if memory runs out. */
uint32_t intern_put(struct intern *in, const void *key);
/* Returns the number of the key, or INTERN_NONE if it is not in the table. */
uint32_t intern_find(const struct intern *in, const void *key);
/* Frees the table's memory and empties it. */
void intern_release(struct intern *in);

/* Returns the number of keys. */
static inline uint32_t intern_count(const struct intern *in)
{
	return in->table.nr;
}

/* Returns key @number, which is in the table. The next intern_put() may move it. */
static inline const void *intern_at(const struct intern *in, uint32_t number)
{
	return in->entries + number * in->size;
}

/* All zero: empty. */
struct intern_strings {
	struct hash_table table;
	struct buf bytes;
	size_t *ends; /* of each string in @bytes */
	size_t cap;
};

/* Returns the number of the string of @len bytes, or INTERN_NONE if memory runs out. */
uint32_t intern_string(struct intern_strings *in, const char *s, size_t len);
/* Returns string @number, which is in the table, without a NUL. The next put may move it. */
const char *intern_string_at(const struct intern_strings *in, uint32_t number, size_t *ret_len);
/* Frees the table's memory and empties it. */
void intern_strings_release(struct intern_strings *in);

#endif
