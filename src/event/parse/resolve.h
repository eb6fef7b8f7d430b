/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the event that the words of -e name: a generic event, a PMU with terms, a tracepoint, or a
 * vendor's event. One thread.
 */
#ifndef RINGTAIL_EVENT_PARSE_RESOLVE_H
#define RINGTAIL_EVENT_PARSE_RESOLVE_H

#include "event/parse/parser_state.h"

/* Appends the events of @words. Returns 0 or an error, as event_parse(). */
int event_resolve(struct parser *parser, const struct event_words *words);

/*
 * Applies the terms that every event takes; with @tracepoint only those that a tracepoint takes.
 * Returns 0 or an error, as event_parse().
 */
int event_apply_terms(struct parser *parser, const struct event_words *words, struct draft *draft,
		      bool tracepoint);

/*
 * Applies the modifiers in @text to all drafts from @first on; NULL, or an empty text after
 * slashes: none. Returns 0 or an error, as event_parse().
 */
int event_apply_modifiers(struct parser *parser, size_t first, const char *text);

#endif
