/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the little-endian values of call frame information. Values beyond the end read as 0 and set
 * @bad; so callers check it only in loops and before they use results.
 */
#ifndef RINGTAIL_UNWIND_READER_H
#define RINGTAIL_UNWIND_READER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct unwind_reader {
	const uint8_t *p, *end;
	bool bad;
};

/* Bytes that are left. */
static inline size_t reader_left(const struct unwind_reader *r)
{
	return (size_t)(r->end - r->p);
}

/* Skips @n bytes. */
static inline void reader_skip(struct unwind_reader *r, uint64_t n)
{
	if (n > reader_left(r)) {
		r->bad = true;
		n = reader_left(r);
	}
	r->p += n;
}

/* An unsigned number of 1 to 8 bytes. */
static inline uint64_t reader_word(struct unwind_reader *r, unsigned int bytes)
{
	uint64_t v = 0;

	if (bytes > reader_left(r))
		r->bad = true;
	else
		memcpy(&v, r->p, bytes);
	reader_skip(r, bytes);
	return le64toh(v);
}

/* The same, signed. */
static inline uint64_t reader_signed(struct unwind_reader *r, unsigned int bytes)
{
	unsigned int unused = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(reader_word(r, bytes) << unused) >> unused);
}

/* Reads one byte. */
static inline uint8_t reader_byte(struct unwind_reader *r)
{
	return (uint8_t)reader_word(r, 1);
}

/* Reads a LEB128 number: seven bits a byte, the lowest first. One of more than 128 bits is bad. */
static inline uint64_t reader_leb(struct unwind_reader *r, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		b = reader_byte(r);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		r->bad |= shift > 128;
	} while (b & 0x80 && !r->bad);
	if (is_signed && shift < 64 && b & 0x40)
		v |= UINT64_MAX << shift;
	return v;
}

/* Reads an unsigned LEB128 number. */
static inline uint64_t reader_uleb(struct unwind_reader *r)
{
	return reader_leb(r, false);
}

/* Reads a signed LEB128 number, sign-extended to 64 bits. */
static inline uint64_t reader_sleb(struct unwind_reader *r)
{
	return reader_leb(r, true);
}

#endif
