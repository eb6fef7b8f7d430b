/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakpoints: mem:ADDRESS or mem:FILE:NAME, with length and access.
 */
#ifndef RINGTAIL_EVENT_PARSE_BREAKPOINT_H
#define RINGTAIL_EVENT_PARSE_BREAKPOINT_H

#include "event/parse/parser_state.h"
#include "event/parse/place.h"

/*
 * Appends a breakpoint. @length is the text after its slash, @tail the text after its colon; each
 * may be NULL. Returns 0 or an error, as event_parse().
 */
int event_add_breakpoint(struct parser *parser, const struct event_words *words,
			 const struct place_text *text, const char *length, const char *tail);

#endif
