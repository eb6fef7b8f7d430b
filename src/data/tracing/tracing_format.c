// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/tracing/tracing_lex.h"

#define DECLARATION_MAX 256 /* bytes of "TYPE NAME[COUNT]" */

struct format_parser {
	const char *text, *at;
	struct tracing_format f;
	size_t cap;
};

/* A declaration, split at the name. */
struct declaration {
	const char *begin, *end;
	const char *name, *name_end;
	const char *bracket; /* the first "[", or NULL */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool skip(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n))
		return false;
	*at += n;
	return true;
}

/*
 * Skips a number of at most nine digits: larger ones overflow in the library. It also takes a
 * leading zero for the prefix of an octal number.
 */
static bool skip_number(const char **at, uint32_t *ret)
{
	const char *begin = *at;
	uint32_t value = 0;

	while (is_digit(**at) && *at - begin < 9)
		value = value * 10 + (uint32_t)(*(*at)++ - '0');
	*ret = value;
	return *at > begin && !is_digit(**at) && (*begin != '0' || *at == begin + 1);
}

static bool skip_word(const char **at)
{
	const char *begin = *at;

	if (is_digit(**at))
		return false;
	while (tracing_is_word(**at))
		++*at;
	return *at > begin && !tracing_is_macro(begin, (size_t)(*at - begin));
}

/* Skips from "[" to behind "]"; sizes may be expressions. */
static bool skip_brackets(const char **at)
{
	++*at;
	while (tracing_is_word(**at) || (**at && strchr(" ()*+-/<", **at)))
		++*at;
	if (**at != ']')
		return false;
	++*at;
	return true;
}

/*
 * Splits "const char * name", "int name[4]", "__data_loc char[] name": words and stars, at most one
 * pair of brackets, a word as the name, and a type before it.
 */
static bool cut_declaration(const char *begin, const char *end, struct declaration *d)
{
	const char *at = begin;
	unsigned int words = 0;
	bool last_is_word = false;

	*d = (struct declaration){.begin = begin, .end = end};
	if (end - begin > DECLARATION_MAX || !tracing_is_word(*begin))
		return false;
	while (at < end && *at != '[') {
		last_is_word = *at == ' ' && last_is_word;
		if (*at == ' ' || *at == '*') {
			words += *at == '*';
			at++;
			continue;
		}
		d->name = at;
		if (!skip_word(&at))
			return false;
		d->name_end = at;
		words++;
		last_is_word = true;
	}
	if (at < end) {
		d->bracket = at;
		if (!last_is_word || words < 2 || !skip_brackets(&at))
			return false;
		while (*at == ' ')
			at++;
		if (at < end) {
			d->name = at;
			if (!skip_word(&at))
				return false;
			d->name_end = at;
		}
		return at == end;
	}
	return words >= 2 && d->name_end == end;
}

static uint32_t declaration_flags(const struct declaration *d)
{
	char type[DECLARATION_MAX + 1];
	size_t before = (size_t)(d->name - d->begin), after = (size_t)(d->end - d->name_end);
	uint32_t flags = 0;
	size_t outside;

	memcpy(type, d->begin, before);
	memcpy(type + before, d->name_end, after);
	type[before + after] = '\0';
	outside = strcspn(type, "[");
	if (d->bracket)
		flags |= TRACING_ARRAY;
	if (d->bracket && (strstr(type, "char") || strstr(type, "u8") || strstr(type, "s8")))
		flags |= TRACING_STRING;
	if (!strncmp(type, "__data_loc", 10))
		flags |= TRACING_DYNAMIC;
	if (!strncmp(type, "__rel_loc", 9))
		flags |= TRACING_DYNAMIC | TRACING_RELATIVE;
	if (strstr(type, "long"))
		flags |= TRACING_LONG;
	if (memchr(type, '*', outside))
		flags |= TRACING_POINTER;
	return flags;
}

/* Names end with a NUL in a copy of the text. */
static const char *name_dup(struct format_parser *p, const char *begin, const char *end)
{
	p->f.names[end - p->text] = '\0';
	return p->f.names + (begin - p->text);
}

static int parse_field(struct format_parser *p)
{
	struct tracing_field field = {0};
	struct declaration d;
	uint32_t sign = 0;
	const char *end;
	int rc;

	if (!skip(&p->at, "\tfield:"))
		return -EBADMSG;
	end = p->at + strcspn(p->at, ";\n");
	if (!cut_declaration(p->at, end, &d))
		return -EBADMSG;
	p->at = end;
	if (!skip(&p->at, ";\toffset:") || !skip_number(&p->at, &field.offset) ||
	    !skip(&p->at, ";\tsize:") || !skip_number(&p->at, &field.size) || !skip(&p->at, ";"))
		return -EBADMSG;
	/* Kernels before 2.6.34 do not give the sign. */
	if (skip(&p->at, "\tsigned:") && (!skip_number(&p->at, &sign) || !skip(&p->at, ";")))
		return -EBADMSG;
	if (!skip(&p->at, "\n"))
		return -EBADMSG;
	rc = array_grow(&p->f.fields, &p->cap, p->f.nr + 1, sizeof(field));
	if (rc)
		return rc;
	field.flags = declaration_flags(&d) | (sign ? TRACING_SIGNED : 0);
	if (d.bracket) {
		const char *number = d.bracket + 1;

		if (!skip_number(&number, &field.count) || *number != ']')
			field.count = 0;
	}
	field.name = name_dup(p, d.name, d.name_end);
	p->f.fields[p->f.nr++] = field;
	return 0;
}

static int parse_fields(struct format_parser *p)
{
	int rc = 0;

	while (*p->at != '\n' && !rc)
		rc = parse_field(p);
	p->at += !rc;
	return rc;
}

static int parse(struct format_parser *p)
{
	const char *name;
	int rc;

	if (!skip(&p->at, "name: "))
		return -EBADMSG;
	name = p->at;
	if (!skip_word(&p->at))
		return -EBADMSG;
	p->f.name = name_dup(p, name, p->at);
	if (!skip(&p->at, "\nID: ") || !skip_number(&p->at, &p->f.id) ||
	    !skip(&p->at, "\nformat:\n"))
		return -EBADMSG;
	rc = parse_fields(p);
	if (rc)
		return rc;
	p->f.nr_common = p->f.nr;
	rc = parse_fields(p);
	if (rc)
		return rc;
	if (!skip(&p->at, "print fmt:"))
		return -EBADMSG;
	p->f.print = p->at;
	p->f.type = tracing_format_field(&p->f, "common_type", 11);
	for (size_t i = 0; i < p->f.nr; i++) {
		uint32_t end = p->f.fields[i].offset + p->f.fields[i].size;

		p->f.end = end > p->f.end ? end : p->f.end;
	}
	return 0;
}

int tracing_format_parse(const char *text, struct tracing_format *ret)
{
	struct format_parser p = {.text = text, .at = text};
	int rc;

	if (strlen(text) > TRACING_FORMAT_MAX)
		return -EBADMSG;
	p.f.names = strdup(text);
	if (!p.f.names)
		return -ENOMEM;
	rc = parse(&p);
	if (rc)
		tracing_format_release(&p.f);
	else
		*ret = p.f;
	return rc;
}

void tracing_format_release(struct tracing_format *f)
{
	free(f->fields);
	free(f->names);
	*f = (struct tracing_format){0};
}

const struct tracing_field *tracing_format_field(const struct tracing_format *f, const char *name,
						 size_t len)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (!strncmp(f->fields[i].name, name, len) && !f->fields[i].name[len])
			return &f->fields[i];
	}
	return NULL;
}
