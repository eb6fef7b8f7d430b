// SPDX-License-Identifier: Apache-2.0
/*
 * Is this the format of a tracepoint, as kernels write them? libtraceevent trusts what it is given
 * and dies of some texts that no kernel writes. So each line must be one of
 *
 *	name: NAME
 *	ID: NUMBER
 *	format:
 *		field:TYPE NAME[COUNT];	offset:N;	size:N;	signed:N;
 *	print fmt: ...
 *
 * where the expressions of the last speak only of fields that were declared.
 * Source: kernel/trace/trace_events.c, f_show().
 */
#include "data/tracing_check.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Skips @word at *@at. */
static bool skip(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n))
		return false;
	*at += n;
	return true;
}

static bool skip_number(const char **at)
{
	const char *begin = *at;

	while (isdigit((unsigned char)**at))
		++*at;
	/* Larger numbers overflow where they are read. */
	return *at > begin && *at - begin < 10;
}

/*
 * "const char * name[16]", "__data_loc char[] name": words with stars and pairs of brackets between
 * them, of which the last word is the name. Two words at least.
 */
static bool declaration_is_good(const char *p, const char *end)
{
	unsigned int words = 0;
	bool after_name = false;

	while (p < end) {
		if (is_word(*p) && !isdigit((unsigned char)*p)) {
			while (p < end && is_word(*p))
				p++;
			words++;
			after_name = true;
		} else if (*p == '[' && after_name) {
			const char *close = memchr(p, ']', (size_t)(end - p));

			for (p++; close && p < close; p++) {
				if (!is_word(*p) && !strchr(" ()*+-/<", *p))
					return false;
			}
			if (!close)
				return false;
			p = close + 1;
			after_name = false;
		} else if (*p == ' ' || *p == '*') {
			after_name = after_name && *p == ' ';
			p++;
		} else {
			return false;
		}
	}
	return words >= 2 && end > p - 1 && (is_word(end[-1]) || end[-1] == ']');
}

static bool field_is_good(const char *line)
{
	const char *at = line, *end;

	if (!skip(&at, "\tfield:"))
		return false;
	end = strchr(at, ';');
	if (!end || !declaration_is_good(at, end))
		return false;
	at = end;
	if (!skip(&at, ";\toffset:") || !skip_number(&at) || !skip(&at, ";\tsize:") ||
	    !skip_number(&at) || !skip(&at, ";"))
		return false;
	/* Kernels before 2.6.34 say nothing about the sign. */
	if (skip(&at, "\tsigned:") && (!skip_number(&at) || !skip(&at, ";")))
		return false;
	return *at == '\n';
}

static bool head_is_good(const char **at)
{
	if (!skip(at, "name: ") || !isgraph((unsigned char)**at))
		return false;
	while (isgraph((unsigned char)**at))
		++*at;
	return skip(at, "\nID: ") && skip_number(at) && skip(at, "\nformat:\n");
}

static bool field_declared(const char *text, const char *end, const char *name, size_t len)
{
	for (const char *at = text; (at = strstr(at, "\tfield:")) && at < end;) {
		const char *stop, *semicolon;

		at += strlen("\tfield:");
		semicolon = at + strcspn(at, ";\n");
		stop = semicolon;
		if (stop[-1] == ']') {
			while (stop > at && *stop != '[')
				stop--;
		}
		if ((size_t)(stop - at) > len && !memcmp(stop - len, name, len) &&
		    !is_word(stop[-1 - (ptrdiff_t)len]))
			return true;
	}
	return false;
}

bool tracing_print_is_good(const char *text, const char *print)
{
	static const char rec[] = "REC->";

	for (const char *at = print; (at = strstr(at, rec));) {
		size_t len = 0;

		at += strlen(rec);
		while (is_word(at[len]))
			len++;
		if (!len || !field_declared(text, print, at, len))
			return false;
	}
	return true;
}

const char *tracing_fields_end(const char *text)
{
	const char *at = text;

	if (!head_is_good(&at))
		return NULL;
	while (strncmp(at, "print fmt:", 10)) {
		if (*at != '\n' && !field_is_good(at))
			return NULL;
		at = strchr(at, '\n') + 1;
	}
	return at;
}
