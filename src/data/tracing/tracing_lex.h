/* SPDX-License-Identifier: Apache-2.0 */
/* Lexer for a "print fmt:": finds tokens as libtraceevent does. Pure functions. */
#ifndef RINGTAIL_DATA_TRACING_TRACING_LEX_H
#define RINGTAIL_DATA_TRACING_TRACING_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether @c may be part of a name or number, in any locale. */
static inline bool tracing_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

struct tracing_token {
	enum tracing_token_kind {
		TRACING_END,	/* the end of the text, but for white space */
		TRACING_WORD,	/* a name */
		TRACING_NUMBER, /* with value */
		TRACING_CHAR,	/* 'c' */
		TRACING_TEXT, /* "text": p and len are without the quotes, escapes as they stand */
		TRACING_OP,   /* any other valid token */
		TRACING_BAD,  /* not a token */
	} kind;
	char *p; /* in the text */
	size_t len;
	uint64_t value;
};

/* Returns the token at *@at, and moves *@at behind it. */
struct tracing_token tracing_token_next(char **at);

/* Returns whether the library takes the name for a macro of old kernels, and replaces it. */
bool tracing_is_macro(const char *p, size_t len);

/* Returns whether @t is of that kind and has that text. */
bool tracing_token_is(const struct tracing_token *t, enum tracing_token_kind kind,
		      const char *text);

#endif
