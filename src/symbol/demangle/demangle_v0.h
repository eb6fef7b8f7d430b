/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the decoder for Rust's v0 names share. For demangle_v0*.c and punycode.c only.
 */
#ifndef RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_V0_H
#define RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_V0_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * The state of one name. Whatever goes wrong sets @bad, after which nothing is read or printed any
 * more; so callers check it only where they loop, or use what they read.
 */
struct v0 {
	const char *s; /* behind "_R" */
	size_t len, pos;
	struct buf out;
	bool bad;
	unsigned int muted; /* parsed but not printed */
	unsigned int depth, steps;
	uint64_t lifetimes; /* bound by the binders around us */
};

struct v0_ident {
	const char *s;
	size_t len;
	bool puny;
	uint64_t disambiguator;
};

/* Begins a production: false, and bad, when nested or repeated beyond reason. Ends by depth--. */
bool v0_enter(struct v0 *d);

/* Append text, unless @d is muted or bad. @d gets bad beyond DEMANGLE_MAX bytes. */
void v0_put(struct v0 *d, const char *s, size_t len);
void v0_puts(struct v0 *d, const char *s);
void v0_put_char(struct v0 *d, uint32_t c);		    /* as UTF-8 */
void v0_put_ident(struct v0 *d, const struct v0_ident *id); /* punycode decoded */

char v0_peek(const struct v0 *d);	     /* 0 at the end */
bool v0_eat(struct v0 *d, char c);	     /* takes @c if it comes next; returns whether it did */
char v0_next(struct v0 *d);		     /* 0, and bad, at the end */
struct v0_ident v0_identifier(struct v0 *d); /* with its disambiguator; bad when it is none */

/* Behind a 'B': goes to where it points. Returns whether to read on there; then back to *@ret. */
bool v0_backref(struct v0 *d, size_t *ret_back);

/* In values generic arguments are written behind "::". */
void v0_path(struct v0 *d, bool value);

/* Composite constants that stand among generic arguments are put into braces. */
void v0_constant(struct v0 *d, bool in_value);

/* Whether @c is a Unicode scalar value. */
bool v0_valid_char(uint32_t c);

/* Returns the number of bytes; @c must be at most 0x10ffff. */
size_t utf8_encode(uint32_t c, char ret[4]);

#define PUNYCODE_MAX 256

/* Decodes @len bytes into @out; returns the number of characters, or 0 at bad input. */
size_t punycode_decode(const char *s, size_t len, uint32_t out[PUNYCODE_MAX]);

#endif
