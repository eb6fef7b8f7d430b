/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of functions: uprobe:, uretprobe:, kprobe: and kretprobe:.
 */
#ifndef RINGTAIL_EVENT_PARSE_PROBE_H
#define RINGTAIL_EVENT_PARSE_PROBE_H

#include "event/parse/parser_state.h"
#include "event/parse/place.h"

/* Returns the length of the prefix of @text ("uprobe:" and so on); 0 if it is not a probe. */
size_t event_probe_prefix(const char *text);

/* Scans the text after the prefix at @prefix. Returns as the functions of place.h. */
int event_scan_probe(struct parser *parser, const char *prefix, struct place_text *ret);

/* Appends a probe of the kind that words->head begins with. Returns 0 or an error, as
 * event_parse(). */
int event_add_probe(struct parser *parser, const struct event_words *words,
		    const struct place_text *text);

#endif
