// SPDX-License-Identifier: Apache-2.0
#include "export/wire/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct sized_key {
	const void *p;
	size_t size;
};

static bool same_key(const void *entries, uint32_t number, const void *key)
{
	const struct sized_key *k = key;

	return !memcmp((const uint8_t *)entries + number * k->size, k->p, k->size);
}

uint32_t intern_put(struct intern *in, const void *key)
{
	const struct sized_key k = {key, in->size};
	uint64_t hash = hash_bytes(hash_key(), key, in->size);
	uint32_t number = hash_table_find(&in->table, hash, same_key, in->entries, &k);

	if (number != HASH_TABLE_NONE)
		return number;
	number = in->table.nr;
	if (array_grow(&in->entries, &in->cap, (size_t)number + 1, in->size) ||
	    hash_table_reserve(&in->table, 1))
		return INTERN_NONE;
	memcpy(in->entries + number * in->size, key, in->size);
	hash_table_add(&in->table, hash, number);
	return number;
}

uint32_t intern_find(const struct intern *in, const void *key)
{
	const struct sized_key k = {key, in->size};

	return hash_table_find(&in->table, hash_bytes(hash_key(), key, in->size), same_key,
			       in->entries, &k);
}

void intern_release(struct intern *in)
{
	hash_table_release(&in->table);
	free(in->entries);
	in->entries = NULL;
	in->cap = 0;
}

const char *intern_string_at(const struct intern_strings *in, uint32_t number, size_t *ret_len)
{
	size_t start = number ? in->ends[number - 1] : 0;

	*ret_len = in->ends[number] - start;
	return in->bytes.data ? (const char *)in->bytes.data + start : "";
}

static bool same_string(const void *strings, uint32_t number, const void *key)
{
	const struct sized_key *k = key;
	size_t len;
	const char *s = intern_string_at(strings, number, &len);

	return len == k->size && (!len || !memcmp(s, k->p, len));
}

uint32_t intern_string(struct intern_strings *in, const char *s, size_t len)
{
	const struct sized_key k = {s, len};
	uint64_t hash = hash_bytes(hash_key(), s, len);
	uint32_t number = hash_table_find(&in->table, hash, same_string, in, &k);

	if (number != HASH_TABLE_NONE)
		return number;
	number = in->table.nr;
	if (array_grow(&in->ends, &in->cap, (size_t)number + 1, sizeof(*in->ends)) ||
	    hash_table_reserve(&in->table, 1) || buf_append(&in->bytes, s, len))
		return INTERN_NONE;
	in->ends[number] = in->bytes.len;
	hash_table_add(&in->table, hash, number);
	return number;
}

void intern_strings_release(struct intern_strings *in)
{
	hash_table_release(&in->table);
	buf_release(&in->bytes);
	free(in->ends);
	*in = (struct intern_strings){0};
}
