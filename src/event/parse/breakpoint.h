/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakpoints: mem:ADDRESS or mem:FILE:NAME, with length and access.
 */
#ifndef RINGTAIL_EVENT_PARSE_BREAKPOINT_H
#define RINGTAIL_EVENT_PARSE_BREAKPOINT_H

#include "event/parse/parser_state.h"
#include "event/parse/place.h"

/* A breakpoint: @length is what stands behind its slash, @tail behind its colon, or NULL. */
int event_add_breakpoint(struct parser *parser, const struct event_words *words,
			 const struct place_text *text, const char *length, const char *tail);

#endif
