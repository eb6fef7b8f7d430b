/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash functions with a random key, for keys that come from a file.
 *
 * The key keeps a crafted file from putting all its entries into one slot of a table, where each
 * lookup would walk past all of them. Hashes differ from one process to the next, so no output may
 * depend on their order. Any thread.
 */
#ifndef RINGTAIL_BASE_HASH_H
#define RINGTAIL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the key, the same one in the whole process. */
uint64_t hash_key(void);

/* Returns the hash of @word and of @h, a key or another hash. All bits of the result are usable. */
static inline uint64_t hash_word(uint64_t h, uint64_t word)
{
	h ^= word;
	/* the finalizer of MurmurHash3 */
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

/* As hash_word(), for @n bytes at @p, which may be NULL if there are none, and their number. */
uint64_t hash_bytes(uint64_t h, const void *p, size_t n);

#endif
