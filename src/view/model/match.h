/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Match: an expression that the user types, and the names that it finds.
 *
 * It is an extended regular expression (POSIX). A text without special characters is searched as it
 * is, which is faster. Capitals count only if the expression has some. One thread uses a match.
 */
#ifndef RINGTAIL_VIEW_MODEL_MATCH_H
#define RINGTAIL_VIEW_MODEL_MATCH_H

#include <regex.h>
#include <stdbool.h>

#include "base/error.h"

#define MATCH_MAX 256 /* bytes of an expression, with its NUL */

/* All zero: finds every name. */
struct view_match {
	char text[MATCH_MAX];
	bool is_regex; /* @regex is compiled */
	bool fold;     /* capitals do not count */
	regex_t regex;
};

/*
 * Sets the expression; "" finds every name. Returns 0, or -EINVAL with @err filled and @m as
 * before.
 */
int match_set(struct view_match *m, const char *text, struct error *err);
/* Frees what @m holds; accepts zeroes. */
void match_release(struct view_match *m);

/* Returns whether @name is found. */
bool match_has(const struct view_match *m, const char *name);

/* Returns whether an expression is set. */
static inline bool match_is_set(const struct view_match *m)
{
	return m->text[0];
}

#endif
