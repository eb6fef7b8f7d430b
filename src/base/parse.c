// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int parse_prefix(const char *s, uint64_t *ret, const char **ret_end)
{
	int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, base);
	if (errno)
		return -errno;
	*ret = v;
	*ret_end = end;
	return 0;
}

int parse_u64(const char *s, uint64_t *ret)
{
	const char *end;
	uint64_t v;
	int rc = parse_prefix(s, &v, &end);

	if (rc)
		return rc;
	if (*end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_size(const char *s, uint64_t *ret)
{
	unsigned int shift = 0;
	const char *end;
	uint64_t v;
	int rc = parse_prefix(s, &v, &end);

	if (rc)
		return rc;
	switch (toupper((unsigned char)*end)) {
	case '\0': break;
	case 'B': end++; break;
	case 'K': shift = 10, end++; break;
	case 'M': shift = 20, end++; break;
	case 'G': shift = 30, end++; break;
	case 'T': shift = 40, end++; break;
	default: return -EINVAL;
	}
	if (*end)
		return -EINVAL;
	if (shift && v >> (64 - shift))
		return -ERANGE;
	*ret = v << shift;
	return 0;
}

int parse_time(const char *s, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},	    {"us", 1000},	  {"ms", 1000000},	 {"s", 1000000000},
		{"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
	};
	const char *end;
	uint64_t v;
	int rc = parse_prefix(s, &v, &end);

	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name))
			return __builtin_mul_overflow(v, units[i].ns, ret) ? -ERANGE : 0;
	return -EINVAL;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t parse_distance(const char *a, const char *b)
{
	size_t rows[3][65], *two_up = rows[0], *up = rows[1], *row = rows[2];
	size_t la = strlen(a), lb = strlen(b);

	if (lb > 64)
		return la > lb ? la : lb;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *free_row = two_up;

		two_up = up;
		up = row;
		row = free_row;
		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t least = up[j - 1] + !same_letter(a[i - 1], b[j - 1]);

			if (up[j] + 1 < least)
				least = up[j] + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) && two_up[j - 2] + 1 < least)
				least = two_up[j - 2] + 1;
			row[j] = least;
		}
	}
	return row[lb];
}
