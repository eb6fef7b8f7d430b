// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing_lex.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LEN_MAX   2048 /* of a literal; the library's buffer has 8 KiB */
#define NUMBER_LEN_MAX 22   /* 0xffffffffffffffffULL has 21 */

static bool is_plain(char c)
{
	return c >= ' ' && c <= '~';
}

/* Decimal, octal or hexadecimal, with a suffix of u, l, ul, ll, ull or none. */
static bool number_is_good(struct tracing_token *t)
{
	char *end;
	size_t suffix;

	if (t->len > NUMBER_LEN_MAX)
		return false;
	t->value = strtoull(t->p, &end, 0);
	suffix = strspn(end, "uUlL");
	return suffix <= 3 && end + suffix == t->p + t->len;
}

/* Length of an operator: more than one character if the library parses it so. */
static size_t op_length(const char *p)
{
	size_t n = 1;

	if (p[0] == '-' && p[1] == '>')
		return 2;
	if (strchr("-+|&><", p[0]) && p[1] == p[0]) {
		if (p[0] != '<' && p[0] != '>')
			return 2;
		n = 2;
	}
	if (strchr("-+|&><!=", p[0]) && p[n] == '=')
		n++;
	return n;
}

/*
 * Skips up to the quote. Kernels leave line feeds unescaped in a text. A backslash escapes the next
 * character. But the library takes any quote behind a backslash, also behind an escaped one, as
 * part of the text.
 */
static bool skip_quoted(char **at, char quote)
{
	while (**at != quote) {
		if (!is_plain(**at) && (**at != '\n' || quote != '"'))
			return false;
		if (**at == '\\' && !is_plain(*++*at))
			return false;
		++*at;
	}
	return (*at)[-1] != '\\';
}

static struct tracing_token quoted(char **at)
{
	struct tracing_token t = {.kind = **at == '"' ? TRACING_TEXT : TRACING_CHAR, .p = *at + 1};

	++*at;
	if (!skip_quoted(at, t.p[-1])) {
		t.kind = TRACING_BAD;
		return t;
	}
	t.len = (size_t)(*at - t.p);
	++*at;
	if (t.kind == TRACING_CHAR && t.len != 1 && !(t.len == 2 && t.p[0] == '\\'))
		t.kind = TRACING_BAD;
	if (t.len > TEXT_LEN_MAX)
		t.kind = TRACING_BAD;
	return t;
}

bool tracing_is_macro(const char *p, size_t len)
{
	static const char *const macros[] = {"LOCAL_PR_FMT", "STA_PR_FMT", "VIF_PR_FMT"};

	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
		if (strlen(macros[i]) == len && !memcmp(macros[i], p, len))
			return true;
	}
	return false;
}

struct tracing_token tracing_token_next(char **at)
{
	struct tracing_token t = {.kind = TRACING_BAD};

	*at += strspn(*at, " ");
	t.p = *at;
	if (**at == '"' || **at == '\'')
		return quoted(at);
	if (!**at || !strcmp(*at, "\n")) {
		t.kind = TRACING_END;
	} else if (tracing_is_word(**at)) {
		while (tracing_is_word((*at)[t.len]))
			t.len++;
		if (!strchr("0123456789", **at) && !tracing_is_macro(t.p, t.len))
			t.kind = TRACING_WORD;
		else if (number_is_good(&t))
			t.kind = TRACING_NUMBER;
	} else if (is_plain(**at)) {
		t.kind = TRACING_OP;
		t.len = op_length(*at);
	}
	*at += t.len;
	return t;
}

bool tracing_token_is(const struct tracing_token *t, enum tracing_token_kind kind, const char *text)
{
	return t->kind == kind && strlen(text) == t->len && !memcmp(t->p, text, t->len);
}
