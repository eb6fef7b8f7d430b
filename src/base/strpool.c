// SPDX-License-Identifier: Apache-2.0
#include "base/strpool.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* uthash's own hash function has no random key; see base/hash.h. */
#define HASH_FUNCTION(p, n, ret) ((ret) = (unsigned int)hash_bytes(hash_key(), p, n))
#include <uthash.h>

struct strpool_entry {
	UT_hash_handle hh;
	char text[];
};

struct strpool {
	struct strpool_entry *table;
	size_t bytes; /* of the entries */
};

struct strpool *strpool_new(void)
{
	return calloc(1, sizeof(struct strpool));
}

void strpool_free(struct strpool *pool)
{
	struct strpool_entry *e, *next;

	if (!pool)
		return;
	HASH_ITER (hh, pool->table, e, next) {
		HASH_DEL(pool->table, e);
		free(e);
	}
	free(pool);
}

const char *strpool_intern_len(struct strpool *pool, const char *s, size_t len)
{
	struct strpool_entry *e;

	HASH_FIND(hh, pool->table, s, len, e);
	if (e)
		return e->text;
	e = calloc(1, sizeof(*e) + len + 1);
	if (!e)
		return NULL;
	memcpy(e->text, s, len);
	HASH_ADD_KEYPTR(hh, pool->table, e->text, len, e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	pool->bytes += sizeof(*e) + len + 1;
	return e->text;
}

size_t strpool_memory(const struct strpool *pool)
{
	return pool->bytes +
	       (pool->table ? pool->table->hh.tbl->num_buckets * sizeof(UT_hash_bucket) : 0);
}

const char *strpool_intern(struct strpool *pool, const char *s)
{
	return strpool_intern_len(pool, s, strlen(s));
}
