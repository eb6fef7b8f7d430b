/* SPDX-License-Identifier: Apache-2.0 */
/* Inner parts of the decoder for Rust's v0 names. For demangle_v0*.c and punycode.c only. */
#ifndef RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_V0_H
#define RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_V0_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * The decoder's state for one name. Any error sets @bad; then nothing more is read or printed. So
 * callers check it only in loops, or before they use what they read.
 */
struct v0 {
	const char *s; /* behind "_R" */
	size_t len, pos;
	struct buf out;
	bool bad;
	unsigned int muted; /* above 0: parse without printing */
	unsigned int depth, steps;
	uint64_t lifetimes; /* bound by the enclosing binders */
};

struct v0_ident {
	const char *s;
	size_t len;
	bool puny;
	uint64_t disambiguator;
};

/*
 * Begins a production. Returns false and sets bad if productions nest too deep or are too many. The
 * caller ends a production with depth--.
 */
bool v0_enter(struct v0 *d);

/* Print text, a character as UTF-8, an identifier; nothing while muted. */
void v0_put(struct v0 *d, const char *s, size_t len);
void v0_puts(struct v0 *d, const char *s);
void v0_put_char(struct v0 *d, uint32_t c);
void v0_put_ident(struct v0 *d, const struct v0_ident *id);

/* Returns the next character, 0 at the end, without consuming it. */
char v0_peek(const struct v0 *d);
/* Consumes the next character if it is @c. Returns whether it was. */
bool v0_eat(struct v0 *d, char c);
/* Consumes the next character. At the end returns 0 and sets bad. */
char v0_next(struct v0 *d);
/* Parses an identifier. */
struct v0_ident v0_identifier(struct v0 *d);

/*
 * Follows a back reference, behind its 'B'. Returns whether to read on there; then the caller sets
 * pos to *@ret_back in the end.
 */
bool v0_backref(struct v0 *d, size_t *ret_back);

/* Prints a path. In values (@value) generic arguments follow "::". */
void v0_path(struct v0 *d, bool value);

/* Prints a constant. Composite constants among generic arguments get braces. */
void v0_constant(struct v0 *d, bool in_value);

/* Returns whether @c is a Unicode character. */
bool v0_valid_char(uint32_t c);

/* Encodes @c, at most 0x10ffff. Returns the number of bytes. */
size_t rust_utf8_encode(uint32_t c, char ret[4]);

#define PUNYCODE_MAX 256

/* Decodes @len bytes into @out; returns the number of characters, or 0 at bad input. */
size_t punycode_decode(const char *s, size_t len, uint32_t out[PUNYCODE_MAX]);

#endif
