/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits the event syntax into tokens, which point into the text. No allocation; any thread.
 *
 * Outside slashes (LEX_EVENTS) a word ends at one of , / { } and may hold colons, whose meaning
 * (modifier, tracepoint, vendor's unit mask) depends on the name before them. Between the slashes
 * of an event (LEX_TERMS) a word ends at one of , / = and text in single quotes is one token. The
 * lexer skips white space around a token.
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
	TOKEN_UNTERMINATED, /* an opening quote without a closing one, up to the end of the text */
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
	const char *at; /* the next character; the text ends with NUL */
};

/* Returns the next token and moves behind it; at the end always TOKEN_END. */
struct token lexer_next(struct lexer *lexer, enum lex_mode mode);

/* Returns the next token and does not move. */
struct token lexer_peek(const struct lexer *lexer, enum lex_mode mode);

#endif
