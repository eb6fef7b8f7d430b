// SPDX-License-Identifier: Apache-2.0
#include "event/syntax/lexer.h"

#include <string.h>

#define SPACE " \t\r\n"

struct punctuation {
	char c;
	enum token_type type;
};

static const struct punctuation in_events[] = {
	{',', TOKEN_COMMA}, {'/', TOKEN_SLASH}, {'{', TOKEN_OPEN}, {'}', TOKEN_CLOSE}, {0},
};

static const struct punctuation in_terms[] = {
	{',', TOKEN_COMMA},
	{'/', TOKEN_SLASH},
	{'=', TOKEN_EQUALS},
	{0},
};

static struct token quoted(struct lexer *lexer)
{
	struct token token = {TOKEN_QUOTED, lexer->at + 1, 0};
	const char *end = strchr(token.start, '\'');

	if (!end) {
		token.type = TOKEN_UNTERMINATED;
		end = token.start + strlen(token.start);
	}
	token.len = (size_t)(end - token.start);
	lexer->at = *end ? end + 1 : end;
	return token;
}

struct token lexer_next(struct lexer *lexer, enum lex_mode mode)
{
	const struct punctuation *row = mode == LEX_TERMS ? in_terms : in_events;
	const char *stop = mode == LEX_TERMS ? ",/='" : ",/{}";
	struct token token;

	lexer->at += strspn(lexer->at, SPACE);
	token = (struct token){TOKEN_END, lexer->at, 0};
	if (!*lexer->at)
		return token;
	for (; row->c; row++) {
		if (*lexer->at == row->c) {
			lexer->at++;
			token.type = row->type;
			token.len = 1;
			return token;
		}
	}
	if (mode == LEX_TERMS && *lexer->at == '\'')
		return quoted(lexer);
	token.type = TOKEN_WORD;
	token.len = strcspn(lexer->at, stop);
	lexer->at += token.len;
	while (strchr(SPACE, token.start[token.len - 1]))
		token.len--;
	return token;
}

struct token lexer_peek(const struct lexer *lexer, enum lex_mode mode)
{
	struct lexer copy = *lexer;

	return lexer_next(&copy, mode);
}
