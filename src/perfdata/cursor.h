/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor over wire data, which checks bounds and swaps byte order. Private to perfdata/.
 *
 * One walk over a record serves decoding and the swap to host order: with @in_place a read also
 * swaps the value in memory. The walk always gets native values.
 *
 * Failure is sticky: the first read that does not fit sets @bad and leaves @at at the fault; every
 * further read fails. A failed read leaves its result untouched, so a walk may go on to its end and
 * check @bad once.
 */
#ifndef RINGTAIL_PERFDATA_CURSOR_H
#define RINGTAIL_PERFDATA_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *p; /* writable memory if @in_place */
	size_t at, end;	  /* bytes from @p; at <= end */
	bool swap;	  /* values are of the other byte order */
	bool in_place;	  /* swap them in memory too; needs @swap */
	bool bad;
};

/* Returns the bytes up to the end; 0 if @c is bad. */
static inline size_t cursor_left(const struct cursor *c)
{
	return c->bad ? 0 : c->end - c->at;
}

/* Returns the next @n bytes, not swapped. Returns NULL if there are fewer; @c is then bad. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p + c->at;

	if (c->bad || n > c->end - c->at) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return p;
}

/* Reads a value in native order. Returns false if there are too few bytes; @c is then bad. */
static inline bool cursor_u64(struct cursor *c, uint64_t *ret)
{
	const uint8_t *p = cursor_bytes(c, sizeof(*ret));

	if (!p)
		return false;
	memcpy(ret, p, sizeof(*ret));
	if (c->swap) {
		*ret = __builtin_bswap64(*ret);
		if (c->in_place)
			memcpy((uint8_t *)p, ret, sizeof(*ret));
	}
	return true;
}

/* As cursor_u64(). */
static inline bool cursor_u32(struct cursor *c, uint32_t *ret)
{
	const uint8_t *p = cursor_bytes(c, sizeof(*ret));

	if (!p)
		return false;
	memcpy(ret, p, sizeof(*ret));
	if (c->swap) {
		*ret = __builtin_bswap32(*ret);
		if (c->in_place)
			memcpy((uint8_t *)p, ret, sizeof(*ret));
	}
	return true;
}

/* As cursor_u64(). */
static inline bool cursor_u16(struct cursor *c, uint16_t *ret)
{
	const uint8_t *p = cursor_bytes(c, sizeof(*ret));

	if (!p)
		return false;
	memcpy(ret, p, sizeof(*ret));
	if (c->swap) {
		*ret = __builtin_bswap16(*ret);
		if (c->in_place)
			memcpy((uint8_t *)p, ret, sizeof(*ret));
	}
	return true;
}

/*
 * Returns an array of @nr words in the record's memory; for records only (native, or swapped in
 * place). Returns NULL, with @c bad, if the array does not fit or is not aligned. @nr may come from
 * a file unchecked.
 */
static inline const uint64_t *cursor_u64s(struct cursor *c, uint64_t nr)
{
	const uint8_t *p;

	if (c->bad || nr > (c->end - c->at) / sizeof(uint64_t) ||
	    (uintptr_t)(c->p + c->at) % sizeof(uint64_t)) {
		c->bad = true;
		return NULL;
	}
	p = c->p + c->at;
	if (!c->in_place) {
		c->at += nr * sizeof(uint64_t);
		return (const uint64_t *)p;
	}
	for (uint64_t i = 0, word; i < nr; i++)
		cursor_u64(c, &word);
	return (const uint64_t *)p;
}

/*
 * Returns the NUL-terminated string at the cursor and moves to @end. Returns NULL, with @c bad, if
 * there is no NUL before @end.
 */
static inline const char *cursor_tail_string(struct cursor *c)
{
	const uint8_t *p = c->p + c->at;

	if (c->bad || !memchr(p, 0, c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at = c->end;
	return (const char *)p;
}

#endif
