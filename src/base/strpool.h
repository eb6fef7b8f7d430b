/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: equal strings have equal pointers, and live as long as the pool.
 *
 * One thread at a time may intern; any thread may read the strings.
 */
#ifndef RINGTAIL_BASE_STRPOOL_H
#define RINGTAIL_BASE_STRPOOL_H

#include <stddef.h>

struct strpool;

/* Returns a new pool for strpool_free(), or NULL if memory runs out. */
struct strpool *strpool_new(void);

/* Frees the pool and all its strings. Accepts NULL. */
void strpool_free(struct strpool *pool);

/* Returns the pool's copy of the @len bytes at @s, NUL-terminated; NULL if memory runs out. */
const char *strpool_intern_len(struct strpool *pool, const char *s, size_t len);
/* As strpool_intern_len(), for the whole string @s. */
const char *strpool_intern(struct strpool *pool, const char *s);

/* Returns the approximate bytes of memory that the pool holds. */
size_t strpool_memory(const struct strpool *pool);

#endif
