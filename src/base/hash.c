// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock_ns.h"

/* For a kernel that has no random numbers yet: a key that is unknown before the process runs. */
static uint64_t poor_key(void)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	return hash_word(hash_word(now, (uintptr_t)&now), (uintptr_t)&poor_key);
}

uint64_t hash_key(void)
{
	/*
	 * The first caller draws the key for the whole process. AT_RANDOM would need no memory, but
	 * its bytes are the secrets of libc's stack protector and pointer guard.
	 */
	static _Atomic uint64_t drawn;
	uint64_t key = atomic_load_explicit(&drawn, memory_order_relaxed), none = 0;

	if (key)
		return key;
	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key) || !key)
		key = poor_key() | 1;
	return atomic_compare_exchange_strong(&drawn, &none, key) ? key : none;
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
	if (n) /* else @p may be NULL */
		memcpy(&word, at, n);
	return hash_word(h, word);
}
