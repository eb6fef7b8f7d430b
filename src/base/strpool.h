/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: equal strings have equal pointers, and live as long as the pool.
 * Not safe against concurrent strpool_intern(); the strings themselves may be read by any thread.
 */
#ifndef RINGTAIL_BASE_STRPOOL_H
#define RINGTAIL_BASE_STRPOOL_H

#include <stddef.h>

struct strpool;

/* Returns a new pool or NULL when out of memory. */
struct strpool *strpool_new(void);

/* Frees the pool and all its strings. Accepts NULL. */
void strpool_free(struct strpool *pool);

/* Returns the pool's copy of the @len bytes at @s, NUL-terminated; NULL when out of memory. */
const char *strpool_intern_len(struct strpool *pool, const char *s, size_t len);
const char *strpool_intern(struct strpool *pool, const char *s);

size_t strpool_memory(const struct strpool *pool); /* bytes, about */

#endif
