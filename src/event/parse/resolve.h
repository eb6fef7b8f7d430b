/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the words of an event mean: generic names, PMUs with terms, tracepoints, vendor names.
 */
#ifndef RINGTAIL_EVENT_PARSE_RESOLVE_H
#define RINGTAIL_EVENT_PARSE_RESOLVE_H

#include "event/parse/parser_state.h"

/* Finds out what @words mean and appends the events. Returns 0 or an error, as event_parse(). */
int event_resolve(struct parser *parser, const struct event_words *words);

/*
 * Terms that every event takes; @tracepoint: only those that make sense for one. Modifiers are
 * those of all drafts from @first on; NULL or an empty text behind slashes: none.
 */
int event_apply_terms(struct parser *parser, const struct event_words *words, struct draft *draft,
		      bool tracepoint);
int event_apply_modifiers(struct parser *parser, size_t first, const char *text);

#endif
