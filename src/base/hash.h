/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing of what a file may choose: with a key that no file can know, so that none can be made
 * whose entries all fall on one slot of a table, where each costs a walk past all before it.
 *
 * Hashes differ from one run to the next: nothing that is shown may depend on their order.
 */
#ifndef RINGTAIL_BASE_HASH_H
#define RINGTAIL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The key: the same in all of a process. Any thread. */
uint64_t hash_key(void);

/* Adds @word to @h, which is a key or another hash. All bits of the result are good. */
static inline uint64_t hash_word(uint64_t h, uint64_t word)
{
	h ^= word;
	/* the finalizer of MurmurHash3 */
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

/* Adds @n bytes and their number. */
uint64_t hash_bytes(uint64_t h, const void *p, size_t n);

#endif
