// SPDX-License-Identifier: Apache-2.0
#include "view/model/match.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool has_capitals(const char *s)
{
	for (; *s; s++)
		if (isupper((unsigned char)*s))
			return true;
	return false;
}

int match_set(struct view_match *m, const char *text, struct error *err)
{
	struct view_match next = {.fold = !has_capitals(text)};
	size_t len = strlen(text);
	char why[128];
	int rc;

	if (len >= sizeof(next.text))
		return error_set(err, -EINVAL, "the expression is longer than %d bytes",
				 MATCH_MAX - 1);
	memcpy(next.text, text, len + 1);
	if (strpbrk(text, "^$.[]()*+?{}|\\")) {
		rc = regcomp(&next.regex, text,
			     REG_EXTENDED | REG_NOSUB | (next.fold ? REG_ICASE : 0));
		if (rc) {
			regerror(rc, &next.regex, why, sizeof(why));
			return error_set(err, -EINVAL, "%s", why);
		}
		next.is_regex = true;
	}
	match_release(m);
	*m = next;
	return 0;
}

void match_release(struct view_match *m)
{
	if (m->is_regex)
		regfree(&m->regex);
	*m = (struct view_match){0};
}

bool match_has(const struct view_match *m, const char *name)
{
	if (!*m->text)
		return true;
	if (m->is_regex)
		return regexec(&m->regex, name, 0, NULL, 0) == 0;
	return m->fold ? strcasestr(name, m->text) : strstr(name, m->text);
}
