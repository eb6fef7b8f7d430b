// SPDX-License-Identifier: Apache-2.0
#include "symbol/demangle/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/*
 * libsupc++: like abi::__cxa_demangle(), but it delivers the text in pieces, so that a callback can
 * stop it: "_Z1fSt4pairI…S_S_E" with forty levels is one line of input and a terabyte of output.
 * The function is C and allocates nothing, so the callback may leave it by longjmp().
 */
typedef void (*demangle_piece_fn)(const char *s, size_t len, void *opaque);
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the library uses this name, and no header has it */
int __gcclibcxx_demangle_callback(const char *mangled, demangle_piece_fn fn, void *opaque);

struct collect {
	struct buf text;
	jmp_buf full;
};

static void collect_piece(const char *s, size_t len, void *opaque)
{
	struct collect *c = opaque;

	if (c->text.len + len > DEMANGLE_MAX || buf_append(&c->text, s, len))
		longjmp(c->full, 1);
}

/* Changes no locals between setjmp() and longjmp(): their values would be lost. */
static bool collect_text(struct collect *c, const char *name)
{
	return !setjmp(c->full) && !__gcclibcxx_demangle_callback(name, collect_piece, c);
}

/* The whole text with parameters and return type, or NULL. */
static char *cxx_text(const char *name)
{
	struct collect *c = calloc(1, sizeof(*c));
	char *text = NULL;

	if (!c)
		return NULL;
	if (collect_text(c, name) && !buf_zero(&c->text, 1)) {
		text = (char *)c->text.data;
		c->text.data = NULL;
	}
	buf_release(&c->text);
	free(c);
	return text;
}

static bool cut_end(char *s, size_t *len, const char *end)
{
	size_t n = strlen(end);

	if (*len < n || memcmp(s + *len - n, end, n))
		return false;
	*len -= n;
	s[*len] = 0;
	return true;
}

/* Removes " [clone .cold]", also several of them. */
static void cut_clones(char *s, size_t *len)
{
	char *p;

	while (*len && s[*len - 1] == ']') {
		p = memrchr(s, '[', *len);
		if (!p || p == s || p[-1] != ' ' || strncmp(p, "[clone ", 7))
			return;
		*len = (size_t)(p - 1 - s);
		s[*len] = 0;
	}
}

/* Removes "(int, char) const &". Returns whether there was a parameter list. */
static bool cut_parameters(char *s, size_t *len)
{
	static const char *const qualifiers[] = {" const", " volatile", " &&", " &", "&&", "&"};
	size_t i, pos;
	int depth = 0;

	for (i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		if (cut_end(s, len, qualifiers[i]))
			i = (size_t)-1;
	}
	if (!*len || s[*len - 1] != ')')
		return false;
	for (pos = *len; pos-- > 0;) {
		depth += s[pos] == ')' ? 1 : s[pos] == '(' ? -1 : 0;
		if (!depth)
			break;
	}
	if (depth || !pos)
		return false;
	*len = pos;
	s[pos] = 0;
	return true;
}

static bool word_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/*
 * Whether "operator" begins at @pos as a word. Behind it, spaces and brackets are part of the name.
 */
static bool at_operator(const char *s, size_t pos)
{
	return !strncmp(s + pos, "operator", 8) && !word_char(s[pos + 8]) &&
	       (!pos || !word_char(s[pos - 1]));
}

/* Whether " const::g" follows "f(int)" at @pos: the name goes on with something local to f. */
static bool at_local_qualifier(const char *s, size_t pos)
{
	static const char *const q[] = {" const", " volatile", " &&", " &"};
	size_t i;

	if (!pos || s[pos - 1] != ')')
		return false;
	for (i = 0; i < sizeof(q) / sizeof(*q); i++) {
		const char *rest = s + pos + strlen(q[i]);

		if (!strncmp(s + pos, q[i], strlen(q[i])) &&
		    (!strncmp(rest, "::", 2) || !strncmp(rest, "[abi:", 5) || *rest == ' ' ||
		     *rest == '&'))
			return true;
	}
	return false;
}

/*
 * Start of the name behind a return type: after the last space outside of all brackets. Angle
 * brackets count only outside of round ones, because they may be operators there.
 */
static size_t name_start(const char *s)
{
	size_t pos, start = 0;
	int round = 0, angle = 0, curly = 0;

	for (pos = 0; s[pos]; pos++) {
		char c = s[pos];

		if (!round && !angle && !curly && at_operator(s, pos))
			return start;
		if (c == '(')
			round++;
		else if (c == ')')
			round--;
		else if (c == '{')
			curly++;
		else if (c == '}')
			curly--;
		else if (c == '<' && !round)
			angle++;
		else if (c == '>' && !round && pos && s[pos - 1] != '-')
			angle--;
		else if (c == ' ' && !round && !angle && !curly && !at_local_qualifier(s, pos) &&
			 (s[pos + 1] != '(' || !strncmp(s + pos + 1, "(anonymous", 10)))
			start = pos + 1;
	}
	return start;
}

/* Reduces the text of a function to its qualified name, in place. */
static void cut_to_name(char *s)
{
	size_t len = strlen(s), start;
	char *inner;

	if (!cut_parameters(s, &len))
		return;
	/* "void (*f<int>(int))(char)": a function that returns a pointer to a function */
	inner = strstr(s, " (*");
	if (inner && s[len - 1] == ')' && strncmp(s, "decltype", 8)) {
		memmove(s, inner + 3, len - (size_t)(inner + 3 - s) + 1);
		len = strlen(s) - 1;
		s[len] = 0;
		cut_parameters(s, &len);
		return;
	}
	start = name_start(s);
	memmove(s, s + start, len - start + 1);
}

char *demangle_cxx_text(const char *name)
{
	size_t skip = !strncmp(name, "__Z", 3);

	if (strncmp(name + skip, "_Z", 2) || strnlen(name, DEMANGLE_MAX) == DEMANGLE_MAX)
		return NULL;
	return cxx_text(name + skip);
}

char *demangle_signature(const char *name)
{
	char *text = demangle_cxx_text(name);
	size_t len = text ? strlen(text) : 0;

	if (text)
		cut_clones(text, &len);
	return text;
}

char *demangle_cxx(const char *name)
{
	size_t skip = !strncmp(name, "__Z", 3);
	char *text = demangle_signature(name);

	if (!text)
		return NULL;
	/* "vtable for X", "guard variable for f()::x", "virtual thunk to X::f(int)" */
	if (name[skip + 2] != 'T' && name[skip + 2] != 'G')
		cut_to_name(text);
	if (!*text) {
		free(text);
		return NULL;
	}
	return text;
}

static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == '_');
}

static char *demangle_rust(const char *name)
{
	char *text = demangle_rust_v0(name);

	return text ? text : demangle_rust_legacy(name);
}

char *demangle_name(const char *name)
{
	char *text;

	if (!may_be_mangled(name))
		return NULL;
	text = demangle_rust(name);
	return text ? text : demangle_cxx(name);
}

char *demangle_text(const char *name)
{
	char *text;

	if (!may_be_mangled(name))
		return NULL;
	text = demangle_rust(name);
	return text ? text : demangle_cxx_text(name);
}

char *demangle_reduce(const char *text)
{
	char *name = strchr(text, '(') ? strdup(text) : NULL;
	size_t len = name ? strlen(name) : 0;

	if (!name)
		return NULL;
	cut_clones(name, &len);
	cut_to_name(name);
	return name;
}
