// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hash_key(void)
{
	/* 16 bytes that the kernel draws for each process; libc has its own use for the first 8. */
	const uint8_t *random = (const uint8_t *)getauxval(AT_RANDOM);
	uint64_t key = 0;

	if (random)
		memcpy(&key, random + sizeof(key), sizeof(key));
	return hash_word(key, 1);
}

uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	const uint8_t *at = p;
	uint64_t word;

	h = hash_word(h, n);
	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		h = hash_word(h, word);
	}
	word = 0;
	memcpy(&word, at, n);
	return hash_word(h, word);
}
