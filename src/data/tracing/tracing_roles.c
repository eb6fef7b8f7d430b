// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing_roles.h"

#include <string.h>

#define DIGITS_MAX     3  /* of a width, so that text does not grow without need */
#define CONVERSION_MAX 24 /* bytes; the library has room for 31 */
#define STARS_MAX      1  /* the library takes one */
#define MODIFIER_MAX   2
#define ADDRESS_SIZE   6
#define IPV4_SIZE      4
#define IPV6_SIZE      16
#define UUID_SIZE      16

/* Skips the width or precision at *@at. Returns false if it is wider than any column. */
static bool skip_width(const char **at, unsigned int *stars)
{
	size_t digits;

	if (**at == '*') {
		++*stars;
		++*at;
		return true;
	}
	digits = strspn(*at, "0123456789");
	*at += digits;
	return digits <= DIGITS_MAX;
}

/* Role of the conversion that begins with "%p"; @at is behind it. */
static bool pointer_role(const char *at, struct tracing_role *role)
{
	*role = (struct tracing_role){.kind = TRACING_ROLE_NUMBER};
	switch (*at) {
	case 'M':
	case 'm': *role = (struct tracing_role){TRACING_ROLE_FIELD, ADDRESS_SIZE}; break;
	case 'U': *role = (struct tracing_role){TRACING_ROLE_FIELD, UUID_SIZE}; break;
	case 'h': *role = (struct tracing_role){TRACING_ROLE_BUFFER, 0}; break;
	case 'I':
	case 'i':
		if (at[1] == '4')
			*role = (struct tracing_role){TRACING_ROLE_FIELD, IPV4_SIZE};
		else if (at[1] == '6')
			*role = (struct tracing_role){TRACING_ROLE_FIELD, IPV6_SIZE};
		else if (at[1] == 'S')
			*role = (struct tracing_role){TRACING_ROLE_SOCKADDR, 0};
		else
			return false;
		break;
	}
	return true;
}

/* Role of the conversion behind "%"; *@at moves behind its letter. */
static bool conversion(const char **at, struct tracing_role *role, unsigned int *stars,
		       bool *doubtful)
{
	static const char *const modifiers[] = {"", "h", "hh", "l", "ll", "L", "z", "Z"};
	const char *begin = *at;
	char modifier[MODIFIER_MAX + 1] = "";
	size_t n;
	bool known = false;

	*stars = 0;
	*at += strspn(*at, "-+#0");
	*doubtful = *doubtful || memchr(begin, '+', (size_t)(*at - begin));
	if (!skip_width(at, stars))
		return false;
	if (**at == '.') {
		++*at;
		if (!skip_width(at, stars))
			return false;
	}
	n = strspn(*at, "hlLzZ");
	if (n > MODIFIER_MAX || *stars > STARS_MAX || *at - begin > CONVERSION_MAX)
		return false;
	memcpy(modifier, *at, n);
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++)
		known = known || !strcmp(modifier, modifiers[i]);
	*at += n;
	*role = (struct tracing_role){.kind = TRACING_ROLE_NUMBER};
	switch (*(*at)++) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o': return known;
	case 'c': *doubtful = true; return !n;
	case 's': role->kind = TRACING_ROLE_TEXT; return !n;
	case 'p': return !n && pointer_role(*at, role);
	default: return false;
	}
}

static bool is_harmless(const struct tracing_role *role)
{
	return role->kind == TRACING_ROLE_NUMBER || role->kind == TRACING_ROLE_TEXT;
}

int tracing_roles(const char *format, struct tracing_role *roles, size_t max)
{
	const char *at = format;
	bool doubtful = false;
	size_t nr = 0;

	while (*at) {
		struct tracing_role role;
		unsigned int stars;

		if (*at == '\\' || (*at == '%' && at[1] == '%')) {
			at += at[1] ? 2 : 1;
			continue;
		}
		if (*at++ != '%')
			continue;
		if (!conversion(&at, &role, &stars, &doubtful) || nr + stars + 1 > max)
			return -1;
		/*
		 * Old versions of the library take no argument for "%c" and "%+d". Later arguments
		 * then go to other conversions than here, which is harmless only for some.
		 */
		if (doubtful && (stars || !is_harmless(&role)))
			return -1;
		if (stars)
			roles[nr++] = (struct tracing_role){.kind = TRACING_ROLE_WIDTH};
		roles[nr++] = role;
	}
	return (int)nr;
}
