/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms: key[=value] between the slashes of an event, separated by commas.
 *
 * This module parses them, and applies those that mean the same for every event (config, period,
 * name, …). event/catalog/pmu.h has a PMU's own terms. A term_list owns the strings of its terms.
 * One thread.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_TERMS_H
#define RINGTAIL_EVENT_SYNTAX_TERMS_H

#include <stdbool.h>
#include <stddef.h>

#include "event/syntax/spec.h"
#include "event/syntax/lexer.h"

struct term {
	char *key;
	char *value;	/* NULL: no value, which means 1 */
	const char *at; /* place of the term in the parsed text, borrowed */
};

struct term_list {
	struct term *items;
	size_t count, cap;
};

/*
 * Parses terms up to and with the closing slash, or, if not @closed, to the end of the text. No
 * term at all is valid. Returns 0, -EINVAL (@err has the message, *@ret_at the place) or -ENOMEM.
 */
int term_list_parse(struct term_list *list, struct lexer *lexer, bool closed, const char **ret_at,
		    struct error *err);

/* Frees the terms; an empty list remains. */
void term_list_release(struct term_list *list);

/* Returns the term of that name, or NULL. */
const struct term *term_find(const struct term_list *list, const char *key);

/* Returns whether term_apply() knows the term. */
bool term_is_common(const struct term *term);

/*
 * Applies a term that term_is_common() knows. @tracepoint: refuse terms that make no sense for a
 * tracepoint. Returns 0, or -EINVAL or -ENOMEM with @err filled.
 */
int term_apply(struct event_spec *spec, const struct term *term, bool tracepoint,
	       struct error *err);

/*
 * Reads a list of branch filters ("any,u", or with '|') as PERF_SAMPLE_BRANCH_* bits. Returns 0, or
 * -EINVAL with @err filled.
 */
int term_branches_parse(const char *list, uint64_t *ret, struct error *err);

/* Stores the value as a number, 1 without a value. Returns 0, or -EINVAL with @err filled. */
int term_number(const struct term *term, uint64_t *ret, struct error *err);

#endif
