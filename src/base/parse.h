/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses numbers that users type. The whole string must be a number: leading white space, signs and
 * empty strings are -EINVAL. Any thread.
 */
#ifndef RINGTAIL_BASE_PARSE_H
#define RINGTAIL_BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

/* Decimal, or hexadecimal with 0x. Returns 0, -EINVAL or -ERANGE. */
int parse_u64(const char *s, uint64_t *ret);

/*
 * A size in bytes with an optional suffix B, K, M, G, T (powers of 1024; either case). Returns 0,
 * -EINVAL or -ERANGE.
 */
int parse_size(const char *s, uint64_t *ret);

/* A time with its unit (ns, us, ms, s, m, h, d), in ns. Returns 0, -EINVAL or -ERANGE. */
int parse_time(const char *s, uint64_t *ret);

/*
 * Returns the edit distance of two short names (for "did you mean"): letters that are added, left
 * out, replaced, or swapped with their neighbour. Ignores case.
 */
size_t parse_distance(const char *a, const char *b);

#endif
