/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of the event syntax. Points into the text, allocates nothing.
 *
 * Between events a word is everything up to one of , / { } with its colons inside, since what a
 * colon means (modifier, tracepoint, vendor's unit mask) depends on the name before it. Between the
 * slashes of an event (LEX_TERMS) a word ends at , / = and text in single quotes is one token.
 * White space around a token is skipped.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_LEXER_H
#define RINGTAIL_EVENT_SYNTAX_LEXER_H

#include <stddef.h>

enum token_type {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_QUOTED, /* start and len without the quotes */
	TOKEN_COMMA,
	TOKEN_SLASH,
	TOKEN_EQUALS,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_UNTERMINATED, /* a quote without its end; reaches to the end of the text */
};

enum lex_mode {
	LEX_EVENTS,
	LEX_TERMS,
};

struct token {
	enum token_type type;
	const char *start;
	size_t len;
};

struct lexer {
	const char *at; /* the next character to look at; ends with NUL */
};

/* Takes the next token. After the end it returns TOKEN_END for ever. */
struct token lexer_next(struct lexer *lexer, enum lex_mode mode);

/* The same without taking it. */
struct token lexer_peek(const struct lexer *lexer, enum lex_mode mode);

#endif
