/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between the slashes of an event: key[=value] separated by commas, and the terms that
 * mean the same for every event (config, period, name, …). A PMU's own terms are pmu.h's.
 *
 * A term_list owns the strings of its terms. One thread.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_TERMS_H
#define RINGTAIL_EVENT_SYNTAX_TERMS_H

#include <stdbool.h>
#include <stddef.h>

#include "event/syntax/spec.h"
#include "event/syntax/lexer.h"

struct term {
	char *key;
	char *value;	/* NULL: none was given, which means 1 */
	const char *at; /* where the term stands in the text that was parsed */
};

struct term_list {
	struct term *items;
	size_t count, cap;
};

/*
 * Reads terms up to the closing slash (which it takes) or, with @closed false, to the end of the
 * text. Empty is fine. Returns 0, -EINVAL (@err and *@ret_at say what and where), -ENOMEM.
 */
int term_list_parse(struct term_list *list, struct lexer *lexer, bool closed, const char **ret_at,
		    struct error *err);

/* Frees the terms; an empty list remains. */
void term_list_release(struct term_list *list);

/* The term of that name, or NULL. */
const struct term *term_find(const struct term_list *list, const char *key);

/* True if term_apply() knows the term. */
bool term_is_common(const struct term *term);

/*
 * Applies a term that term_is_common(). @tracepoint: only those that make sense for one are
 * allowed. Returns 0, -EINVAL, -ENOMEM.
 */
int term_apply(struct event_spec *spec, const struct term *term, bool tracepoint,
	       struct error *err);

/* The value as a number, 1 where there is none. Returns 0, or -EINVAL with a sentence. */
int term_number(const struct term *term, uint64_t *ret, struct error *err);

#endif
